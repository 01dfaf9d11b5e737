"""The engine that runs in your CI, not CI configuration: it builds, runs and judges operators.

It holds no forge token. This project's own CI is set up in `.ci/` and `.github/`.
"""
