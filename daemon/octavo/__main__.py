"""Entry of the `octavo` command and of `python -m octavo`."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["attach"]:
        # An editor waits for this one, and it needs neither options nor the other commands.
        from octavo.cli.attach import attach  # noqa: PLC0415 - importing this module must cost nothing

        sys.exit(attach())
    from octavo.cli.main import run  # noqa: PLC0415 - as above

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
