#!/usr/bin/env python3
"""What a run of ctest ran: how many tests of each program, and which were skipped, by name.

    summary.py BUILD-FOLDER [PROGRAM...]

Reads what the shards left in BUILD-FOLDER/test-results/ and fails when a test that a program has is
in none of them, because no shard has it or the shard's program ended before it.
"""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml


def listed(program):
    """The names of the tests that a program has."""
    names, suite = set(), ''
    text = subprocess.run([program, '--gtest_list_tests'], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        word = line.split('#')[0].rstrip()
        if word.startswith('  '):
            names.add(suite + word.strip())
        elif word.endswith('.'):
            suite = word
    return names


def ran(folder, program):
    """The tests in the program's shards, by name."""
    tests = {}
    for file in sorted(folder.glob(program + '_*.xml')):
        for test in xml.parse(file).iter('testcase'):
            if test.get('status') == 'run':
                tests[test.get('classname') + '.' + test.get('name')] = test
    return tests


def scripts(file):
    """What tests that are no GoogleTest programs skipped: whole ones, and parts that they name."""
    found = []
    for test in xml.parse(file).iter('testcase') if file.exists() else []:
        lines = (test.findtext('system-out') or '').strip().splitlines()
        if test.find('skipped') is not None:
            found.append((test.get('name'), lines[-1] if lines else ''))
        else:
            found += [(test.get('name'), line) for line in lines if ': skipped, ' in line]
    return found


def main():
    build = pathlib.Path(sys.argv[1])
    programs = sys.argv[2:] or ['kindred_tests', 'kindred_torch_tests', 'kindred_fuzz_replay',
                                'kindred_program_tests']
    total = failed = 0
    skipped, lost = [], []
    for program in programs:
        names, tests = listed(build / 'tests' / program), ran(build / 'test-results', program)
        lost += [f'{program} {name}' for name in sorted(names - tests.keys())
                 if not name.split('.')[1].startswith('DISABLED_')]
        wrong = [name for name, test in tests.items() if test.find('failure') is not None]
        skips = [(name, test.find('skipped').get('message', '').strip().split('\n')[-1])
                 for name, test in tests.items() if test.find('skipped') is not None]
        total, failed = total + len(tests), failed + len(wrong)
        skipped += skips
        print(f'{program}: {len(names)} tests, {len(tests)} ran, {len(wrong)} failed, {len(skips)} skipped')
    skipped += scripts(build / 'test-results' / 'ctest.xml')
    for name, why in skipped:
        print(f'skipped: {name}: {why}' if why else f'skipped: {name}')
    for name in lost:
        print(f'did not run: {name}')
    print(f'{total - failed - len(skipped)} passed, {failed} failed, {len(skipped)} skipped')
    return 1 if lost or failed else 0


sys.exit(main())
