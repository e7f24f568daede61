#!/usr/bin/env python3
"""How long commands that learn nothing take to answer, as a ratio to /bin/true.

    bench/startup.py [--program build/release/kindred] [--turns 30]

The commands take turns in one run; medians of wall time are compared.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

COMMANDS = {
    'version': ['--version'],
    'help': ['--help'],
    'help train': ['help', 'train'],
    'list': ['list'],
    'config show': ['config', 'show'],
    'data list': ['data', 'list'],
    'pki list': ['pki', 'list', '--pki', 'PKI'],
    'doctor network': ['doctor', '--network', '--pki', 'PKI', '--listen', '127.0.0.1:0'],
}


def seconds(words, folder):
    start = time.perf_counter()
    code = subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    if code != (4 if 'doctor' in words else 0):  # the doctor misses clients that are enrolled
        sys.exit(f'{words}: exit code {code}')
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/release/kindred')
    parser.add_argument('--turns', type=int, default=30)
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, 'pki', 'init', '--out', 'PKI'], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        words = {'true': ['/bin/true']} | {name: [program, *rest] for name, rest in COMMANDS.items()}
        times = {name: [] for name in words}
        for _ in range(options.turns):
            for name, command in words.items():
                times[name].append(seconds(command, folder))
    base = statistics.median(times['true'])
    for name, each in times.items():
        median = statistics.median(each)
        print(f'ratio startup {name}: {median / base:.1f} ({1e3 * median:.1f} ms)')


main()
