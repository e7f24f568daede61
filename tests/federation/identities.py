"""Attacks by those who are nobody, somebody else, or no longer enrolled; and by odd greetings."""
import subprocess
import time

from federation import DENIED, IMAGES, STATE, STRIKE, report
from wire import dial, outcome_of, pb, pb_grpc, read_kept


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def forged_kit(fed, name, days):
    """A certificate that the authority signed behind the program's back: (start, end) in days."""
    pki, kit = fed.folder.path / f"{fed.name}-pki", fed.folder.path / f"kit-{name}"
    kit.mkdir()
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-keyout", kit / "client.key", "-out", kit / "request")
    (kit / "index.txt").touch()
    (kit / "serial").write_text("0123456789abcdef0123456789abcdef\n")
    (kit / "ca.conf").write_text(
        f"[ca]\ndefault_ca=d\n[d]\ndatabase={kit}/index.txt\nserial={kit}/serial\n"
        f"new_certs_dir={kit}\ndefault_md=sha256\npolicy=p\nx509_extensions=x\n"
        "[p]\ncommonName=supplied\n[x]\nextendedKeyUsage=clientAuth\n")
    day = lambda offset: time.strftime("%y%m%d%H%M%SZ", time.gmtime(time.time() + offset * 86400))
    authority = pki / "authority"
    openssl("ca", "-batch", "-config", kit / "ca.conf", "-cert", authority / "ca.crt", "-keyfile",
            authority / "ca.key", "-in", kit / "request", "-out", kit / "client.crt", "-notext",
            "-startdate", day(days[0]), "-enddate", day(days[1]))
    (kit / "ca.crt").write_bytes((authority / "ca.crt").read_bytes())
    return kit


def attack_identity(fed, take, plan):
    path, pki = fed.folder.path, fed.folder.path / f"{fed.name}-pki"
    server = pki / "coordinator"
    ca = (server / "ca.crt").read_bytes()

    def greet(key, certificate):
        channel = dial(fed.address, ca, key, certificate)
        request = pb.JoinRequest(protocol=2, version="test", images=IMAGES)
        outcome = outcome_of(lambda: pb_grpc.FederationStub(channel).Join(request, timeout=10))
        channel.close()
        return outcome

    outcome = greet(None, None)
    report(13, "no certificate", outcome.code == "UNAVAILABLE", outcome)
    fed.folder.run("pki", "init", "--out", path / "foreign")
    fed.folder.run("pki", "issue", fed.honest_names[0], "--pki", path / "foreign", "--server",
                   fed.address, "--out", path / "kit-foreign")
    read = lambda kit, file: (path / kit / file).read_bytes()
    outcome = greet(read("kit-foreign", "client.key"), read("kit-foreign", "client.crt"))
    report(13, "a foreign authority's certificate", outcome.code == "UNAVAILABLE", outcome)
    outcome = greet((server / "server.key").read_bytes(), (server / "server.crt").read_bytes())
    report(13, "the coordinator's certificate as a client's",
           outcome.code in ("UNAVAILABLE", "UNAUTHENTICATED"), outcome)
    forged_kit(fed, "expired", (-20, -10))
    outcome = greet(read("kit-expired", "client.key"), read("kit-expired", "client.crt"))
    report(13, "an expired certificate", outcome.code == "UNAVAILABLE", outcome)
    forged_kit(fed, "unlisted", (-1, 10))
    outcome = greet(read("kit-unlisted", "client.key"), read("kit-unlisted", "client.crt"))
    report(13, "a certificate that is not in the list",
           outcome.code == "UNAUTHENTICATED" and outcome.reason == "identity", outcome)

    client = take()
    fed.folder.run("pki", "revoke", client.name, "--pki", pki)
    fed.expect(13, "revoked during the run: joins", client, client.join(IMAGES), DENIED, "revoked")
    fed.expect(13, "revoked during the run: asks for the plan", client, client.plan(), DENIED,
               "revoked")
    fed.expect(13, "revoked during the run: downloads", client, client.download(plan.round), DENIED,
               "revoked")
    outcome = client.upload(pb.UploadHeader(key=pb.UploadKey(run=client.run, round=plan.round)))
    report(13, "revoked during the run: uploads",
           outcome.code == DENIED and outcome.reason == "revoked", outcome)

    # A says that it is B.
    client, victim = take(), fed.honest_names[0]
    outcome = client.join(IMAGES, metadata=[("kindred-name", victim)])
    places = {line["client"]: line for line in fed.audit() if line["event"] == "join"}
    report(12, "a client that says it is another stays itself",
           outcome.code == "OK" and outcome.reply.client > 2 and client.name in places,
           f"{outcome.code}, place {outcome.reply and outcome.reply.client}")
    state = sorted((path / f"joined-{victim}" / "state" / client.run).glob("round-*.kept"))
    _, _, upload_id = read_kept(state[-1])
    outcome = client.call("UploadStatus", pb.UploadKey(run=client.run, round=plan.round,
                                                       id=upload_id))
    report(12, "nothing is told of another client's upload",
           outcome.code == "OK" and outcome.reply.received == 0 and not outcome.reply.accepted,
           outcome)


def attack_greetings(fed, take):
    client = take(joined=False)
    for what, protocol in [("a later version", 3), ("no version", 0),
                           ("version 2^32 - 1", 2**32 - 1)]:
        fed.expect(32, f"{what} of the protocol", client, client.join(IMAGES, protocol=protocol),
                   STATE, "protocol")
    for what, images in [("1e18", 10**18), ("-1", -1), ("-2^63", -2**63)]:
        fed.expect(4, f"|D_c| of {what} when joining", client, client.join(images), STRIKE, "images")
    outcome = client.join(0)
    report(4, "with |D_c| of 0 one only asks", outcome.code == "OK", outcome)
    fed.expect(4, "whoever only asked is no member", client, client.plan(), STATE, "member")
    for run in ["../../etc", "..", "", "x" * 10000]:
        fed.expect(25, f"a run named {run[:12]!r}", client, client.plan(run=run), STATE, "run")
    outcome = client.call("Leave", pb.LeaveRequest(run="../../etc"))
    fed.expect(25, "leaves a run that is a path", client, outcome, STATE, "run")
    client = take()
    fed.expect(4, "joins again with another |D_c|", client, client.join(IMAGES + 1), STRIKE,
               "images")
