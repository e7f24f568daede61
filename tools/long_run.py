#!/usr/bin/env python3
"""Trains the long comparison, run by run, and appends a line to results/long/curves.csv after every ten rounds.

    tools/long_run.py --plan      what is missing
    tools/long_run.py             goes on with what is missing, in order

A run is trained by configs/long.toml with the settings that results/comparison.md chose (configs/lab/METHOD.toml) and
evaluated on all test images while it trains. Stop it at any time: the same call goes on. Two of them may work at once.
It runs at the lowest priority.
"""
import argparse
import csv
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "results/long/curves.csv"
KEYS = ("setting", "method", "settings", "seed")
COLUMNS = KEYS + ("round", "passes", "cpu_seconds", "knn", "linear", "commit")
ROUNDS, EVERY, EPOCHS = 60, 10, 5
FIRST = [("simclr", ""), ("moco", ""), ("ccl", "ccl.lambda=0"), ("ccl", "")]  # the third is CL+FF
WANTED = ([("noniid1", method, settings, "0") for method, settings in FIRST] +
          [(setting, method, "", "0") for setting in ("iid", "noniid2") for method in ("simclr", "moco", "ccl")] +
          [("iid", "moco", "partition.clients=1", "0")] +  # centralized
          [("noniid1", method, settings, "1") for method, settings in FIRST])


class Curves:
    """The file, which several processes may add to."""

    def __init__(self):
        TABLE.parent.mkdir(parents=True, exist_ok=True)
        self.lock = open(TABLE.with_suffix(".lock"), "w")

    def rows(self):
        if not TABLE.exists():
            return []
        with TABLE.open() as file:
            return list(csv.DictReader(file))

    def rounds(self, want):
        return {int(row["round"]) for row in self.rows() if tuple(row[key] for key in KEYS) == want}

    def add(self, row):
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        rows = self.rows()
        if not any(all(str(old[key]) == str(row[key]) for key in KEYS + ("round",)) for old in rows):
            rows.append(row)
            order = {want: place for place, want in enumerate(WANTED)}
            rows.sort(key=lambda each: (order[tuple(each[key] for key in KEYS)], int(each["round"])))
            new = TABLE.with_suffix(".new")
            with new.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            new.rename(TABLE)
        fcntl.flock(self.lock, fcntl.LOCK_UN)


def train_command(kindred, want, folder, threads):
    setting, method, settings, seed = want
    command = [kindred, "train", "--workers", str(threads), "--out", str(folder), "--resume"]
    if (folder / "config.toml").exists():
        return command
    for config in ("configs/long.toml", f"configs/methods/{method}.toml", f"configs/lab/{method}.toml"):
        command += ["--config", config]
    for each in [f"partition.scheme={setting}", f"train.seed={seed}", f"eval.every={EVERY}"] + settings.split():
        command += ["--set", each]
    return command


def told_by(kindred, metric, folder, number):
    told = subprocess.run([kindred, "eval", metric, "--run", str(folder), "--round", str(number), "--set", "eval.limit=0",
                           "--json"], cwd=ROOT, check=True, capture_output=True)
    return json.loads(told.stdout)


def evaluate(kindred, want, folder, number):
    seconds = {}  # by round; a round that was trained again counts once
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] == "round":
            seconds[entry["round"]] = entry["cpu_seconds"]
    spent = sum(each for at, each in seconds.items() if at <= number)
    knn, linear = (told_by(kindred, metric, folder, number) for metric in ("knn", "linear"))
    return dict(zip(KEYS, want)) | {
        "round": number, "passes": number * EPOCHS, "cpu_seconds": round(spent),
        "knn": f"{100 * knn['accuracy']:.2f}", "linear": f"{100 * linear['accuracy']:.2f}", "commit": linear["commit"]}


def run(kindred, want, folder, threads, curves):
    process = subprocess.Popen(train_command(kindred, want, folder, threads), cwd=ROOT)
    try:
        while True:
            ended = process.poll() is not None
            kept = {int(file.stem.split("-")[1]) for file in (folder / "checkpoints").glob("round-*.safetensors")}
            record = folder / "checkpoints/commit.json"
            committed = record.read_text() if record.exists() else ""
            for number in sorted(kept - curves.rounds(want)):
                if number % EVERY == 0 and number > 0 and f"round-{number}.safetensors" in committed:
                    row = evaluate(kindred, want, folder, number)
                    curves.add(row)
                    print(row, flush=True)
            if ended:
                break
            time.sleep(5)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait()
    if process.returncode != 0:
        raise SystemExit(f"{folder.name}: training ended with {process.returncode}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", action="store_true")
    parser.add_argument("--kindred", default=str(ROOT / "build/release/kindred"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--runs", type=pathlib.Path, default=ROOT / "runs/long")
    options = parser.parse_args()
    curves = Curves()
    if options.plan:
        for want in WANTED:
            done = curves.rounds(want)
            print(" ".join(want), "-", f"round {max(done)} of {ROUNDS}" if done else "not begun")
        return
    os.nice(19)
    group = pathlib.Path("/proc/self/autogroup")  # where sessions share the processor, nice alone does not tell
    if group.exists() and os.getsid(0) == os.getpid():  # not the whole of a user's shell
        group.write_text("19")
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(SystemExit(0)))
    options.runs.mkdir(parents=True, exist_ok=True)
    for want in WANTED:
        folder = options.runs / "-".join(want).replace(" ", "-").replace("=", "-")
        with open(f"{folder}.lock", "w") as busy:
            try:
                fcntl.flock(busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # another process has it
            if len(curves.rounds(want)) < ROUNDS // EVERY:
                run(options.kindred, want, folder, options.workers, curves)


main()
