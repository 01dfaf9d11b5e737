"""Recordings of runs with models: written from a run's own tables."""

from __future__ import annotations

from pathlib import Path

from ci.model.amount import amount
from ci.model.errors import InputError


def record_run(run: Path, path: Path, out: Path) -> int:
    """Write the recording of a run on the operator at `path`; how many answers it holds.

    Raises InputError when the run is none of this original operator, or asked no model.
    """
    from ci.proposer.llm.call_log import read_calls
    from ci.proposer.llm.recorded_file import Head, without_code, write_recording
    from ci.search.task import hash_of_sources
    from ci.source.discovery import load_operator
    from ci.system.trial_store import TRIALS_FILE, TrialStore

    file = run / TRIALS_FILE if run.is_dir() else run
    if not file.is_file():
        raise InputError(f"There is no run at {run}; give the folder of one.")
    operator = load_operator(path)
    with TrialStore(file) as store:
        identity, trials = store.identity(), list(store.trials())
    if identity.get("sources") != hash_of_sources(operator):
        raise InputError(f"{run} is no run on the current {path}: the sources differ.")
    answers = list(without_code(read_calls(file), trials, operator))
    if not answers:
        raise InputError(f"{run} asked no model for a step that could be used.")
    kept = {k: identity[k] for k in ("operator", "sources", "workload", "models", "settings")}
    scores = [t.measurement.score_us for t in trials if t.measurement and t.outcome == "ok"]
    note = f"{scores[0]:.3f} us before, {min(scores):.3f} us after, {amount(len(trials), 'trial')}"
    write_recording(out, Head(operator=operator.name, identity=kept, note=note), answers)
    return len(answers)
