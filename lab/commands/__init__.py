"""Commands that a checkout adds to the command line: `bench` and `machine`.

`bot.cli.main` finds them by the name of their file; an installed wheel has none of them.
"""
