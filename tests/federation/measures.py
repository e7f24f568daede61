"""What a running coordinator takes, and how far it is: for tests that look for leaks."""
import json
import os
import pathlib
import re

import numpy


class Coordinator:
    """A `kindred serve` and the folder that it writes."""

    def __init__(self, program, out):
        self.program, self.out, self.read = program, pathlib.Path(out), 0

    def memory(self):
        """Resident now, in MB; 0 when it is gone."""
        try:
            status = pathlib.Path(f"/proc/{self.program.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
        except (OSError, AttributeError):
            return 0

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.program.pid}/fd"))
        except OSError:
            return 0

    def new_rounds(self):
        """The lines of rounds that metrics.jsonl has got since the last call."""
        path = self.out / "metrics.jsonl"
        if not path.exists():
            return []
        with open(path, "rb") as file:
            file.seek(self.read)
            more = file.read()
        whole = more[:more.rfind(b"\n") + 1]
        self.read += len(whole)
        lines = [json.loads(line) for line in whole.splitlines()]
        return [line for line in lines if line["kind"] == "round"]


def slope_of(places, values):
    """Of the line through these points; nan for fewer than three."""
    return float(numpy.polyfit(list(places), values, 1)[0]) if len(values) > 2 else float("nan")
