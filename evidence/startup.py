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
    code = f'import site; site.addsitedir({folder!r})'
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, '-I', '-S', '-c', code])
    return time.perf_counter() - begin


def start_file():
    folders = site.getsitepackages() + [site.getusersitepackages()]
    for folder in folders:
        for path in glob(os.path.join(folder, 'keras-clone.pth')):
            return path
    sys.exit(f'keras-clone is not installed for {sys.executable}.')


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
    print(f'Python {sys.version.split()[0]}, {runs} starts of each, medians')
    print(f'without the overlay  {1e3 * before:6.2f} ms')
    print(f'with the overlay     {1e3 * after:6.2f} ms')
    print(f'difference           {1e3 * added:6.2f} ms  (goal: under 1 ms)')


if __name__ == '__main__':
    main()
