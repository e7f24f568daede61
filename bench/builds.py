#!/usr/bin/env python3
"""Two builds of the program beside each other: CPU time of training and of starting, as a ratio.

    bench/builds.py PROGRAM OTHER [--turns 7]

They take turns in one run; medians of user and system time are compared. Both must end with the same model. What the
hardening of release builds costs: PROGRAM built as usual, OTHER with -DKINDRED_HARDENED=OFF.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile

SETTINGS = {"data.name": "shapes", "data.limit": 2000, "partition.clients": 2, "partition.scheme": "iid",
            "model.arch": "resnet10", "model.width": 16, "model.bn_splits": 1, "train.rounds": 1, "train.epochs": 1,
            "train.workers": 1, "eval.every": 1000, "eval.limit": 10}


def cpu_seconds(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def train(program, method):
    words = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        seconds = cpu_seconds([program, "train", *words, "--set", f"method.name={method}", "--out", run])
        return seconds, json.loads((run / "summary.json").read_text())["model_digest"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--turns", type=int, default=7)
    options = parser.parse_args()
    for method in ("simclr", "ccl"):
        ratios, times = [], []
        for turn in range(options.turns):
            order = options.programs if turn % 2 == 0 else options.programs[::-1]
            told = {program: train(program, method) for program in order}
            one, other = (told[program] for program in options.programs)
            if one[1] != other[1]:
                print("the models differ")
            ratios.append(one[0] / other[0])
            times.append((one[0], other[0]))
        print(f"ratio train {method}: {statistics.median(ratios):.4f} (medians {statistics.median(t[0] for t in times):.2f} "
              f"and {statistics.median(t[1] for t in times):.2f} s, ratios {min(ratios):.3f} to {max(ratios):.3f})", flush=True)
    ratios = []
    for turn in range(8 * options.turns):
        order = options.programs if turn % 2 == 0 else options.programs[::-1]
        told = {program: cpu_seconds([program, "--version"]) for program in order}
        ratios.append(told[options.programs[0]] / told[options.programs[1]])
    print(f"ratio start: {statistics.median(ratios):.3f}")


main()
