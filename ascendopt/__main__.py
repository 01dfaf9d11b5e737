"""The command `ascendopt`, also as `python -m ascendopt`."""

from bot.cli.main import main

if __name__ == "__main__":
    main()
