#!/usr/bin/env python3
"""Writes README's table of results from results/lab/tables.json, between its two marks.

    tools/readme_results.py           writes it
    tools/readme_results.py --check   says whether it is what it would write
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- results: tools/readme_results.py -->", "<!-- end of results -->"


def marked(text, place):
    return f"**{text}**" if place == 1 else f"<u>{text}</u>" if place == 2 else text


def printed(cell, number, text):
    """As the program rounded it; tables of before it said that are rounded here."""
    return cell.get(text, f"{cell[number]:.2f}")


def cell_text(cell):
    text = "-"
    if "mean" in cell:
        text = marked(printed(cell, "mean", "text"), cell["place"])
        if "deviation" in cell:
            text += f" ± {printed(cell, 'deviation', 'deviation_text')}"
        if "seeds_note" in cell:
            text += f", {cell['seeds_note']}"
    if "paper" in cell:
        text += f" ({marked(printed(cell, 'paper', 'paper_text'), cell['paper_place'])})"
    return text


def table_text(table):
    columns = [i for i, column in enumerate(table["columns"]) if any("mean" in row[i] for row in table["cells"])]
    lines = ["| | " + " | ".join(table["columns"][i]["title"] for i in columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for row, cells in zip(table["rows"], table["cells"]):
        if any("mean" in cells[i] for i in columns):
            lines.append(f"| {row['title']} | " + " | ".join(cell_text(cells[i]) for i in columns) + " |")
    return "\n".join(lines)


def main():
    tables = json.loads((ROOT / "results/lab/tables.json").read_text())["tables"]
    linear = next(table for table in tables if table["name"] == "linear")
    readme = ROOT / "README.md"
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    wanted = f"{head}{BEGIN}\n{table_text(linear)}\n{END}{tail}"
    if "--check" in sys.argv[1:]:
        if wanted != text:
            raise SystemExit("README's results are not those of results/lab/tables.json: run tools/readme_results.py")
        return
    readme.write_text(wanted)


main()
