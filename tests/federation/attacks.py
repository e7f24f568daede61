#!/usr/bin/python3
"""Attacks on a live coordinator, and on clients by a hostile one.

    attacks.py KINDRED [coordinator] [stalls] [server]

Three honest clients train while hostile ones, enrolled like them, do their worst; afterwards the
model must be, bit for bit, that of `kindred train`. A line for each row of the table of threats:
PASS, FAIL or SKIP. Exit code 1 when a row fails.
"""
import concurrent.futures
import contextlib
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

import numpy

import fake_coordinator
import http2
from programs import TINY, Folder, can_serve, free_port, sets, wait_until
from wire import CHUNK, Client, bytes_digest, dial, digest_of, grpc, outcome_of, parts_of, pb, \
    pb_grpc, read_kept

CLIENTS, IMAGES, ROUNDS = 3, 32, 5
UPLOAD_MEMORY, ROOM = 64, 192  # MB: what uploads may take, and what attacks may cost beside it
RATE_WINDOW, HANDSHAKE = 3, 3  # seconds
STRIKE = "INVALID_ARGUMENT"
STATE = "FAILED_PRECONDITION"
DENIED = "PERMISSION_DENIED"

results = []


def report(row, what, good, seen=""):
    results.append((row, what, good))
    word = "SKIP" if good is None else "PASS" if good else "FAIL"
    print(f"{word}  row {row:>2}  {what}{'' if good else ': ' + str(seen)}", flush=True)


def config_words(**more):
    return ["--config", TINY, *sets(partition__scheme="iid", partition__clients=CLIENTS,
                                    data__limit=CLIENTS * IMAGES, **more)]


class Federation:
    """A coordinator and honest clients; hostile ones come as they are asked for."""

    def __init__(self, folder, name, rounds, limit=None, **server):
        self.folder, self.name = folder, name
        self.address = f"127.0.0.1:{free_port()}"
        self.rounds, self.refusals = rounds, []  # (client, reason) that the audit log must have
        folder.run("pki", "init", "--out", folder.path / f"{name}-pki")
        self.honest_names = [f"{name}-c{i}" for i in range(CLIENTS)]
        for each in self.honest_names:
            self.issue(each)
        self.server_settings = server
        self.config = config_words(train__rounds=rounds, **server)
        self.limit = limit

    def issue(self, name):
        return self.folder.issue(name, self.address, f"{self.name}-pki")

    def serve(self):
        # A limit of descriptors is set by the shell, which the coordinator replaces.
        before = ["/bin/sh", "-c", f'ulimit -n {self.limit} && exec "$@"', "sh"] if self.limit else []
        self.server = self.folder.start(
            f"{self.name}-serve.log", "serve", *self.config, "--listen", self.address, "--pki",
            self.folder.path / f"{self.name}-pki", "--out", self.folder.path / f"{self.name}-served",
            before=before)
        self.server.after("listening on ")

    def join(self):
        self.honest = [
            self.folder.start(
                f"{each}.log", "join", "--kit", self.folder.path / f"kit-{each}", *self.config,
                *sets(client__share=f"{i}/{CLIENTS}", client__key="seeded", train__workers=1),
                "--out", self.folder.path / f"joined-{each}")
            for i, each in enumerate(self.honest_names)]

    def client(self, name, images=IMAGES):
        """A hostile client, a member of the run unless images is 0."""
        if not (self.folder.path / f"kit-{name}").exists():
            self.issue(name)
        client = Client(self.address, self.folder.path / f"kit-{name}", name)
        outcome = client.join(images)
        if outcome.code != "OK":
            raise RuntimeError(f"{name} cannot join: {outcome}")
        return client

    def clients(self, names):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(zip(names, pool.map(self.client, names)))

    def audit(self):
        return self.folder.audit(f"{self.name}-served")

    def accepted(self, number, names):
        """Whether the updates of these clients count in the round."""
        done = {line["client"] for line in self.audit()
                if line["event"] == "accept" and line["round"] == number + 1}
        return done.issuperset(names)

    def expect(self, row, what, client, outcome, code, reasons):
        """A call that must be refused, with one of these reasons."""
        reasons = [reasons] if isinstance(reasons, str) else reasons
        good = outcome.code == code and outcome.reason in reasons and self.server.alive()
        report(row, what, good, f"{outcome}; wanted {code} {'/'.join(reasons)}")
        if outcome.reason:
            self.refusals.append((client.name, outcome.reason))

    def answers(self, client, seconds=5):
        """Whether the coordinator lives and answers somebody who calls anew."""
        fresh = Client(self.address, client.kit, client.name)
        outcome = fresh.join(0, seconds=seconds)
        fresh.close()
        return self.server.alive() and outcome.code == "OK"

    def finish(self, seconds):
        codes = [self.server.wait(seconds)] + [each.wait(60) for each in self.honest]
        return codes


# --- what uploads can hold --------------------------------------------------------------------------

class Update:
    """An update that would be fine: the global model again, and no features. To be spoilt."""

    def __init__(self, template, client, plan, model):
        self.header = pb.UploadHeader()
        self.header.tensors.extend(template.tensors)
        self.header.key.run, self.header.key.round = client.run, plan.round
        self.header.key.id = "upload-of-" + client.name
        self.header.nonce = plan.nonce
        self.header.images = self.header.seen = IMAGES
        self.header.loss, self.header.steps = 1.0, 1
        self.data = bytearray(model)
        self.header.bytes = len(self.data)

    def place(self, ending, kind="F32"):
        """The place of the first tensor with such a name."""
        return next(place for place in self.header.tensors
                    if place.name.endswith(ending) and place.kind == kind)

    def floats(self):
        """All floats of all tensors, as (place, array) to be changed in place."""
        for place in self.header.tensors:
            if place.kind == "F32":
                yield place, numpy.frombuffer(self.data, numpy.float32,
                                              place.bytes // 4, place.offset)

    def set_float(self, ending, value):
        struct.pack_into("<f", self.data, self.place(ending).offset, value)

    def add_features(self, rows):
        self.header.feature_rows = len(rows)
        self.data += numpy.ascontiguousarray(rows, numpy.float32).tobytes()
        self.header.bytes = len(self.data)


def unit_rows(count, width=128, seed=1):
    rows = numpy.random.default_rng(seed).normal(size=(count, width)).astype(numpy.float32)
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def scaled(factor):
    def spoil(update):
        for _, values in update.floats():
            values *= factor
    return spoil


def filled(draw):
    def spoil(update):
        for place, values in update.floats():
            values[:] = numpy.abs(draw(values.size)) + 0.1 if place.name.endswith("running_var") \
                else draw(values.size)
    return spoil


def with_header(change):
    def spoil(update):
        change(update.header)
    return spoil


def with_tensor(change):
    def spoil(update):
        change(update.place("weight"))
    return spoil


def with_metric(name, value):
    def spoil(update):
        update.header.metrics[name] = value
    return spoil


def with_features(rows):
    return lambda update: update.add_features(rows)


def spoiled_feature(value):
    def spoil(update):
        rows = unit_rows(16)
        rows[3, 5] = value
        update.add_features(rows)
    return spoil


def put(header, field, value):
    setattr(header, field, value)


def reshape(place, shape):
    place.shape[:] = shape


def drop_last(header):
    del header.tensors[-1]


def double(header):
    header.tensors.append(header.tensors[0])


def repeat_first(header):
    header.tensors[1].CopyFrom(header.tensors[0])


def swap(header):
    first = pb.TensorPlace.FromString(header.tensors[0].SerializeToString())
    header.tensors[0].CopyFrom(header.tensors[1])
    header.tensors[1].CopyFrom(first)


# What the header says: row, what, how it is spoilt, the reason of the refusal.
HEADERS = [
    (1, "a loss that is NaN", with_header(lambda h: put(h, "loss", float("nan"))), "numbers"),
    (1, "a loss that is infinite", with_header(lambda h: put(h, "loss", float("inf"))), "numbers"),
    (1, "a metric that is NaN", with_metric("spread", float("nan")), "numbers"),
    (3, "a tensor of another kind", with_tensor(lambda p: put(p, "kind", "I64")), "manifest"),
    (3, "a tensor of an unknown kind", with_tensor(lambda p: put(p, "kind", "F64")), "manifest"),
    (3, "no steps", with_header(lambda h: put(h, "steps", 0)), "numbers"),
    (3, "negative steps", with_header(lambda h: put(h, "steps", -1)), "numbers"),
    (4, "|D_c| of 1e18 in an update", with_header(lambda h: put(h, "images", 10**18)), "images"),
    (4, "|D_c| of 0 in an update", with_header(lambda h: put(h, "images", 0)), "images"),
    (4, "a negative |D_c| in an update", with_header(lambda h: put(h, "images", -32)), "images"),
    (4, "another |D_c| than enrolled", with_header(lambda h: put(h, "images", 33)), "images"),
    (5, "a tensor of another name", with_tensor(lambda p: put(p, "name", "other")), "manifest"),
    (5, "a missing tensor", with_header(drop_last), "manifest"),
    (5, "no tensors", with_header(lambda h: h.ClearField("tensors")), "manifest"),
    (5, "an extra tensor", with_header(double), "manifest"),
    (5, "the same tensor twice", with_header(repeat_first), "manifest"),
    (5, "tensors in another order", with_header(swap), "manifest"),
    (5, "another shape", with_tensor(lambda p: reshape(p, [3, 3])), "manifest"),
    (5, "a shape of 10000 axes", with_tensor(lambda p: reshape(p, [1] * 10000)), "manifest"),
    (6, "a shape whose product overflows", with_tensor(lambda p: reshape(p, [1 << 62, 8])),
     "manifest"),
    (6, "a negative axis", with_tensor(lambda p: reshape(p, [-1, 8])), "manifest"),
    (6, "a tensor that overlaps another", with_header(
        lambda h: put(h.tensors[1], "offset", h.tensors[0].offset)), "manifest"),
    (6, "an offset of 2^64 - 1", with_tensor(lambda p: put(p, "offset", (1 << 64) - 1)),
     "manifest"),
    (6, "a tensor of 2^63 bytes", with_tensor(lambda p: put(p, "bytes", 1 << 63)), "manifest"),
    (6, "2^63 bytes in all", with_header(lambda h: put(h, "bytes", 1 << 63)), "size"),
    (6, "2^58 features, whose bytes overflow", with_header(
        lambda h: put(h, "feature_rows", 1 << 58)), "features"),
    (7, "fewer bytes than the manifest has", with_header(lambda h: put(h, "bytes", 4)), "size"),
    (23, "more features than a client shares", with_features(unit_rows(65)), "features"),
    (25, "a path as a tensor's name", with_tensor(
        lambda p: put(p, "name", "../../../etc/passwd")), "manifest"),
    (25, "an upload without an id", with_header(lambda h: put(h.key, "id", "")), "manifest"),
    (25, "an id of 100000 letters", with_header(lambda h: put(h.key, "id", "x" * 100000)),
     "manifest"),
]

# What the bytes hold, for which a coordinator must look at all of them.
CONTENTS = [
    (1, "NaN in a tensor", lambda u: u.set_float("weight", float("nan")), "values"),
    (1, "infinity in a tensor", lambda u: u.set_float("weight", float("-inf")), "values"),
    (1, "NaN in the last value of the model", lambda u: struct.pack_into(
        "<f", u.data, [p for p in u.header.tensors if p.kind == "F32"][-1].offset
        + [p for p in u.header.tensors if p.kind == "F32"][-1].bytes - 4, float("nan")), "values"),
    (1, "NaN in a feature", spoiled_feature(float("nan")), "features"),
    (1, "infinity in a feature", spoiled_feature(float("inf")), "features"),
    (2, "a model a million times as large", scaled(1e6), ("norm", "values")),
    (2, "a model turned around, ten times as large", scaled(-10), ("norm", "values")),
    (2, "a constant model", filled(lambda n: numpy.full(n, 50.0)), ("norm", "values")),
    (2, "a random model", filled(lambda n: numpy.random.default_rng(n).normal(0, 50, n)),
     ("norm", "values")),
    (3, "a running variance of 0", lambda u: u.set_float("running_var", 0.0), "values"),
    (3, "a negative running variance", lambda u: u.set_float("running_var", -1.0), "values"),
    (3, "a negative counter", lambda u: struct.pack_into(
        "<q", u.data, u.place("num_batches_tracked", "I64").offset, -1), "values"),
    (3, "a counter of 2^62", lambda u: struct.pack_into(
        "<q", u.data, u.place("num_batches_tracked", "I64").offset, 1 << 62), "values"),
    (3, "more steps than the images have", with_header(lambda h: put(h, "steps", 10**6)),
     "numbers"),
    (23, "features that are not of length 1", with_features(2 * unit_rows(16)), "features"),
    (23, "features that are all equal", with_features(numpy.repeat(unit_rows(1), 32, 0)),
     "features"),
    (25, "a path as a metric's name", with_metric("../../etc/passwd", 1.0), "numbers"),
]


def attack_headers(fed, template, members, plan, model):
    for (row, what, spoil, reason), client in zip(HEADERS, members):
        update = Update(template, client, plan, model)
        spoil(update)
        # The bytes that follow are few: whoever waits for the rest has taken the header.
        outcome = client.upload(update.header, bytes(update.data[:64]))
        fed.expect(row, what, client, outcome, STRIKE, reason)
        if outcome.reason == "manifest" and "strikes" not in outcome.detail:
            again = client.plan(seconds=0.5)  # it sits out: no plan of this round any more
            if again.code == "OK" and again.reply.state == pb.PlanReply.TRAIN:
                report(row, what + ": sits out the round", False, "it was given the plan again")


def attack_contents(fed, template, members, plan, model):
    for (row, what, spoil, reasons), client in zip(CONTENTS, members):
        update = Update(template, client, plan, model)
        spoil(update)
        outcome = client.upload(update.header, bytes(update.data))
        fed.expect(row, what, client, outcome, STRIKE, reasons)


# --- streams ---------------------------------------------------------------------------------------

def attack_streams(fed, template, take, plan, model):
    def fresh():
        client = take()
        update = Update(template, client, plan, model)
        begin = pb.UploadBegin(header=update.header,
                               digest=digest_of(update.header, bytes(update.data)))
        return client, update, begin

    client, update, begin = fresh()
    spoilt = bytes(update.data[:-4]) + b"\1\2\3\4"
    outcome = client.send(parts_of(begin, spoilt))
    fed.expect(9, "bytes that do not have the digest of the header", client, outcome, STRIKE,
               "digest")

    client, update, begin = fresh()
    outcome = client.send(parts_of(begin, bytes(update.data) + bytes(8), chunk=len(model) + 8))
    fed.expect(7, "more bytes than the header says, in one message", client, outcome, STRIKE,
               "size")

    client, update, begin = fresh()
    sent = 0

    def endless():
        nonlocal sent
        yield pb.UploadPart(begin=begin)
        yield pb.UploadPart(data=bytes(update.data[:-1]))  # one byte is missing, then
        while sent < 1 << 30:
            sent += CHUNK
            yield pb.UploadPart(data=bytes(CHUNK))
    outcome = client.send(endless())
    fed.expect(7, "an endless stream", client, outcome, STRIKE, "size")
    if sent > 64 << 20:
        report(7, "an endless stream is cut soon", False, f"{sent >> 20} MB were taken")

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(data=bytes(8 << 20))])
    report(7, "a message of 8 MiB", outcome.code == "RESOURCE_EXHAUSTED" and fed.answers(client),
           outcome)

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(begin=begin)])
    fed.expect(7, "a header after the header", client, outcome, STRIKE, "size")

    client, update, begin = fresh()
    outcome = client.send([pb.UploadPart(data=b"1234")])
    report(7, "bytes without a header",
           outcome.code == STRIKE and outcome.reason == "manifest", outcome)

    client, update, begin = fresh()
    outcome = client.send(parts_of(begin, bytes(update.data[:1000])))
    report(7, "a stream that ends early is no update",
           outcome.code == "ABORTED" and fed.answers(client), outcome)

    def byte_by_byte():
        yield pb.UploadPart(begin=begin)
        for byte in update.data[:200]:
            time.sleep(0.2)
            yield pb.UploadPart(data=bytes([byte]))

    def silent():
        yield pb.UploadPart(begin=begin)
        time.sleep(20)

    def nothing():
        time.sleep(20)
        yield pb.UploadPart(begin=begin)

    def empty():
        yield pb.UploadPart(begin=begin)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            time.sleep(0.01)
            yield pb.UploadPart(data=b"")

    for what, parts in [("byte by byte", byte_by_byte), ("a header and then nothing", silent),
                        ("a stream without a message", nothing),
                        ("messages without bytes", empty)]:
        client, update, begin = fresh()
        start = time.monotonic()
        outcome = client.send(parts(), seconds=40)
        took = time.monotonic() - start
        cut = outcome.code in ("CANCELLED", "ABORTED") and took < 3 * RATE_WINDOW + 5
        report(7, f"{what}: cut after {RATE_WINDOW} s", cut and fed.answers(client),
               f"{outcome} after {took:.1f} s")
    told = [line for line in fed.audit() if line["event"] not in ("join", "leave")
            and line.get("client") == client.name]
    report(7, "a transfer that was cut leaves a line in audit.jsonl", bool(told), "none")

    # Many streams bring one upload, whose bytes are wrong at the end.
    client, update, begin = fresh()
    begin.digest = "0" * 64
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: client.send(parts_of(begin, bytes(update.data), 4096)),
                                 range(16)))
    report(9, "sixteen streams of one upload at once",
           all(outcome.code != "OK" for outcome in outcomes) and fed.answers(client),
           [str(outcome) for outcome in outcomes])

    # 64 MB of zeros in some 64 KB.
    client, update, begin = fresh()
    before = fed.server.memory()
    outcome = client.send([pb.UploadPart(begin=begin), pb.UploadPart(data=bytes(64 << 20))],
                          compression=grpc.Compression.Gzip)
    grown = fed.server.memory() - before
    report(8, "a compression bomb", outcome.code in ("UNIMPLEMENTED", "INTERNAL") and grown < 32
           and fed.answers(client), f"{outcome}, {grown:.0f} MB more")
    outcome = client.call("Join", pb.JoinRequest(protocol=1), compression=grpc.Compression.Gzip)
    report(8, "a compressed greeting", outcome.code in ("UNIMPLEMENTED", "INTERNAL"), outcome)


# --- identity --------------------------------------------------------------------------------------

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
    openssl("ca", "-batch", "-config", kit / "ca.conf", "-cert", pki / "ca.crt", "-keyfile",
            pki / "ca.key", "-in", kit / "request", "-out", kit / "client.crt", "-notext",
            "-startdate", day(days[0]), "-enddate", day(days[1]))
    (kit / "ca.crt").write_bytes((pki / "ca.crt").read_bytes())
    return kit


def attack_identity(fed, take, plan):
    path, pki = fed.folder.path, fed.folder.path / f"{fed.name}-pki"
    ca = (pki / "ca.crt").read_bytes()

    def greet(key, certificate):
        channel = dial(fed.address, ca, key, certificate)
        request = pb.JoinRequest(protocol=1, version="test", images=IMAGES)
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
    outcome = greet((pki / "server.key").read_bytes(), (pki / "server.crt").read_bytes())
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
    for what, protocol in [("a later version", 2), ("no version", 0), ("version 2^32 - 1", 2**32 - 1)]:
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


def attack_rounds(fed, template, take, plan, model):
    """Other rounds than the one that is on."""
    client = take()
    for what, number in [("an earlier", plan.round - 1), ("a later", plan.round + 1),
                         ("the last possible", 2**32 - 1)]:
        update = Update(template, client, plan, model)
        update.header.key.round = number
        fed.expect(10, f"an update for {what} round", client,
                   client.upload(update.header, bytes(update.data)), STATE, "round")
        fed.expect(10, f"the model of {what} round", client, client.download(number), STATE,
                   "round")
    update = Update(template, client, plan, model)
    update.header.nonce = bytes(16)
    fed.expect(11, "an update without the round's nonce", client,
               client.upload(update.header, bytes(update.data)), STATE, "nonce")
    outcome = client.upload(Update(template, client, plan, model).header, b"", offset=1 << 40)
    report(6, "an upload that goes on where nothing is",
           outcome.code == STATE and outcome.reason == "offset", outcome)
    outcome = client.download(plan.round, offset=1 << 63)
    report(6, "a download from beyond the end",
           outcome.code == STATE and outcome.reason == "offset", outcome)
    # A path as an id: the header alone must be refused, before a byte is taken.
    client = take()
    update = Update(template, client, plan, model)
    update.header.key.id = "../../../tmp/x"
    fed.expect(25, "a path as an upload's id", client, client.upload(update.header, b""), STRIKE,
               "manifest")


def attack_acknowledged(fed, plan):
    """What an honest client has sent comes again, by its own certificate."""
    name = fed.honest_names[2]
    wait_until(f"the update of {name}", lambda: fed.accepted(plan.round, [name]), 120)
    client = Client(fed.address, fed.folder.path / f"kit-{name}", name)
    client.run = client.join(0).reply.run
    kept = fed.folder.path / f"joined-{name}" / "state" / client.run
    header, data, upload_id = read_kept(kept / f"round-{plan.round}.kept")
    header.key.run, header.key.round, header.key.id = client.run, plan.round, upload_id
    header.nonce = plan.nonce
    outcome = client.upload(header, data)
    report(9, "the same upload again is acknowledged",
           outcome.code == "OK" and outcome.reply.accepted, outcome)
    header.key.id = "another"
    fed.expect(9, "another upload of the same round", client, client.upload(header, data),
               "ALREADY_EXISTS", "duplicate")
    fed.expect(9, "another upload, of NaNs", client, client.upload(header, b"\xff" * len(data)),
               "ALREADY_EXISTS", "duplicate")
    client.close()
    return header, data, upload_id


# --- connections -----------------------------------------------------------------------------------

def plain_connection(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10)


def closed_within(connection, seconds, each=None):
    """Whether the other end closes in that time; `each` is done every second meanwhile."""
    end = time.monotonic() + seconds
    connection.settimeout(1)
    while time.monotonic() < end:
        try:
            if each:
                each()
            if connection.recv(4096) == b"":
                return True
        except socket.timeout:
            continue
        except OSError:
            return True
    return False


def attack_connections(fed, client):
    flood = []
    for _ in range(700):
        with contextlib.suppress(OSError):
            flood.append(plain_connection(fed.address))
    alive = fed.server.alive()
    for each in flood:
        each.close()
    start = time.monotonic()
    answered = fed.answers(client, seconds=10)
    took = time.monotonic() - start
    report(14, f"{len(flood)} connections with 512 descriptors: one who joins after them waits less "
           "than a second", alive and answered and took < 1, f"{answered} after {took:.2f} s")

    # While they are there, others who are connected go on.
    flood = [plain_connection(fed.address) for _ in range(300)]
    outcome = client.join(0)
    report(14, "during a flood those who are connected are answered", outcome.code == "OK", outcome)
    for each in flood:
        each.close()

    # Nobody fills the disk with logs, least of all without a certificate.
    before = fed.server.log.stat().st_size
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    for _ in range(300):
        with contextlib.suppress(OSError), plain_connection(fed.address) as nobody:
            with context.wrap_socket(nobody) as greeted:
                greeted.settimeout(1)
                greeted.recv(100)
    grown = fed.server.log.stat().st_size - before
    report(14, "300 handshakes without a certificate do not fill the log", grown < 10000,
           f"{grown} bytes more")
    for _ in range(2000):
        client.join(IMAGES)
    lines = sum(line.get("client") == client.name for line in fed.audit())
    report(14, "2000 greetings of one client do not fill the audit log", lines < 500,
           f"{lines} lines")

    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    half = plain_connection(fed.address)
    half.sendall(hello)
    silent = plain_connection(fed.address)
    slow = plain_connection(fed.address)
    rest = iter(hello + bytes(1000))
    limit = HANDSHAKE + 5
    report(15, f"half a handshake is cut after {HANDSHAKE} s", closed_within(half, limit), "open")
    report(15, "a connection that says nothing is cut", closed_within(silent, limit), "open")
    report(15, "a handshake of a byte a second is cut",
           closed_within(slow, limit, lambda: slow.send(bytes([next(rest)]))), "open")
    for each in (half, silent, slow):
        each.close()


def attack_http2(fed, client, plan):
    def alive():
        return fed.answers(client, 10)

    # A download whose reader opens no window: nothing can be sent to it.
    zero = struct.pack(">HI", http2.INITIAL_WINDOW_SIZE, 0)
    connection = http2.Connection(fed.address, client.kit, settings=zero)
    request = pb.DownloadRequest(run=client.run, round=plan.round).SerializeToString()
    connection.send(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.call_headers("Download")) +
                    http2.frame(http2.DATA, http2.END_STREAM, 1, http2.message(request)))
    over = lambda seen: any(kind in (http2.RST, http2.GOAWAY) for kind, *_ in seen)
    start = time.monotonic()
    seen = connection.frames(4 * RATE_WINDOW + 10, over)
    took = time.monotonic() - start
    data = sum(len(payload) for kind, _, _, payload in seen if kind == http2.DATA)
    report(15, "a download that nobody reads is cut",
           (over(seen) or connection.closed) and data == 0,
           f"frames {[kind for kind, *_ in seen]} after {took:.0f} s")
    connection.close()

    connection = http2.Connection(fed.address, client.kit)
    calm = False
    for _ in range(100):
        if not connection.send(http2.frame(http2.PING, 0, 0, b"12345678") * 100):
            break
        seen = connection.frames(0.02)
        calm = calm or any(kind == http2.GOAWAY for kind, *_ in seen)
        if calm or connection.closed:
            break
    if not connection.closed:
        connection.frames(5)
    report(16, "a flood of pings ends the connection", (calm or connection.closed) and alive(),
           "it lives on")
    connection.close()

    # WaitForPlan under a run that is none: each is answered; thousands at once are too many.
    request = http2.message(pb.PlanRequest(run=client.run).SerializeToString())
    connection = http2.Connection(fed.address, client.kit)
    headers = http2.call_headers("Upload")
    before = fed.server.memory()
    for first in range(1, 8000, 200):
        block = b"".join(http2.frame(http2.HEADERS, http2.END_HEADERS, number, headers)
                         for number in range(first, first + 200, 2))
        if not connection.send(block):
            break
    seen = connection.frames(3, over)
    report(16, "thousands of streams on one connection are refused",
           (over(seen) or connection.closed) and alive() and fed.server.memory() < before + 32,
           f"frames {[kind for kind, *_ in seen][:20]}, {fed.server.memory() - before:.0f} MB more")
    connection.close()

    # Opened and reset at once, so that no limit on open ones counts.
    connection = http2.Connection(fed.address, client.kit)
    headers = http2.call_headers("WaitForPlan")
    before, number = fed.server.memory(), 1
    for _ in range(100):
        block = b""
        for _ in range(100):
            block += http2.frame(http2.HEADERS, http2.END_HEADERS, number, headers) + \
                http2.frame(http2.DATA, http2.END_STREAM, number, request) + \
                http2.frame(http2.RST, 0, number, struct.pack(">I", 8))
            number += 2
        if not connection.send(block):
            break
    connection.close()
    grown = fed.server.memory() - before
    report(16, "ten thousand streams that are reset at once cost little", alive() and grown < 64,
           f"{grown:.0f} MB more")

    outcome = client.join(0, metadata=[("x-huge", "x" * (1 << 20))])
    report(16, "metadata of 1 MB", outcome.code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL")
           and alive(), outcome)
    outcome = client.join(0, metadata=[("x-huge", "x" * 10000)])
    report(16, "metadata of 10 KB", outcome.code == "RESOURCE_EXHAUSTED", outcome)

    # Headers that never end.
    connection = http2.Connection(fed.address, client.kit)
    before = fed.server.memory()
    connection.send(http2.frame(http2.HEADERS, 0, 1, http2.call_headers("Join")))
    line = http2.literal("x-more", "y" * 4000)
    for _ in range(1000):
        if not connection.send(http2.frame(http2.CONTINUATION, 0, 1, line * 4)):
            break
    grown = fed.server.memory() - before
    report(16, "headers that never end cost little", alive() and grown < 32, f"{grown:.0f} MB more")
    connection.close()

    # What is no protobuf.
    garbage = client.channel.stream_unary("/kindred.v1.Federation/Upload",
                                          request_serializer=bytes, response_deserializer=bytes)
    outcome = outcome_of(lambda: garbage(iter([os.urandom(1000)]), timeout=20))
    report(5, "a message that is no message", outcome.code not in ("OK", "DEADLINE_EXCEEDED")
           and alive(), outcome)
    unary = client.channel.unary_unary("/kindred.v1.Federation/Join", request_serializer=bytes,
                                       response_deserializer=bytes)
    outcome = outcome_of(lambda: unary(b"\xff" * 1000, timeout=20))
    report(5, "a greeting that is no message", outcome.code not in ("OK", "DEADLINE_EXCEEDED")
           and alive(), outcome)


# --- the attack on a coordinator ---------------------------------------------------------------------

class Keepers:
    """Two clients in turn who keep a round open, so that the attacks of it can take their time."""

    def __init__(self, fed):
        self.fed, self.number = fed, 0
        self.now, self.next = fed.client("keeper-a"), None

    def advance(self):
        """Lets the round end and opens the next. Its plan."""
        if self.next is None:
            self.next = self.fed.client("keeper-b")
        else:
            self.next.join(IMAGES)
        self.now.leave()
        self.now, self.next = self.next, self.now
        self.number += 1
        return self.now.plan_of(self.number)

    def close(self):
        self.now.leave()


def attack_coordinator(kindred):
    print(f"\n{CLIENTS} honest clients and as many hostile ones as there are attacks\n", flush=True)
    with Folder(kindred, "attacks") as folder:
        shown = folder.run("config", "show", "--config", TINY)
        checked = "norm_ratio" in shown
        limits = {"server__norm_ratio": 10} if checked else {}
        fed = Federation(folder, "f", ROUNDS, limit=512, server__patience=600, server__poll=1,
                         server__linger=30, server__rate_window=RATE_WINDOW, server__min_rate=2048,
                         server__handshake=HANDSHAKE, server__upload_memory=UPLOAD_MEMORY, **limits)
        fed.issue("keeper-a")
        fed.serve()
        fed.join()
        keepers = Keepers(fed)
        plan = keepers.now.plan_of(0)
        wait_until("the first round's updates", lambda: fed.accepted(0, fed.honest_names), 180)
        run = keepers.now.run
        state = folder.path / f"joined-{fed.honest_names[0]}" / "state" / run
        template, _, _ = read_kept(state / "round-0.kept")
        memory = fed.server.memory()
        print(f"the model has {len(template.tensors)} tensors, {template.bytes} bytes with features; "
              f"the coordinator took {memory:.0f} MB so far\n", flush=True)

        # Everybody who attacks in the second round is a member of it.
        attackers = HEADERS + (CONTENTS if checked else [])
        names = [f"m{i}" for i in range(len(attackers))] + [f"x{i}" for i in range(18)]
        members = fed.clients(names)
        spare = iter([members[f"x{i}"] for i in range(18)])
        asked = 0

        def take(joined=True):
            nonlocal asked
            if joined:
                return next(spare)
            asked += 1
            return fed.client(f"asks-{asked}", images=0)

        plan = keepers.advance()
        model = keepers.now.download(plan.round).reply
        report(24, "the model has the digest that the plan says",
               bytes_digest(model) == plan.model_digest, "another")
        attack_headers(fed, template, [members[f"m{i}"] for i in range(len(HEADERS))], plan, model)
        if checked:
            attack_contents(fed, template, [members[f"m{i}"] for i in
                                            range(len(HEADERS), len(attackers))], plan, model)
        else:
            for row, what, *_ in CONTENTS:
                report(row, what, None, "the program has no checks of what updates hold yet")
        attack_streams(fed, template, take, plan, model)
        attack_greetings(fed, take)
        attack_rounds(fed, template, take, plan, model)
        attack_identity(fed, take, plan)
        header, data, upload_id = attack_acknowledged(fed, plan)
        attack_http2(fed, keepers.now, plan)
        attack_connections(fed, keepers.now)
        # The third round: what was recorded in the second comes again. Whoever left a round would
        # be waited for if it came back to it: these two are new.
        for client in members.values():
            client.leave()
        recorder, copier, striker = fed.client("recorder"), fed.client("copier"), members["m0"]
        recorded = Update(template, recorder, plan, model)
        striker.join(IMAGES)  # refused in this round, which does not wait for it
        wait_until("the second round's updates", lambda: fed.accepted(1, fed.honest_names), 120)
        plan = keepers.advance()
        fed.expect(11, "a recorded upload in a later round", recorder,
                   recorder.upload(recorded.header, bytes(recorded.data)), STATE, "round")
        digest = digest_of(recorded.header, bytes(recorded.data))
        recorded.header.key.round = plan.round
        fed.expect(11, "the same with the round set right", recorder,
                   recorder.upload(recorded.header, bytes(recorded.data)), STATE, "nonce")
        recorded.header.nonce = plan.nonce
        fed.expect(11, "the same with the nonce set right, and the old digest", recorder,
                   recorder.upload(recorded.header, bytes(recorded.data), digest=digest), STRIKE,
                   "digest")
        victim = Client(fed.address, folder.path / f"kit-{fed.honest_names[2]}", fed.honest_names[2])
        header.key.id = upload_id
        fed.expect(11, "an honest client's recorded upload in a later round", victim,
                   victim.upload(header, data), STATE, "round")
        victim.close()
        bank = copier.download(plan.round, bank=True).reply
        if not checked:
            report(23, "features copied from the bank", None, "no checks of updates yet")
        elif bank:
            update = Update(template, copier, plan, model)
            update.data[:] = keepers.now.download(plan.round).reply
            update.add_features(numpy.frombuffer(bank, numpy.float32).reshape(-1, 128)[:16])
            fed.expect(23, "features copied from the bank", copier,
                       copier.upload(update.header, bytes(update.data)), STRIKE, "features")
        else:
            report(23, "features copied from the bank", False, "no bank came")
        copier.leave()
        recorder.leave()

        # Three strikes: it had one, has one in this round, and one in the next.
        for last in (False, True):
            update = Update(template, striker, plan, model)
            drop_last(update.header)
            outcome = striker.upload(update.header)
            fed.expect("3x", "a strike more", striker, outcome, STRIKE, "manifest")
            fed.expect("3x", "who was refused sits out the round", striker,
                       striker.upload(update.header), DENIED if last else STATE,
                       "strikes" if last else "refused")
            if not last:
                plan = keepers.advance()
        fed.expect("3x", "three strikes: out of the run", striker, striker.join(IMAGES), DENIED,
                   "strikes")

        peak = fed.server.memory()
        keepers.close()
        codes = fed.finish(180)
        report("-", "coordinator and honest clients end well", codes == [0] * (CLIENTS + 1), codes)
        bound = memory + UPLOAD_MEMORY + ROOM
        report(22, f"the coordinator's memory stayed below {bound:.0f} MB ({peak:.0f})",
               0 < peak < bound, f"{peak:.0f} MB")
        look_at_artefacts(fed, folder)
        folder.run("train", *fed.config, "--out", folder.path / "trained", seconds=300)
        wanted = folder.summary("trained")["model_digest"]
        digests = [folder.summary(f"{fed.name}-served")["model_digest"]] + [
            folder.summary(f"joined-{name}")["model_digest"] for name in fed.honest_names]
        report(31, "the model is that of `kindred train`", set(digests) == {wanted},
               f"{digests} not {wanted}")
        for client in [*members.values(), recorder, copier, keepers.now, keepers.next]:
            client.close()


def look_at_artefacts(fed, folder):
    """The audit log and the counts have every refusal; nothing secret is in what the run leaves."""
    lines = [line for line in fed.audit() if line["event"] == "refuse"]
    have = {}
    for line in lines:
        key = (line.get("client", ""), line["reason"])
        have[key] = have.get(key, 0) + 1
    missing = []
    for key in set(fed.refusals):
        if key[1] in ("busy", "offset"):
            continue  # not news, by design
        if have.get(key, 0) < fed.refusals.count(key):
            missing.append((*key, fed.refusals.count(key), have.get(key, 0)))
    report("-", f"audit.jsonl has a line for each of {len(fed.refusals)} refusals", not missing,
           missing)
    if (folder.path / f"{fed.name}-served" / "summary.json").exists():
        counts = folder.summary(f"{fed.name}-served")["refused"]
        wanted = {}
        for _, reason in fed.refusals:
            wanted[reason] = wanted.get(reason, 0) + 1
        short = {reason: (count, counts.get(reason, 0)) for reason, count in wanted.items()
                 if reason not in ("busy", "offset") and counts.get(reason, 0) < count}
        report("-", "summary.json counts them", not short, short)
    secrets = {}
    for key in folder.path.glob("*/*.key"):
        body = "".join(key.read_text().splitlines()[1:-1])
        secrets[f"{key.parent.name}/{key.name}"] = body[8:60].encode()  # past what all keys share
    found = []
    paths = [path for path in folder.path.rglob("*") if path.is_file()
             and not path.suffix == ".key" and "cache" not in path.parts]
    for path in paths:
        content = path.read_bytes()
        found += [f"{name} in {path.name}" for name, body in secrets.items() if body in content]
    report(27, f"none of {len(secrets)} keys in any of {len(paths)} files", not found, found)
    # What a client calls its files is its own business.
    found = []
    for path in (folder.path / f"{fed.name}-served").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found += [f"{word} in {path.name}" for word in (b"joined-", b"kit-") if word in content]
    report(27, "no path of a client in what the coordinator writes", not found, found)


# --- those who are slow ------------------------------------------------------------------------------

def attack_by_trickling(kindred):
    """An upload that is just fast enough takes the room that the others wait for."""
    deadline = 12
    with Folder(kindred, "trickle") as folder:
        # What updates look like, from a run without anybody else.
        own = Federation(folder, "h", 1, server__linger=1)
        own.serve()
        own.join()
        own.finish(120)
        kept = next((folder.path / f"joined-{own.honest_names[0]}").rglob("round-0.kept"))
        template, _, _ = read_kept(kept)
        fed = Federation(folder, "t", 1, server__deadline=deadline, server__upload_memory=1,
                         server__rate_window=RATE_WINDOW, server__linger=5)
        fed.issue("trickles")
        fed.serve()
        client = fed.client("trickles")
        fed.join()
        plan = client.plan_of(0)
        update = Update(template, client, plan, client.download(0).reply)
        begin = pb.UploadBegin(header=update.header,
                               digest=digest_of(update.header, bytes(update.data)))
        stop = threading.Event()

        def parts():
            yield pb.UploadPart(begin=begin)
            for at in range(0, len(update.data), 1024):
                if stop.wait(0.2):
                    return
                yield pb.UploadPart(data=bytes(update.data[at:at + 1024]))
        thread = threading.Thread(target=lambda: client.send(parts(), seconds=600))
        thread.start()
        start, limit = time.monotonic(), 3 * deadline
        try:
            wait_until("updates", lambda: fed.accepted(0, fed.honest_names), limit)
            report(15, f"others send while one trickles ({time.monotonic() - start:.0f} s)", True)
        except RuntimeError:
            report(15, "others send while one trickles", False,
                   f"not in {limit} s, the deadline being {deadline} s")
        stop.set()
        thread.join()
        client.close()


def attack_by_stalling(kindred):
    print("\ndrop-outs, and memory that a header can cost\n", flush=True)
    deadline = 12
    with Folder(kindred, "stalls") as folder:
        # There is room for one update at a time.
        fed = Federation(folder, "s", 4, server__patience=600, server__poll=1, server__linger=5,
                         server__deadline=deadline, server__rate_window=RATE_WINDOW,
                         server__upload_memory=1)
        names = ("drops-out", "keeps-asking", "bloats")
        for name in names:
            fed.issue(name)
        fed.serve()
        silent, asking, bloats = (fed.client(name) for name in names)
        fed.join()
        for client in (silent, asking, bloats):
            client.plan_of(0)
        run = bloats.run

        # Two bytes on the wire are a hundred in memory.
        memory = fed.server.memory()
        many = pb.UploadPart(begin=pb.UploadBegin(header=pb.UploadHeader(
            key=pb.UploadKey(run=run, round=0, id="x"))))
        many.begin.header.tensors.extend([pb.TensorPlace()] * 900000)
        raw = many.SerializeToString()
        del many
        outcomes = []

        def send():
            call = bloats.channel.stream_unary("/kindred.v1.Federation/Upload",
                                               request_serializer=bytes,
                                               response_deserializer=bytes)
            outcomes.append(outcome_of(lambda: call(iter([raw]), timeout=60)))
        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        grown = fed.server.memory() - memory
        report(6, f"a header of 900000 tensors on 16 streams at once ({grown:.0f} MB more)",
               grown < 256 and fed.server.alive(), f"{outcomes[0]}")
        bloats.leave()

        # One takes the plan and is silent; one asks again and again and never trains. Neither may
        # make every round last until its deadline.
        stop = threading.Event()

        def ask():
            while not stop.is_set() and fed.server.alive():
                asking.plan(seconds=5)
                stop.wait(0.3)
        thread = threading.Thread(target=ask)
        thread.start()
        codes = fed.finish(4 * deadline + 90)
        stop.set()
        thread.join()
        report(17, "a run with drop-outs ends well", codes == [0] * (CLIENTS + 1), codes)
        missed = {}
        for line in fed.audit():
            if line["event"] == "miss":
                missed[line["client"]] = missed.get(line["client"], 0) + 1
        report(17, "one who is silent is waited for in two rounds at most",
               missed.get("drops-out", 0) == 2, missed)
        report(17, "one who asks and never trains is waited for in two rounds at most",
               0 < missed.get("keeps-asking", 0) <= 2, missed)
        report(17, "no honest client missed a deadline",
               not any(name in missed for name in fed.honest_names), missed)
        folder.run("train", *fed.config, "--out", folder.path / "trained", seconds=300)
        served = folder.path / "s-served" / "summary.json"
        report(17, "the model is that of `kindred train`", served.exists() and
               folder.summary("s-served")["model_digest"] ==
               folder.summary("trained")["model_digest"], "another")
        for client in (silent, asking, bloats):
            client.close()


def main():
    kindred = sys.argv[1]
    parts = sys.argv[2:] or ["coordinator", "stalls", "server"]
    if not can_serve(kindred):
        print(f"{kindred}: has no `serve`")
        return 1
    if "coordinator" in parts:
        attack_coordinator(kindred)
    if "stalls" in parts:
        attack_by_trickling(kindred)
        attack_by_stalling(kindred)
    if "server" in parts:
        print("\na hostile coordinator\n", flush=True)
        fake_coordinator.attack_clients(kindred, report)
    failed = [result for result in results if result[2] is False]
    skipped = [result for result in results if result[2] is None]
    print(f"\n{len(results) - len(failed) - len(skipped)} passed, {len(failed)} failed, "
          f"{len(skipped)} skipped")
    for row, what, _ in failed:
        print(f"  FAIL row {row}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
