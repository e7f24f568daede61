#!/usr/bin/python3
"""Attacks on a live coordinator, and on clients by a hostile one.

    attacks.py KINDRED [coordinator] [stalls] [server]

Three honest clients train while hostile ones, enrolled like them, do their worst; afterwards the
model must be, bit for bit, that of `kindred train`. A line for each row of the table of threats:
PASS, FAIL or SKIP. Exit code 1 when a row fails. With KEEP=1 in the environment what the programs
wrote stays.
"""
import sys

import numpy

sys.dont_write_bytecode = True  # nothing is left in the source folder

from connections import attack_connections, attack_http2
from fake_coordinator import attack_clients
from federation import CLIENTS, DENIED, HANDSHAKE, IMAGES, RATE_WINDOW, STATE, STRIKE, Federation, \
    report, results
from claims import attack_by_claiming, attack_by_standing_still
from identities import attack_greetings, attack_identity
from programs import TINY, Folder, can_serve, wait_until
from stalls import attack_by_stalling, attack_by_trickling
from staying import attack_by_staying
from streams import attack_acknowledged, attack_rounds, attack_streams
from updates import CONTENTS, HEADERS, Update, attack_contents, attack_headers, drop_last
from wire import Client, bytes_digest, digest_of, read_kept

ROUNDS = 5
UPLOAD_MEMORY, ROOM = 64, 192  # MB: what uploads may take, and what attacks may cost beside it


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
        digest = digest_of(recorded.header)
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
        remote = copier.download(plan.round, remote=True).reply
        if not checked:
            report(23, "features copied from others", None, "no checks of updates yet")
        elif remote:
            update = Update(template, copier, plan, model)
            update.data[:] = keepers.now.download(plan.round).reply
            update.add_features(numpy.frombuffer(remote, numpy.float32).reshape(-1, 128)[:16])
            fed.expect(23, "features copied from others", copier,
                       copier.upload(update.header, bytes(update.data)), STRIKE, "features")
        else:
            report(23, "features copied from others", False, "no remote features came")
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
    for key in folder.path.rglob("*.key"):
        body = "".join(key.read_text().splitlines()[1:-1])
        secrets[str(key.relative_to(folder.path))] = body[8:60].encode()  # past what all keys share
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
        attack_by_staying(kindred)
        attack_by_claiming(kindred)
        attack_by_standing_still(kindred)
    if "server" in parts:
        print("\na hostile coordinator\n", flush=True)
        attack_clients(kindred, report)
    failed = [result for result in results if result[2] is False]
    skipped = [result for result in results if result[2] is None]
    print(f"\n{len(results) - len(failed) - len(skipped)} passed, {len(failed)} failed, "
          f"{len(skipped)} skipped")
    for row, what, _ in failed:
        print(f"  FAIL row {row}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
