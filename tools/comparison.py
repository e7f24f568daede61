#!/usr/bin/env python3
"""Trains and evaluates what results/comparison.csv still lacks, one run at a time, and appends each number to it.

    tools/comparison.py --plan             what is missing, and about how long that takes
    tools/comparison.py trials             settings, looked for on CIFAR-100
    tools/comparison.py table              the table, on CIFAR-10, by configs/lab/METHOD.toml where there is one

Stop it at any time: the same call goes on. Two of them may work at once. It runs at the lowest priority.
"""
import argparse
import csv
import fcntl
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "results/comparison.csv"
KEYS = ("dataset", "setting", "method", "settings", "seed")
SECONDS = {"simclr": 310, "cl": 195, "ccl": 217, "fedca": 567, "deepcluster": 417, "swav": 369, "rotation": 735}
PAPERS = ("fedca", "deepcluster", "swav", "rotation")
# What is tried on CIFAR-100 beside the settings as in the files, so that each method has four trials.
TRIALS = {
    "fedca": ["fedca.tau=0.2 train.batch=32", "fedca.tau=0.2 train.lr=0.12", "fedca.tau=0.2"],
    "deepcluster": ["train.batch=32", "train.lr=0.12", "deepcluster.tau=0.2"],
    "swav": ["train.batch=32", "train.lr=0.12", "swav.tau=0.2"],
    "rotation": ["train.batch=32", "train.lr=0.12", "train.lr=0.03"],
    "ccl": ["ccl.tau=0.2 train.lr=0.12", "ccl.tau=0.2 train.batch=32", "features.weight=4"],
}


def cell(dataset, setting, method, settings="", seed=0):
    return dict(zip(KEYS, (dataset, setting, method, settings, str(seed))))


def wanted(part):
    if part == "trials":
        return [cell("cifar100", "noniid1", m, changes[turn]) for turn in range(3) for m, changes in TRIALS.items()]
    settings = ("oneclass", "noniid1", "iid")
    rows = [("simclr", ""), ("cl", ""), ("ccl", ""), ("ccl", "ccl.lambda=0")]  # the last is CL+FF
    of = {seed: [cell("cifar10", setting, m, change, seed) for setting in settings for m, change in rows] for seed in range(3)}
    others = [cell("cifar10", setting, m) for setting in settings for m in PAPERS]
    best = [cell("cifar10", setting, "rotation", seed=seed) for seed in (1, 2) for setting in settings]  # of the others
    # As many rounds as take FedSimCLR's CPU time.
    as_long = [cell("cifar10", "noniid1", m, f"train.rounds={rounds}", seed) for seed in range(3)
               for m, rounds in (("cl", 33), ("ccl", 29))]
    return of[0] + of[1] + of[2] + others + best + as_long


class Numbers:
    """The file, which several processes may add to."""

    def __init__(self):
        self.lock = open(TABLE.with_suffix(".lock"), "w")

    def __enter__(self):
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        with TABLE.open() as file:
            self.rows = list(csv.DictReader(file))
        return self

    def __exit__(self, *_):
        fcntl.flock(self.lock, fcntl.LOCK_UN)

    def has(self, want):
        return any(all(row[key] == want[key] for key in KEYS) for row in self.rows)

    def add(self, row):
        with TABLE.open("a", newline="") as file:
            csv.DictWriter(file, list(self.rows[0]), lineterminator="\n").writerow(row)


def run(kindred, want, folder):
    """Trains and evaluates one cell; its row."""
    method = {"cl": "moco"}.get(want["method"], want["method"])
    configs = ["configs/lab.toml", f"configs/methods/{method}.toml"]
    tuned = f"configs/lab/{method}.toml"
    if want["dataset"] == "cifar10" and (ROOT / tuned).exists():
        configs.append(tuned)
    settings = [f"data.name={want['dataset']}", f"partition.scheme={want['setting']}", f"train.seed={want['seed']}",
                "eval.every=20"] + want["settings"].split()
    if method == "fedca":
        settings.append("fedca.public_data=" + {"cifar10": "cifar100", "cifar100": "cifar10"}[want["dataset"]])
    command = [kindred, "train", "--workers", "1", "--out", str(folder)]
    if (folder / "config.toml").exists():
        command += ["--resume"]
    else:
        command += sum([["--config", c] for c in configs], []) + sum([["--set", s] for s in settings], [])
    subprocess.run(command, cwd=ROOT, check=True)

    def accuracy(metric):
        told = subprocess.run([kindred, "eval", metric, "--run", str(folder), "--set", "eval.limit=0", "--json"], cwd=ROOT,
                              check=True, capture_output=True)
        return f"{100 * json.loads(told.stdout)['accuracy']:.2f}"
    summary = json.loads((folder / "summary.json").read_text())
    return want | {"linear": accuracy("linear"), "knn": accuracy("knn"), "cpu_seconds": round(summary["cpu_seconds"]),
                   "commit": summary["commit"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=("trials", "table"), help="without it: --plan")
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--kindred", default=str(ROOT / "build/release/kindred"))
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/comparison")
    options = parser.parse_args()
    numbers = Numbers()
    if options.plan or options.part is None:
        for part in ("trials", "table"):
            with numbers:
                missing = [want for want in wanted(part) if not numbers.has(want)]
            hours = sum(SECONDS[want["method"]] for want in missing) / 3600
            print(f"{part}: {len(missing)} runs, about {hours:.1f} hours of a core")
            for want in missing:
                print("  " + " ".join(want.values()))
        return
    os.nice(19)
    group = pathlib.Path("/proc/self/autogroup")  # where sessions share the processor, nice alone does not tell
    if group.exists() and os.getsid(0) == os.getpid():  # not the whole of a user's shell
        group.write_text("19")
    options.runs.mkdir(parents=True, exist_ok=True)
    for want in wanted(options.part):
        with numbers:
            if numbers.has(want):
                continue
        folder = options.runs / "-".join(want.values()).replace(" ", "-").replace("=", "-")
        with open(f"{folder}.lock", "w") as busy:
            try:
                fcntl.flock(busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # another process has it
            row = run(options.kindred, want, folder)
            with numbers:
                if not numbers.has(want):
                    numbers.add(row)
            print(row, flush=True)


main()
