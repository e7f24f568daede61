"""Crash points of a federation: what a client keeps, its secret, and a coordinator's rounds."""
import re
import stat

from checkpoints import IMAGES, SMALL, committed, digest_in, makes_a_checkpoint, rounds_of
from order import missing_syncs, unneeded_syncs
from programs import Program, free_port, sets
from syscalls import RENAMES, WRITES, Fault, calls_below, hit_by, read_trace, tracing
from trials import Missed, Place, every, require, require_hit, run

ROUNDS, PATIENT = 2, 600  # seconds that a loaded machine may take
ALARM = "no checkpoint of this round"
SENT_AGAIN = "trained before; its update is sent again"


class Side:
    """One process of a federation: how it is started, and what it left."""

    def __init__(self, folder, at, name, words):
        self.folder, self.at, self.name, self.words = folder, at, name, words
        self.starts = 0

    def start(self, fault=None, traced=False):
        self.starts += 1
        before = tracing(self.at / "trace", fault, ("sendmsg",)) if traced else []
        self.program = Program([*before, self.folder.kindred, *map(str, self.words)],
                               self.at / f"{self.name}-{self.starts}.log", self.folder.env,
                               group=True)

    def wait(self):
        code = self.program.wait(PATIENT)
        require(code is not None, f"{self.name} still runs", self.program.text())
        return code

    @property
    def out(self):
        return self.at / self.name


class Federation:
    """A coordinator and two clients that work below `at`, with kits of the test's authority."""

    def __init__(self, rounds, at):
        folder, pki = rounds.folder, rounds.folder.path
        address = f"127.0.0.1:{free_port()}"
        self.served = Side(folder, at, "served", [
            "serve", "--resume", *rounds.config, "--listen", address, "--pki", pki / "pki", "--out",
            at / "served"])
        self.clients = [Side(folder, at, f"joined-{i}", [
            "join", "--kit", pki / f"kit-c{i}", *rounds.config,
            *sets(client__server=address, client__share=f"{i}/2", client__key=rounds.key),
            "--out", at / f"joined-{i}"]) for i in range(2)]
        self.sides = [self.served, *self.clients]

    def run(self, faulty, fault):
        """Starts all; `faulty` is traced, and started again when it ends badly. Its first code."""
        for side in self.sides:
            side.start(fault, side is faulty)
            if side is self.served and side is not faulty:
                side.program.after("listening on ", PATIENT)
        code = faulty.wait()
        # A client that cannot write the trained model leaves, and nobody waits for it.
        if code == 3 and f"round {ROUNDS}/{ROUNDS}" in faulty.program.text():
            self.sides = [side for side in self.sides if side is not faulty or side is self.served]
        if code != 0 and faulty in self.sides:
            faulty.start()
        return code

    def end(self):
        for side in self.sides:
            side.program.end()


class Rounds:
    """Faults in one of the processes: the coordinator, or the first client. `few`: the calls, as
    they are printed, that are tried when not all are; `below`: the files that are looked at."""

    def __init__(self, folder, name, who, few, below="", key="seeded", more=()):
        self.folder, self.who, self.few, self.key = folder, who, few, key
        # A coordinator that begins anew does not know who has the trained model, and waits so long.
        linger = 30 if who == "served" else PATIENT
        self.config = [*SMALL, *sets(train__rounds=ROUNDS, server__linger=linger), *more]
        run(folder, ["pki", "init", "--out", folder.path / "pki"])
        for i in range(2):
            run(folder, ["pki", "issue", f"c{i}", "--pki", folder.path / "pki", "--server", "a:1",
                         "--images", IMAGES // 2, "--out", folder.path / f"kit-c{i}"])
        trained = run(folder, ["train", *self.config, "--out", folder.path / "trained"])
        require(trained.code == 0, "kindred train", trained.errors)
        self.digest = digest_in(folder.path / "trained")
        self.secrets = []
        at = folder.path / "reference"
        at.mkdir()
        self.federate(at)
        self.calls = [call for call in calls_below(at / "trace", at / who)
                      if re.match(below, call.place)]
        self.rounds = rounds_of(self.calls)
        self.all = read_trace(at / "trace")
        # How often a thread sends differs from run to run, but the first half is always sent.
        sends = [call for call in self.all if call.name == "sendmsg" and not below]
        self.sends = [call for call in sends if 2 * call.count <= max(each.count for each in sends)]
        self.trace = at / "trace"
        self.place = Place(folder, name, self.calls, self.check)

    def federate(self, at, fault=None):
        """A federation with this fault: the first exit code of who has it, and what it printed."""
        federation = Federation(self, at)
        faulty = next(side for side in federation.sides if side.name == self.who)
        try:
            code = federation.run(faulty, fault)
            first = (at / f"{self.who}-1.log").read_text()
            for side in federation.sides:
                require(side.wait() == 0, side.name, side.program.text())
                require(digest_in(side.out) == self.digest, f"another model: {side.name}")
                require("damaged" not in side.program.text(), "damaged", side.program.text())
            self.check_secrets(federation)
            return code, first, faulty.program.text()
        finally:
            federation.end()

    def check_secrets(self, federation):
        """Each is drawn anew: none is like that of another client or another folder."""
        if self.key != "drawn":
            return
        for client in federation.clients:
            path = client.out / "state" / "secret"
            secret = path.read_bytes()
            require(len(secret) == 32 and stat.S_IMODE(path.stat().st_mode) == 0o600, "secret")
            require(secret not in self.secrets, "a secret that another folder has")
            self.secrets.append(secret)

    def check_order(self):
        """Everything is synced in time, and before its thread sends anything."""
        calls = calls_below(self.trace, self.trace.parent, names=("sendmsg",))
        threads = {call.thread for call in calls if call.name in RENAMES}
        require(len(threads) == 1, "several threads write files", threads)
        wrong = missing_syncs(calls)
        return wrong + [f"{call} could be left out" for call in unneeded_syncs(calls)]

    def trials(self, whole):
        """All calls, but few of the trained model's writes, which are like a simulation's."""
        calls = [call for call in self.calls if call.kind != "open" or "RUN" in call.place]
        writes = [call for call in calls if call.place == "checkpoints/.tmp" and
                  call.name in WRITES]
        calls = [call for call in calls if call not in writes] + every(writes, 20)
        if not whole:
            calls = [call for call in calls if re.search(self.few, str(call))]
            require(calls, "no call is like", self.few)
        trials = [(call, what) for call in calls for what in ("KILL", "EIO") if self.can_hit(call)]
        sends = {call.count: call for call in self.sends}.values() if whole else []
        return trials + [(call, what) for call in sends for what in ("KILL", "ECONNRESET")]

    def counted_apart(self, call):
        """Writes to files that last are counted for each file: gRPC's threads write, too."""
        return call.name in WRITES and not call.place.endswith(".tmp")

    def count_of(self, call):
        if not self.counted_apart(call):
            return call.count
        alike = [each for each in self.calls if each.thread == call.thread
                 and each.name == call.name and each.place == call.place]
        return 1 + next(i for i, each in enumerate(alike) if each is call)

    def can_hit(self, call):
        """Whether no other thread makes a call that is counted like this one."""
        others = [each for each in (self.calls if self.counted_apart(call) else self.all)
                  if each.name == call.name and each.thread != call.thread]
        if self.counted_apart(call):
            return all(self.count_of(each) != self.count_of(call) for each in others
                       if each.place == call.place)
        return all(each.count != call.count for each in others)

    def check(self, call, fault, at):
        if self.counted_apart(call):
            paths = [at / self.who / call.paths[0], at / self.who / "checkpoints" / "commit.json"]
            fault = Fault(call.name, self.count_of(call), fault.what, tuple(paths))
        try:
            code, first, again = self.federate(at, fault)
        finally:  # a fault that came to another call says nothing
            calls = calls_below(at / "trace", at / self.who)
            if call.name != "sendmsg":
                require_hit(fault, call, calls)
            elif not hit_by(fault, read_trace(at / "trace")):
                raise Missed([], [])
        if call.name == "sendmsg":
            return
        if fault.what == "KILL":
            require(code == -9, "not killed", first)
        else:
            require(code in (0, 3) and first.count("kindred: error:") == (code == 3),
                    "not one line of error and exit code 3", f"{code} {first}")
        if self.who == "served":
            self.check_coordinator(call, fault, at, calls, code, again)
        else:
            self.check_client(call, fault, code, first, again)

    def check_coordinator(self, call, fault, at, calls, code, again):
        if fault.what != "KILL" and makes_a_checkpoint(call):
            if self.rounds[str(call)] < ROUNDS:
                audit = self.folder.audit(at / self.who)
                alarms = [line.get("detail") for line in audit if line["event"] == "alarm"]
                require(code == 0 and len(alarms) == 1 and ALARM in alarms[0], "no alarm", alarms)
            else:
                require(code == 3, "the model is not saved, but all is well", again)
        rounds = committed(calls)
        if code != 0 and "the run is finished" not in again:
            require((f"going on after round {rounds} of" in again) == (rounds > 0),
                    f"the next start misses round {rounds}", again)

    def check_client(self, call, fault, code, first, again):
        keeps = call.place.startswith("state/RUN/.tmp") and (
            call.makes or call.name in WRITES | RENAMES | {"fsync", "close"})
        if fault.what != "KILL" and keeps:
            require(code == 0 and "could not be kept" in first, "no warning", first)
        if fault.what == "KILL":
            require((SENT_AGAIN in again) == self.kept_before(call), "what was kept", again)

    def kept_before(self, call):
        """Whether a kill at the call comes between a round that is kept and its upload."""
        if call.makes or call.kind == "mkdir":
            return False
        place = next(i for i, each in enumerate(self.calls) if str(each) == str(call))
        for each in reversed(self.calls[:place]):
            if each.name in RENAMES or each.makes or each.kind == "mkdir":
                return each.name in RENAMES and each.paths[1].endswith(".kept")
        return False
