"""Entry of the `octavo` command and of `python -m octavo`."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from octavo.cli.main import run  # noqa: PLC0415 - importing this module must cost nothing

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
