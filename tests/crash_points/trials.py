"""Trials: a program runs with a fault in one call, and is started again; it must end as without."""
import concurrent.futures
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass

from syscalls import Fault, hit_by, tracing


@dataclass
class Outcome:
    code: int  # negative: the signal that ended it
    out: str
    errors: str


class Failed(Exception):
    """What a trial found wrong."""


class Missed(Exception):
    """The fault came to these calls instead."""

    def __init__(self, hit, calls):
        super().__init__(f"not hit, but {[str(call) for call in hit]}")
        self.hit, self.calls = hit, calls


def require(good, what, seen=""):
    if not good:
        raise Failed(f"{what}{': ' if seen else ''}{seen}")


def run(folder, words, log=None, fault=None, seconds=600):
    """A program of the test's folder, traced into `log`; both end with the test."""
    words = [*(tracing(log, fault) if log else []), folder.kindred, *map(str, words)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=folder.env, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed(f"{' '.join(words)}: still runs after {seconds} s") from None
    return Outcome(process.returncode, out, errors)


def require_hit(fault, wanted, calls):
    """Throws unless the fault came to the call that it was meant for, and to no other."""
    hit = hit_by(fault, calls)
    if [str(call) for call in hit] != [str(wanted)]:
        raise Missed(hit, calls)


def require_refusal(outcome):
    """A program that cannot go on says so in one line, with the exit code of a disk's failure."""
    lines = [line for line in outcome.errors.splitlines() if line.startswith("kindred: error:")]
    require(outcome.code == 3 and len(lines) == 1, "not one line of error and exit code 3",
            f"{outcome.code} {outcome.errors}")


class Place:
    """One kind of files, and what was tried on them. `check(call, fault, at)` is one trial, in the
    folder `at` of its own; `calls` are those of a run without faults."""

    def __init__(self, folder, name, calls, check):
        self.folder, self.name, self.check = folder, name, check
        self.counts = {str(call): call.count for call in calls}
        self.kills = self.failures = 0
        self.wrong = []

    def trial(self, number, call, what):
        count, found = call.count, None
        for attempt in range(6):  # what gRPC asks before the call differs from run to run
            at = self.folder.path / f"{self.name.replace(' ', '-')}-{number}-{attempt}"
            at.mkdir()
            try:
                self.check(call, Fault(call.name, count, what), at)
                return None
            except Missed as missed:
                found, count = missed, self.better_count(call, count, missed)
            except (Failed, RuntimeError, subprocess.SubprocessError, OSError) as error:
                found = error
                break
            finally:
                if not os.environ.get("KEEP"):
                    shutil.rmtree(at, ignore_errors=True)
        return f"{self.name}: {what} at {call}: {found}"

    def better_count(self, call, count, missed):
        """Where the call was in that run; if it was not reached, by how far the hit one was off."""
        reached = [each.count for each in missed.calls if str(each) == str(call)]
        known = [self.counts[str(each)] for each in missed.hit if str(each) in self.counts]
        return reached[0] if reached else max(1, call.count + count - known[0]) if known else count

    def run(self, trials, workers=2):
        """Trials are (call, what happens at it)."""
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for wrong in pool.map(self.trial, range(len(trials)), *zip(*trials)):
                if wrong:
                    self.wrong.append(wrong)
                    print("FAIL ", wrong, flush=True)
        self.kills += sum(what == "KILL" for _, what in trials)
        self.failures += sum(what != "KILL" for _, what in trials)
        print(f"{self.name}: {self.kills} kills, {self.failures} failures of calls, "
              f"{len(self.wrong)} wrong", flush=True)


def every(calls, step):
    """The first, the last, and one of `step` between them."""
    return calls if step == 1 else [call for i, call in enumerate(calls)
                                    if i % step == 0 or i == len(calls) - 1]
