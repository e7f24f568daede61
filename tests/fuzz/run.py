#!/usr/bin/env python3
"""Runs the fuzz targets one after the other, each for its share of the time.

    run.py [--seconds N] [--runs N] [TARGET...]     (after `cmake --build --preset fuzz`)

--seconds is for all targets together, --runs the executions of each; with both, what comes first
ends a target. Inputs that are found are kept in build/fuzz/corpus, those that crash in
build/fuzz/crashes. Prints a row per target and fails when one crashed.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / 'build' / 'fuzz'


def command(target, seconds, runs):
    found, crashes = BUILD / 'corpus' / target, BUILD / 'crashes'
    found.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    words = [BUILD / 'tests' / 'fuzz' / f'{target}_fuzz', '-print_final_stats=1', '-timeout=10',
             f'-artifact_prefix={crashes}/{target}-']
    if seconds:
        words.append(f'-max_total_time={seconds}')
    if runs:
        words.append(f'-runs={runs}')
    dictionary = HERE / f'{target}.dict'
    if dictionary.exists():
        words.append(f'-dict={dictionary}')
    return words + [found, HERE / 'corpus' / target]


def fuzz(target, seconds, runs):
    """Runs one target; prints its row. True: it did not crash."""
    start = time.monotonic()
    log = BUILD / f'{target}.log'
    with open(log, 'wb') as out:
        code = subprocess.run(command(target, seconds, runs), stdout=out, stderr=out).returncode
    text = log.read_text(errors='replace')
    executions = re.findall(r'stat::number_of_executed_units: (\d+)', text)
    edges = re.findall(r'cov: (\d+)', text)
    print(f'| {target} | {int(executions[-1]) if executions else 0:,} | {time.monotonic() - start:.0f} '
          f'| {int(edges[-1]) if edges else 0:,} | {"crashed, see " + str(log) if code else "none"} |', flush=True)
    return code == 0


def main():
    asked = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    asked.add_argument('--seconds', type=int, default=0)
    asked.add_argument('--runs', type=int, default=0)
    asked.add_argument('targets', nargs='*')
    options = asked.parse_args()
    if options.seconds <= 0 and options.runs <= 0:
        asked.error('give --seconds or --runs')
    targets = options.targets or sorted(file.name[:-8] for file in HERE.glob('*_fuzz.cc'))
    share = max(1, options.seconds // len(targets)) if options.seconds else 0
    print('| target | executions | seconds | edges | crashes |\n|---|---|---|---|---|')
    return 0 if all([fuzz(target, share, options.runs) for target in targets]) else 1


sys.exit(main())
