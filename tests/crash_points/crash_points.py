#!/usr/bin/python3
"""Kills and failures at single system calls: of checkpoints, enrolments and a federation's rounds.

    crash_points.py KINDRED [--all] [--every=K] [PLACE...]

At each point strace kills the program or makes the call fail. The next start must find the last
whole state and end with the same model. Without --all: each kind of call of a checkpoint, an
enrolment and a kept round, and some of the others. --every=K: one of K of those points. Places:
checkpoints enrolments kept-rounds secrets coordinator.
Exit code 1 when a trial fails or its point is not reached, 77 when programs may not be traced here.
With KEEP=1 in the environment what the programs wrote stays.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # nothing is left in the source folder
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "federation"))

from checkpoints import Checkpoints
from enrolment import Enrolments
from programs import Folder, sets
from rounds import Rounds
from syscalls import why_not_traced

PLACES = {
    "checkpoints": Checkpoints,
    "enrolments": Enrolments,
    "kept-rounds": lambda folder: Rounds(
        folder, "kept rounds", "joined-0",
        few="fsync state/RUN/.tmp, no. 2|round-1.kept|fsync state/RUN, no. 2"),
    "secrets": lambda folder: Rounds(
        folder, "secrets", "joined-0", few="fsync|rename", below=r"state(/\.tmp|/secret)?$",
        key="drawn", more=sets(method__name="simclr")),
    "coordinator": lambda folder: Rounds(
        folder, "coordinator", "served",
        few="commit.json, no. 1|fsync checkpoints, no. 2|write audit.jsonl, no. 5|"
            "close audit.jsonl, no. 6"),
}


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    whole = "--all" in sys.argv
    step = int(next((word[8:] for word in sys.argv if word.startswith("--every=")), "1"))
    why = why_not_traced()
    if why:
        print(f"crash_points: skipped, programs may not be traced here: {why}")
        return 77
    kills = failures = 0
    wrong = []
    for name in words[1:] or PLACES:
        with Folder(words[0], "crash") as folder:
            made = PLACES[name](folder)
            order = made.check_order()
            for line in order:
                print(f"FAIL  {name}: order of syncs: {line}", flush=True)
            made.place.run(made.trials(whole)[::step])
            wrong += order + made.place.wrong
            kills += made.place.kills
            failures += made.place.failures
    print(f"{kills + failures} crash points tried: {kills} kills, {failures} failures of calls, "
          f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
