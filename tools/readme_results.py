#!/usr/bin/env python3
"""Writes the table of results in README.md and results/comparison.md from results/comparison.csv, between two marks.

    tools/readme_results.py           writes it
    tools/readme_results.py --check   says whether it is what it would write
"""
import csv
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- results: tools/readme_results.py -->", "<!-- end of results -->"
SETTINGS = {"oneclass": "10 clients, one class each", "noniid1": "5 clients, two classes each", "iid": "5 clients, IID",
            "centralized": "one client, all images"}
METHODS = {"simclr": "FedSimCLR", "cl": "CL: momentum contrast", "ccl ccl.lambda=0": "CL+FF: with feature fusion",
           "ccl": "CCL: with feature fusion and matching", "fedca": "FedCA", "deepcluster": "FedDC", "swav": "FedSwAV", "rotation": "FedRot"}


def cell(numbers, best):
    if not numbers:
        return "-"
    text = f"{statistics.mean(numbers):.2f}"
    if best:
        text = f"**{text}**"
    return f"{text} ± {statistics.stdev(numbers):.2f}" if len(numbers) > 1 else f"{text} (one seed)"


def table(rows):
    numbers = {}
    for row in rows:
        method = f"{row['method']} {row['settings']}".strip()
        if row["dataset"] == "cifar10" and method in METHODS:
            numbers.setdefault((method, row["setting"]), []).append(float(row["linear"]))
    lines = ["| | " + " | ".join(SETTINGS.values()) + " |", "|---" * (len(SETTINGS) + 1) + "|"]
    for method, title in METHODS.items():
        cells = []
        for setting in SETTINGS:
            here = {m: statistics.mean(found) for (m, s), found in numbers.items() if s == setting and m in METHODS}
            cells.append(cell(numbers.get((method, setting)), here and here.get(method) == max(here.values())))
        if any(text != "-" for text in cells):
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    rows = list(csv.DictReader((ROOT / "results/comparison.csv").open()))
    for path in (ROOT / "README.md", ROOT / "results/comparison.md"):
        text = path.read_text()
        before, rest = text.split(BEGIN)
        _, after = rest.split(END)
        wanted = before + BEGIN + "\n" + table(rows) + "\n" + END + after
        if "--check" not in sys.argv:
            path.write_text(wanted)
        elif text != wanted:
            raise SystemExit(f"{path.name}: its results are not those of results/comparison.csv: run tools/readme_results.py")


main()
