#!/usr/bin/env python3
"""How rounds scale from one MPI rank to two, beside a pure multiply-add loop; what the ranks' talk costs.

Interleaved: the loop, one rank, two ranks, a worker each. A round's seconds are those of metrics.jsonl, without evaluation.

    bench/ranks.py [KINDRED] [BENCH_FMA] [--turns 3]
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCALING = {"partition.clients": 10, "data.limit": 3200, "model.arch": "resnet10", "model.width": 16,
           "train.batch": 64}
TALKING = {"partition.clients": 4, "data.limit": 512, "model.arch": "resnet18", "model.width": 64,
           "train.batch": 32}
ALL = {"data.name": "shapes", "partition.scheme": "iid", "model.bn_splits": 1, "train.rounds": 2,
       "train.epochs": 1, "train.workers": 1, "eval.every": 1000, "eval.limit": 10}


def train(kindred, ranks, settings):
    """The summary of a run, and the seconds of its last round."""
    words = [word for key, value in {**ALL, **settings}.items() for word in ("--set", f"{key}={value}")]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", kindred, "train",
                        *words, "--out", run], check=True, capture_output=True, env=environment)
        rounds = [json.loads(line) for line in open(run / "metrics.jsonl")]
        summary = json.loads((run / "summary.json").read_text())
        return summary, [line["seconds"] for line in rounds if line["kind"] == "round"][-1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kindred", nargs="?", default=ROOT / "build/release/kindred")
    parser.add_argument("fma", nargs="?", default=ROOT / "build/release/bench/bench_fma")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    loop, scaled = [], []
    for turn in range(options.turns):
        loop.append(float(subprocess.run([options.fma], check=True, capture_output=True, text=True).stdout))
        one, two = (train(options.kindred, ranks, SCALING) for ranks in (1, 2))
        assert one[0]["model_digest"] == two[0]["model_digest"]
        scaled.append(one[1] / two[1])
        print(f"turn {turn}: the loop {loop[-1]:.3f}, a round of 10 clients {scaled[-1]:.3f}", flush=True)
    print(f"ratio ranks {statistics.median(scaled) / statistics.median(loop):.3f}")
    summary, _ = train(options.kindred, 2, TALKING)
    spent = summary["rank_seconds"]
    print(f"ResNet-18 of width 64, 4 clients of 128 images on 2 ranks: {summary['seconds']:.1f} s of rounds, "
          f"{spent['talking']:.2f} s talking, {spent['waiting']:.2f} s waiting for the slower rank")
    print(f"share talking {spent['talking'] / summary['seconds']:.4f}")


if __name__ == "__main__":
    main()
