"""OpenEvolve in a process of its own, from the program of a run until nothing is left to try.

Its choices follow from the seed: identifiers, whose order decides what is drawn, are made from it.
Usage: python -m lab.openevolve.process SETTINGS, as JSON; stdin stays open for as long as
whoever asked lives.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import uuid
from pathlib import Path
from typing import Any

from lab.openevolve import evaluator

TEXT = 10_000_000
"""Characters that a program may have; operators are longer than OpenEvolve's limit of 10,000."""


def main(settings: dict[str, Any]) -> None:
    """Evolve the program in the folder that `settings` name."""
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    _seed_identifiers(settings["seed"])

    from openevolve import OpenEvolve
    from openevolve.config import (
        Config,
        DatabaseConfig,
        EvaluatorConfig,
        LLMConfig,
        LLMModelConfig,
    )

    folder, address = Path(settings["folder"]), os.environ[evaluator.ADDRESS]
    asked = {
        "api_base": f"{address}/v1",
        "api_key": "none",
        "timeout": int(evaluator.SECONDS),
        "retries": 0,
        "retry_delay": 0,
        "temperature": 0.0,
        "max_tokens": TEXT,
    }
    model = LLMModelConfig(name="ascendopt", **asked)
    config = Config(
        max_iterations=settings["iterations"],
        checkpoint_interval=settings["iterations"] + 1,
        log_level="WARNING",
        random_seed=settings["seed"],
        language="cpp",
        file_suffix=".cpp",
        llm=LLMConfig(models=[model], evaluator_models=[model], **asked),
        database=DatabaseConfig(
            num_islands=settings["islands"],
            migration_interval=settings["migrate_every"],
            random_seed=settings["seed"],
            log_prompts=False,
        ),
        evaluator=EvaluatorConfig(
            timeout=int(evaluator.SECONDS),
            max_retries=0,
            cascade_evaluation=False,
            parallel_evaluations=1,
        ),
        diff_based_evolution=False,
        max_code_length=TEXT,
    )
    evolution = OpenEvolve(
        str(folder / "program.cpp"), str(evaluator.__file__), config, str(folder / "out")
    )
    asyncio.run(evolution.run())


def _seed_identifiers(seed: int) -> None:
    """Make `uuid4` follow from the seed, in each of OpenEvolve's processes on its own."""
    drawn: dict[str, random.Random] = {}

    def uuid4() -> uuid.UUID:
        name = multiprocessing.current_process().name
        draw = drawn.setdefault(name, random.Random(f"{seed} {name}"))
        return uuid.UUID(int=draw.getrandbits(128), version=4)

    uuid.uuid4 = uuid4


def _end_with(asker: int) -> None:
    """Nothing stays when the run is over or was killed: this process leads its own group."""
    while os.read(asker, 1):
        pass
    os.killpg(os.getpgid(0), signal.SIGKILL)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
