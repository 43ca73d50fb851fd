"""Write the derived files of a checkout, or check that they are up to date."""

import argparse
import sys
from pathlib import Path

from octavo_protocol.generate.outputs import outputs, stale


def main(argv: list[str] | None = None) -> int:
    """Write or check; return the exit status: 1 when `--check` found a stale file."""
    parser = argparse.ArgumentParser(prog="python -m octavo_protocol.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[3], help="root of the checkout")
    options = parser.parse_args(argv)
    old = stale(options.root)
    for path in old:
        sys.stdout.write(f"{'stale' if options.check else 'wrote'} {path.relative_to(options.root)}\n")
    if options.check:
        return 1 if old else 0
    files = outputs(options.root)
    for path in old:
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
