#!/usr/bin/env python3
"""What a live page costs the run: CPU time with one that is watched, to the same run without, taking turns.

Every run also makes page/*.json, for the report: each file says how long that took, and it is counted as the page's too.

    bench/dashboard.py [--turns 5] [--rounds 12] [KINDRED]
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def watch(url, token, stop):
    """What a page does: the data, then events, and the parts that change."""
    def ask(path):
        return urllib.request.urlopen(urllib.request.Request(url + path, headers={"Authorization": "Bearer " + token}))
    try:
        data = json.load(ask("/data"))
        for line in ask("/events?from=" + data["next"]):
            if stop.is_set():
                return
            if line.startswith(b'data: "'):
                ask("/part/" + json.loads(line[6:])).read()
    except OSError:
        pass  # the run has ended


def train(kindred, folder, rounds, dashboard):
    out = os.path.join(folder, "run")
    shutil.rmtree(out, ignore_errors=True)
    command = [kindred, "train", "--config", os.path.join(ROOT, "configs/lab.toml"), "--set", "data.name=shapes", "--set", "data.limit=2000",
               "--set", f"train.rounds={rounds}", "--set", "train.epochs=1", "--set", "eval.every=2", "--set", "eval.limit=500", "--workers", "1", "--out", out]
    if dashboard:
        command += ["--dashboard", "127.0.0.1:0"]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    stop = threading.Event()
    for line in child.stderr:
        found = re.search(r"dashboard: (http://[^/]+)/#token=(\w+)", line)
        if found:
            threading.Thread(target=watch, args=(*found.groups(), stop), daemon=True).start()
    _, status, usage = os.wait4(child.pid, 0)
    stop.set()
    if status != 0:
        raise SystemExit(f"the run failed: {status}")
    return usage.ru_utime + usage.ru_stime, seconds_of_parts(out)


def seconds_of_parts(out):
    """What making page/*.json took: clients and samples once, the embedding at each look of the kNN monitor."""
    seconds = {}
    for name in ("clients", "samples", "embedding"):
        with open(os.path.join(out, "page", name + ".json")) as file:
            seconds[name] = json.load(file)["seconds"]
    with open(os.path.join(out, "metrics.jsonl")) as file:
        looks = sum(json.loads(line)["kind"] == "knn" for line in file)
    return seconds["clients"] + seconds["samples"] + looks * seconds["embedding"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("kindred", nargs="?", default=os.path.join(ROOT, "build/release/kindred"))
    options = parser.parse_args()
    ratios, wholes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.turns):
            order = [False, True] if turn % 2 == 0 else [True, False]
            seconds, parts = {}, {}
            for each in order:
                seconds[each], parts[each] = train(options.kindred, folder, options.rounds, each)
            ratios.append(seconds[True] / seconds[False])
            wholes.append(seconds[True] / (seconds[False] - parts[False]))
            print(f"turn {turn}: CPU seconds {seconds[False]:.2f} without, {seconds[True]:.2f} with a page; "
                  f"{parts[False]:.3f} s of either are page/*.json", flush=True)
    print(f"ratio dashboard {sorted(ratios)[len(ratios) // 2]:.4f}")
    print(f"ratio dashboard_and_parts {sorted(wholes)[len(wholes) // 2]:.4f}")


main()
