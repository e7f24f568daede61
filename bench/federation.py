#!/usr/bin/env python3
"""How much longer a round over gRPC takes than in process: 5 clients, ResNet-18 of width 64.

Both sides interleaved: `kindred train` with two workers, and `kindred serve` with five `kindred join`
on loopback over mutual TLS, on the same cores. A round's seconds are those of metrics.jsonl: from the
announcement to the mean, without evaluation.

    bench/federation.py [KINDRED] [--turns 2] [--images 320]
"""
import argparse
import json
import pathlib
import socket
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def settings(images):
    pairs = {
        "data.name": "shapes", "data.limit": 5 * images, "partition.scheme": "iid",
        "partition.clients": 5, "model.arch": "resnet18", "model.width": 64, "model.bn_splits": 1,
        "train.rounds": 2, "train.epochs": 1, "train.batch": 32, "eval.every": 1000,
        "eval.limit": 10,
    }
    return [word for key, value in pairs.items() for word in ("--set", f"{key}={value}")]


def seconds(run):
    """The last round's: the first one waits for processes to start."""
    lines = [json.loads(line) for line in open(run / "metrics.jsonl")]
    return [line["seconds"] for line in lines if line["kind"] == "round"][-1]


def in_process(kindred, folder, options):
    subprocess.run([kindred, "train", *options, "--workers", "2", "--out", folder / "trained"],
                   check=True, capture_output=True)
    return folder / "trained"


def over_grpc(kindred, folder, options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    quiet = {"check": True, "capture_output": True}
    subprocess.run([kindred, "pki", "init", "--out", folder / "pki"], **quiet)
    for i in range(5):
        subprocess.run([kindred, "pki", "issue", f"c{i}", "--pki", folder / "pki", "--server",
                        address, "--out", folder / f"kit{i}"], **quiet)
    sink = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([kindred, "serve", *options, "--listen", address, "--pki",
                               folder / "pki", "--out", folder / "served"], **sink)
    clients = [subprocess.Popen([kindred, "join", "--kit", folder / f"kit{i}", *options, "--set",
                                 f"client.share={i}/5", "--set", "client.key=seeded", "--set",
                                 "train.workers=1", "--out", folder / f"joined{i}"], **sink)
               for i in range(5)]
    for process in [server, *clients]:
        if process.wait() != 0:
            raise SystemExit("a process of the federation failed")
    return folder / "served"


def digest(run):
    return json.load(open(run / "summary.json"))["model_digest"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kindred", nargs="?", default=ROOT / "build/release/kindred")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--images", type=int, default=320, help="of a client")
    arguments = parser.parse_args()
    ratios = []
    for turn in range(arguments.turns):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            options = settings(arguments.images)
            here = in_process(arguments.kindred, folder, options)
            there = over_grpc(arguments.kindred, folder, options)
            assert digest(here) == digest(there), "two digests"
            ratios.append(seconds(there) / seconds(here))
            print(f"turn {turn}: in process {seconds(here):.1f} s, "
                  f"gRPC {seconds(there):.1f} s, one digest", flush=True)
    print(f"ratio grpc round {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
