#!/usr/bin/python3
"""A whole CCL round for five clients, ResNet-18 of width 64 and 16: Kindred beside PyTorch.

Kindred runs as its users run it (`kindred train`, one worker per core) on drawn images; the peer is
bench/peer/ccl_round.py with all cores in every operation. Both train on equally many images, make
two views of each and encode equally many. Where they differ: the peer's matching is one log-softmax
instead of the paper's entropy, and its bank is full from the start. They take turns in one run, and the ratio is that of
the medians of rounds in which remote features exist. `make bench` installs python3-torchvision and
runs this.

    bench/round.py [--turns N] [--widths 64,16] [--loaders 0,2]

With --beside PROGRAM, another build of Kindred takes the peer's place.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

arguments = argparse.ArgumentParser()
arguments.add_argument("--turns", type=int, default=3)
arguments.add_argument("--widths", default="64,16")
arguments.add_argument("--loaders", default=f"0,{os.cpu_count()}",
                       help="processes that make the peer's views; the fastest counts")
arguments.add_argument("--images", type=int, default=256, help="of a client, at width 64")
arguments.add_argument("--beside", metavar="PROGRAM", help="another build of kindred, instead of PyTorch")
args = arguments.parse_args()
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "..", "build", "release", "kindred")
CLIENTS, BATCH, BANK = 5, 128, 1024
if not os.path.exists(PROGRAM):
    sys.exit(f"{PROGRAM} is missing: run `make bench`")


def ours(width, images, program=PROGRAM):
    """Seconds of the second of two rounds: in the first there are no remote features."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "data.name": "shapes", "data.limit": CLIENTS * images, "data.size": 32,
            "partition.scheme": "iid", "partition.clients": CLIENTS, "model.arch": "resnet18",
            "model.width": width, "model.bn_splits": 1, "method.name": "ccl", "ccl.bank": BANK,
            "ccl.warmup": 0, "train.rounds": 2, "train.epochs": 1, "train.batch": BATCH,
            "eval.every": 1000, "eval.limit": 1, "train.lr": 0.03}
        words = [w for key, value in settings.items() for w in ("--set", f"{key}={value}")]
        subprocess.run([program, "train", "--out", f"{folder}/run", *words], check=True,
                       capture_output=True)
        with open(f"{folder}/run/metrics.jsonl") as lines:
            rounds = [r for r in map(json.loads, lines) if r["kind"] == "round"]
        if rounds[1]["images"] != CLIENTS * images or "remote_cosine" not in rounds[1]:
            sys.exit("the round is not what it should be")
        return rounds[1]["seconds"]


class Other:
    """Another build of Kindred."""

    def __init__(self, width, images):
        self.width, self.images = width, images

    def round(self):
        return ours(self.width, self.images, os.path.abspath(args.beside))

    def close(self):
        pass


class Peer:
    def __init__(self, width, images, workers):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", os.path.join(HERE, "peer", "ccl_round.py"), "--width", str(width),
             "--images", str(images), "--batch", str(BATCH), "--bank", str(BANK), "--clients",
             str(CLIENTS), "--workers", str(workers)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


ratios = []
for width in map(int, args.widths.split(",")):
    images = args.images if width >= 64 else 4 * args.images
    if args.beside:
        peers, names = [Other(width, images)], [args.beside]
    else:
        loaders = [int(count) for count in args.loaders.split(",")]
        peers = [Peer(width, images, count) for count in loaders]
        names = [f"PyTorch, views by {count or 'no'} further processes" for count in loaders]
    for peer in peers:
        peer.round()
    ours(width, images)
    times = [[ours(width, images)] + [peer.round() for peer in peers] for _ in range(args.turns)]
    for peer in peers:
        peer.close()
    kindred, *theirs = (statistics.median(side) for side in zip(*times))
    seen = CLIENTS * images
    print(f"width {width}, {CLIENTS} clients x {images} images, batch {BATCH} "
          f"(median of {args.turns}; all turns: {[[round(t, 2) for t in turn] for turn in times]})")
    print(f"  {seen / kindred:8.1f} images/s, kindred")
    for name, seconds in zip(names, theirs):
        print(f"  {seen / seconds:8.1f} images/s, {name}", flush=True)
    ratios.append(f"ratio round w{width} {min(theirs) / kindred:.2f}")
print("\n".join(ratios))
