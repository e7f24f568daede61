#!/usr/bin/python3
"""Linear evaluation of 10,000 features: Kindred's `fast` beside scikit-learn's logistic regression.

Both solve the same problem (L2 with C = 1) on the same features, h of Fashion-MNIST by a random
ResNet-10, in turns in one run; the ratio is that of the medians. Kindred's time includes the choice
of its learning rate; both have two cores. `make bench` installs
python3-sklearn, builds bench_linear and runs this.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

TURNS, COUNT = 3, 10000
PROGRAM = os.path.join(os.path.dirname(__file__), "..", "build", "release", "bench", "bench_linear")


def theirs(h, y):
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(max_iter=2000).fit(h, y)
    return time.perf_counter() - start, model.score(h, y), bool(caught)


def ours(folder, dim):
    run = subprocess.run([PROGRAM, "fit", str(COUNT), str(dim), f"{folder}/h.npy", f"{folder}/y.txt"],
                         check=True, capture_output=True, text=True)
    return [float(word) for word in run.stdout.split()]


if not os.path.exists(PROGRAM):
    sys.exit(f"{PROGRAM} is missing: run `make bench`")
for width in (16, 64):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROGRAM, "features", str(width), str(COUNT), f"{folder}/h.npy",
                        f"{folder}/y.txt"], check=True)
        h, y = np.load(f"{folder}/h.npy"), np.loadtxt(f"{folder}/y.txt", dtype=int)
        pairs = [(ours(folder, h.shape[1]), theirs(h, y)) for _ in range(TURNS)]
    own = statistics.median(pair[0][0] for pair in pairs)
    peer = statistics.median(pair[1][0] for pair in pairs)
    print(f"{h.shape[1]} features: kindred {own:.2f} s (fits {100 * pairs[0][0][1]:.2f} % of them), "
          f"scikit-learn {peer:.2f} s ({100 * pairs[0][1][1]:.2f} %"
          f"{', not converged' if pairs[0][1][2] else ''})")
    print(f"ratio linear {h.shape[1]} {peer / own:.1f}")
