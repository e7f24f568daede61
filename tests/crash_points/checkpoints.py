"""Crash points of `kindred train`: checkpoints, and whatever else a run leaves."""
import json

from order import missing_syncs, unneeded_syncs
from programs import TINY, sets
from syscalls import RENAMES, WRITES, Fault, calls_below
from trials import Place, every, require, require_hit, require_refusal, run

ROUNDS, IMAGES = 3, 32
SMALL = ["--config", TINY, *sets(partition__clients=2, partition__scheme="iid", data__limit=IMAGES,
                                 model__width=4, train__batch=8, train__workers=1, ccl__bank=16,
                                 eval__limit=10)]
ALARM = "no checkpoint of round"


def train(folder, at, *more, **traced):
    words = ["train", *SMALL, *sets(train__rounds=ROUNDS), "--out", at / "out", *more]
    return run(folder, words, **traced)


def digest_in(out):
    return json.loads((out / "summary.json").read_text())["model_digest"]


def committed(calls):
    """How many rounds a trace put on record."""
    return sum(call.name in RENAMES and call.done and call.paths[1].endswith("/commit.json")
               for call in calls)


def files_in(out):
    return {str(path.relative_to(out)) for path in out.rglob("*")
            if path.is_file() and not path.name.startswith(".tmp-")}


def rounds_of(calls):
    """Whose checkpoint was written last when a call came, by the call's text."""
    files, rounds = 0, {}
    for call in calls:
        files += call.makes and "checkpoints" in call.place
        rounds[str(call)] = (files + 1) // 2  # it is two files: its own and the record
    return rounds


def makes_a_checkpoint(call):
    """Whether there is no checkpoint of the round when the call fails."""
    needed = call.makes or call.name in WRITES | RENAMES | {"fsync"}
    return "checkpoints" in call.place and (
        needed or (call.name == "close" and call.place.endswith(".tmp")))


class Checkpoints:
    def __init__(self, folder):
        self.folder = folder
        at = folder.path / "reference"
        at.mkdir()
        outcome = train(folder, at, log=at / "trace")
        require(outcome.code == 0, "the run without faults", outcome.errors)
        self.digest, self.files = digest_in(at / "out"), files_in(at / "out")
        self.calls = calls_below(at / "trace", at)
        require(len({call.thread for call in self.calls}) == 1, "several threads write files")
        self.rounds = rounds_of(self.calls)
        self.place = Place(folder, "checkpoints", self.calls, self.check)

    def check_order(self):
        """Everything is synced in time; without any one fsync it would not be."""
        wrong = missing_syncs(self.calls)
        wrong += [f"{call} could be left out" for call in unneeded_syncs(self.calls)]
        at = self.folder.path / "unsynced"
        at.mkdir()
        train(self.folder, at, log=at / "trace", fault=Fault("fsync", 1, "SKIP", onwards=True))
        if not missing_syncs(calls_below(at / "trace", at)):
            wrong.append("a run without fsync passes")
        return wrong

    def trials(self, whole):
        """All calls; else those of the second checkpoint but few of its writes, and few others."""
        calls = self.calls
        if not whole:
            second = [call for call in calls
                      if "checkpoints" in call.place and self.rounds[str(call)] == 2]
            others = [call for call in calls if call not in second and call.name not in WRITES]
            calls = [call for call in second if call.name not in WRITES | {"close"}]
            calls += every([call for call in second if call.name in WRITES], 60) + every(others, 15)
        trials = [(call, what) for call in calls for what in ("KILL", "EIO")]
        return trials + [(call, what) for call in calls for what in ("EROFS", "ENOSPC")
                         if makes_a_checkpoint(call) and self.rounds[str(call)] == 2
                         and (whole or call.name in RENAMES)]

    def check(self, call, fault, at):
        outcome = train(self.folder, at, log=at / "trace", fault=fault)
        calls = calls_below(at / "trace", at)
        require_hit(fault, call, calls)
        if fault.what == "KILL":
            require(outcome.code == -9, "not killed", outcome)
        elif outcome.code != 0:
            require_refusal(outcome)
        else:
            require(digest_in(at / "out") == self.digest, "another model")
        if fault.what != "KILL" and makes_a_checkpoint(call):
            alarms = f"{outcome.code} {outcome.errors}"
            if self.rounds[str(call)] < ROUNDS:
                require(outcome.code == 0 and outcome.errors.count(ALARM) == 1, "no alarm", alarms)
            else:
                require(outcome.code == 3, "the model is not saved, but all is well", alarms)
        finished = (at / "out" / "summary.json").exists()
        again = train(self.folder, at, "--resume")
        require(again.code == 0 and "damaged" not in again.errors, "the next start", again.errors)
        require(digest_in(at / "out") == self.digest, "another model after the next start")
        if not finished:
            rounds = committed(calls)
            found = f"going on after round {rounds} of" in again.errors
            require(found == (rounds > 0), f"the next start misses round {rounds}", again.errors)
        missing = self.files - files_in(at / "out")
        require(not missing or finished, "files are missing", missing)
        if "metrics" not in call.place:
            lines = (at / "out" / "metrics.jsonl").read_text().splitlines()
            seen = [line["round"] for line in map(json.loads, lines) if line["kind"] == "round"]
            require(seen == list(range(1, ROUNDS + 1)), "metrics.jsonl", seen)
        left = [path.name for path in (at / "out" / "checkpoints").glob(".tmp-*")]
        require(not left, "left behind", left)
