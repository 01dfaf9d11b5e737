"""The command `ascendopt`, also as `python -m ascendopt`."""

import sys


def main() -> None:
    """Entry point of the `ascendopt` command; Ctrl-C while it is read is no traceback either."""
    try:
        from bot.cli.main import main as run
    except KeyboardInterrupt:
        print("ascendopt: error: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
