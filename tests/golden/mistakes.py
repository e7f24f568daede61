#!/usr/bin/python3
"""Prints what a mistake would change in baselines.json and moco.json, beside what the tests allow.

Run with Debian's python3-torch (1.13.1): tests/golden/mistakes.py
A mistake is an edit of a script. The number is the largest change of a loss or of a tensor's norm,
relative as in tests/golden_steps.h: a test sees the mistake when it is above the test's tolerance.
"""
import contextlib
import io
import json
import pathlib
import re
import sys
import types

FOLDER = pathlib.Path(__file__).parent
NORM = [("no split of batch norm", "8, 16, 4, 16, 2", "8, 16, 4, 16, 1"),
        ("batch norm's epsilon 1e-4", "1e-5", "1e-4"),
        ("running statistics move by 0.11", "True, 0.1,", "True, 0.11,"),
        ("running statistics of the first split", "SPLITS, c).mean(0)", "SPLITS, c)[0]")]
SGD = [("no weight decay", ", weight_decay=5e-4", ""), ("SGD's momentum 0.89", "momentum=0.9,", "momentum=0.89,")]
# Of a method: what is wrong, what is replaced, by what.
MISTAKES = {
    "simclr": [("tau 0.51", "z @ z.T / 0.5", "z @ z.T / 0.51"),
               ("a view is its own negative", "logits.fill_diagonal_(float(\"-inf\"))", "pass"),
               ("the first views alone are queries", "F.cross_entropy(logits, partner)",
                "F.cross_entropy(logits[:B], partner[:B])"),
               ("no gradient to the other views", "z @ z.T", "z @ z.detach().T")],
    "rotation": [("turned clockwise", "torch.rot90(one, r,", "torch.rot90(one, -r,"),
                 ("labels repeated the other way", "repeat_interleave(B)", "repeat(B)")],
    "byol": [("target's momentum 0.91", "24, 12, 0.9,", "24, 12, 0.91,"),
             ("the target stays", "t.data = MOMENTUM * t.data + (1 - MOMENTUM) * p.data", "pass"),
             ("half the loss", "return (p1 - t2).square().sum(1).mean() + (p2 - t1).square().sum(1).mean()",
              "return ((p1 - t2).square().sum(1).mean() + (p2 - t1).square().sum(1).mean()) / 2"),
             ("a view predicts itself", "(p1 - t2).square().sum(1).mean() + (p2 - t1)",
              "(p1 - t1).square().sum(1).mean() + (p2 - t2)"),
             ("the second view first", "self.project(x))) for x in (one, two))\n        return (p1",
              "self.project(x))) for x in (two, one))\n        p1, p2 = p2, p1\n        return (p1")],
    "simsiam": [("no stop of the gradient", ".detach()", ""),
                ("twice the loss", "F.cosine_similarity(p2, z1.detach()).mean()) / 2",
                 "F.cosine_similarity(p2, z1.detach()).mean())")],
    "swav": [("two iterations of Sinkhorn", "range(3):\n            q /=", "range(2):\n            q /="),
             ("epsilon 0.051", "scores / 0.05)", "scores / 0.051)"),
             ("not swapped", "(q2 * F.log_softmax(s1 / 0.1, 1)).sum(1) + (q1",
              "(q1 * F.log_softmax(s1 / 0.1, 1)).sum(1) + (q2"),
             ("prototypes are not made unit", "after = begin", "after = lambda self: None")],
    "supervised": [("labels of the next image", "(torch.arange(B) + step)", "(torch.arange(B) + step + 1)")],
    "fedema": [("tau 0.71", "0.9, 3, 0.7", "0.9, 3, 0.71"),
               ("own and global exchanged", "mu * own[name] + (1 - mu) * tensor", "mu * tensor + (1 - mu) * own[name]"),
               ("running statistics are not merged", "if tensor.is_floating_point() else",
                "if tensor.is_floating_point() and \"running\" not in name else"),
               ("the predictor is not merged", "if tensor.is_floating_point() else",
                "if tensor.is_floating_point() and not name.startswith(\"predictor\") else")],
    "moco": [("momentum 0.91", "= 20, 0.1, 0.9", "= 20, 0.1, 0.91"),
             ("tau 0.101", "= 20, 0.1, 0.9", "= 20, 0.101, 0.9"),
             ("keys are not shuffled", "order = permutation(B, step)", "order = torch.arange(B)"),
             ("one key more in the bank", "STEPS = 20,", "STEPS = 21,"),
             ("a batch's own keys are negatives", "negatives], 1)", "negatives, queries @ keys.T], 1)"),
             ("a query's own earlier keys are negatives", ".masked_fill(own, -math.inf)", "")],
}


def run(script, method, edit=("", "", "")):
    """The script's numbers of a method, with an edit of it or of plain.py."""
    plain, text = ((FOLDER / name).read_text() for name in ("plain.py", script))
    text = re.sub(r"for name, kind in \(\(.*?\)\):", lambda m: f"for name, kind in (({method!r}, {method.title()}),):",
                  text, flags=re.S)
    if edit[1]:
        assert (edit[1] in plain) != (edit[1] in text), edit
        plain, text = plain.replace(*edit[1:]), text.replace(*edit[1:])
    sys.modules["plain"] = types.ModuleType("plain")
    exec(plain, sys.modules["plain"].__dict__)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(text, {"__name__": "__main__"})
    result = json.loads(out.getvalue())
    return result["plain" if method == "moco" else method]


def change(right, wrong):
    most = max(abs(a - b) / max(1, a) for a, b in zip(right["losses"], wrong["losses"]))
    for name, probes in right["tensors"].items():
        most = max(most, abs(probes[0] - wrong["tensors"][name][0]) / max(probes[0], 1e-3))
    return most


for method, mistakes in MISTAKES.items():
    script = "moco.py" if method == "moco" else "baselines.py"
    right = run(script, method)
    for edit in mistakes + NORM + SGD:
        print(f"{method:11} {edit[0]:40} {change(right, run(script, method, edit)):.0e}", flush=True)
