#!/usr/bin/python3
"""Views per second on one core: Kindred beside torchvision's PIL pipeline doing the same operations.

Both sides take turns in one run; the ratio is that of the medians. `make bench` installs
python3-torchvision, builds bench_views and runs this.
"""
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torchvision
from PIL import Image
from torchvision import transforms as T

TURNS, IMAGES = 9, 500
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "build", "release", "bench", "bench_views")

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
torch.set_num_threads(1)
torch.manual_seed(0)
pipeline = T.Compose([
    T.RandomResizedCrop(32, scale=(0.2, 1.0)), T.RandomHorizontalFlip(),
    T.RandomApply([T.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8), T.RandomGrayscale(p=0.2),
    T.ToTensor(), T.Normalize((0.5,) * 3, (0.25,) * 3)])
pixels = np.random.default_rng(0).integers(0, 256, (IMAGES, 32, 32, 3), dtype=np.uint8)
images = [Image.fromarray(p) for p in pixels]


def theirs():
    start = time.perf_counter()
    for image in images:
        pipeline(image)
        pipeline(image)
    return 2 * IMAGES / (time.perf_counter() - start)


def ours():
    return float(subprocess.run([PROGRAM, "5000"], check=True, capture_output=True).stdout)


if not os.path.exists(PROGRAM):
    sys.exit(f"{PROGRAM} is missing: run `make bench`")
theirs(), ours()
rates = [(ours(), theirs()) for _ in range(TURNS)]
kindred, peer = (statistics.median(side) for side in zip(*rates))
print(f"kindred                 {kindred:10.0f} views/s (median of {TURNS})")
print(f"torchvision {torchvision.__version__:11s} {peer:10.0f} views/s (median of {TURNS})")
print(f"ratio views {kindred / peer:.1f}")
