"""Run every benchmark in turn, each in a process of its own so that none pays for what another left in memory.

`python -m tests.bench [NAME …]` runs those whose name contains one of the words, without words all.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE.parent), os.getenv("PYTHONPATH"))))}
"""Benchmarks find what they share with the tests."""


def main(wanted: list[str]) -> int:
    """Run the benchmarks; the exit code is the number of those that failed."""
    failed = []
    for path in sorted(HERE.glob("bench_*.py")):
        if wanted and not any(word in path.stem for word in wanted):
            continue
        print(f"\n== {path.stem}", flush=True)
        start = time.perf_counter()
        command = [sys.executable, "-m", f"tests.bench.{path.stem}"]
        done = subprocess.run(command, cwd=HERE.parents[1], env=ENVIRONMENT, check=False)
        print(f"-- {time.perf_counter() - start:.1f} s", flush=True)
        if done.returncode:
            failed.append(path.stem)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
