"""Measures what the overlay adds to the start of an interpreter.

    python benchmarks/startup.py [RUNS]

Starts this interpreter with the overlay's start file and without, in turns, and
prints the medians. Without RUNS, 200 of each.
"""
import os
import site
import statistics
import subprocess
import sys
import tempfile
import time
from glob import glob


def seconds_to_start(folder):
    """Times one interpreter that treats `folder` as it does site-packages."""
    code = 'import site; site.addsitedir({!r})'.format(folder)
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, '-I', '-S', '-c', code])
    return time.perf_counter() - begin


def start_file():
    folders = site.getsitepackages() + [site.getusersitepackages()]
    for folder in folders:
        for path in glob(os.path.join(folder, 'keras-clone.pth')):
            return path
    sys.exit('keras-clone is not installed for {}.'.format(sys.executable))


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    path = start_file()
    with open(path) as file:
        start = file.read()
    # Both know the folder of the installed package, one has the start file.
    known = os.path.dirname(path) + '\n'
    with tempfile.TemporaryDirectory() as without, \
            tempfile.TemporaryDirectory() as overlaid:
        for folder, text in ((without, known), (overlaid, known + start)):
            with open(os.path.join(folder, 'keras-clone.pth'), 'w') as file:
                file.write(text)
        times = [(seconds_to_start(without), seconds_to_start(overlaid))
                 for _ in range(runs)]
    before, after = map(statistics.median, zip(*times))
    added = statistics.median(second - first for first, second in times)
    print('Python {}, {} starts of each, medians'.format(
        sys.version.split()[0], runs))
    print('without the overlay  {:6.2f} ms'.format(1e3 * before))
    print('with the overlay     {:6.2f} ms'.format(1e3 * after))
    print('difference           {:6.2f} ms  (goal: under 1 ms)'.format(1e3 * added))


if __name__ == '__main__':
    main()
