"""The public names of `ascendopt`: listed, stable, and imported only when they are used."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import ascendopt
from ascendopt import reference

NAMES = {
    "Bank",
    "Cancelled",
    "Comparison",
    "CreatedOperator",
    "DerivedWorkload",
    "Environment",
    "EnvironmentProblem",
    "Evaluation",
    "InputError",
    "Operator",
    "Optimization",
    "OptimizationResult",
    "ProfileResult",
    "__version__",
    "census",
    "create",
    "derive_workload",
    "env",
    "evaluate",
    "load",
    "optimize",
    "profile",
}
"""A name that goes from here breaks users' programs: say so in CHANGELOG.md, in a new version."""

PARAMETERS = {
    "load": ["path", "workload", "backend", "device", "asc_headers"],
    "evaluate": ["operator", "workload", "patch", "uncertainty", "conditions"],
    "profile": ["operator", "workload", "patch", "out"],
    "optimize": ["operator", "workload", "budget", "out", "settings"],
    "derive_workload": ["operator", "out", "device", "cases"],
    "env": ["operator", "workload", "steps", "pool"],
    "census": ["repository", "out", "on_row", "settings"],
    "create": [
        *("function", "cases", "out", "dtype", "attrs", "name", "proposer", "models", "device"),
        "say",
    ],
}


MEMBERS = {
    "Bank": {"get", "search", "stats", "to_dataframe", "tuples"},
    "Comparison": {"members", "range", "speedup", "to_dataframe"},
    "CreatedOperator": {"to_dataframe"},
    "DerivedWorkload": {"file", "to_dataframe"},
    "Environment": {"baseline", "close", "evaluate_batch", "reset", "step"},
    "Evaluation": {"ok", "plot", "reason", "score_us", "to_dataframe"},
    "Operator": {
        *("candidate", "cases", "compare", "evaluate", "name", "optimize", "profile"),
        *("session", "sources", "verify"),
    },
    "Optimization": {"cancel", "done", "result"},
    "OptimizationResult": {"folder", "patch", "plot", "to_dataframe"},
    "ProfileResult": {"evaluation", "plot", "to_dataframe"},
}
"""The same for methods and properties. Fields of results are those of `ci.model`."""


def test_the_public_names_are_these() -> None:
    assert set(ascendopt.__all__) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_public_name_is_there_and_says_what_it_is(name: str) -> None:
    assert getattr(ascendopt, name).__doc__


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_the_parameters_of_a_public_function_stay(name: str) -> None:
    assert list(inspect.signature(getattr(ascendopt, name)).parameters) == PARAMETERS[name]


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_the_members_of_a_public_class_stay(name: str) -> None:
    assert {member for member, _ in reference.members(getattr(ascendopt, name))} == MEMBERS[name]


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'open_session'"):
        ascendopt.open_session  # noqa: B018


def test_importing_ascendopt_imports_nothing_heavy() -> None:
    program = (
        "import sys; before = set(sys.modules); import ascendopt;"
        "print(*{m.partition('.')[0] for m in set(sys.modules) - before})"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert set(said.stdout.split()) - sys.stdlib_module_names == {"ascendopt"}
