"""The evaluator that OpenEvolve loads: asks the run for the score of a program.

Runs in OpenEvolve's processes, so it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path

ADDRESS = "ASCENDOPT_OPENEVOLVE"
"""Environment variable with the address of the run."""

SECONDS = 3600.0
"""No evaluation takes longer; the judge has its own limits."""


def evaluate(program_path: str) -> dict[str, float]:
    """OpenEvolve's metrics of the program in a file: `combined_score` alone."""
    request = urllib.request.Request(
        f"{os.environ[ADDRESS]}/score", data=Path(program_path).read_bytes(), method="POST"
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return {"combined_score": float(json.load(answer)["score"])}
