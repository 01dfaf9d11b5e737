"""The one front of `ci`: what commands and the bot may ask, with the data models of `ci.model`.

`session` opens an operator with all that evaluates it, `operators` finds operators, `proposers` the
proposer that options name. `open_bank` opens a bank, `bank` keeps it in order; `facts` says what
doctor and the documentation need. Everything heavy is imported when it is asked for: `--help` and
`doctor` must work without the numeric libraries.
"""
