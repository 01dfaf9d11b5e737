"""The public functions: one for each thing that the command line does with an operator."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ascendopt.api.function_text import function_file
from ascendopt.api.given import folder_of, options_of, path_of
from ascendopt.api.operator import Conditions, Operator, Patch, open_operator
from ascendopt.api.results import (
    CreatedOperator,
    DerivedWorkload,
    Evaluation,
    ProfileResult,
)
from ascendopt.api.search import Optimization
from ci.model.errors import InputError
from ci.model.settings import DEFAULT_DEVICE

if TYPE_CHECKING:
    from ci.model.census import CensusRow, Summary

Place = str | os.PathLike[str]
"""A path."""
Cases = Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]]
"""A shape for each argument of a function, once or for each of several cases."""


def load(
    path: Place,
    workload: Place | None = None,
    *,
    backend: str = "sim",
    device: str = "",
    asc_headers: str = "",
) -> Operator:
    """Return the operator in the folder `path`, which holds op_host and op_kernel.

    Args:
        path: The operator's folder.
        workload: Workload file; `workload.yaml` in the folder when not given.
        backend: `sim` (the simulator), `cann`, `cann-direct`, `camodel` or `replay`.
        device: Device model such as `910B4`, the default.
        asc_headers: Folder of real AscendC headers; ours when not given.

    Raises:
        InputError: There is no operator or workload, or one of them cannot be read.
        EnvironmentProblem: This machine lacks something, such as g++.

    Example:
        ```python
        operator = ascendopt.load("examples/sample_repository/src/math/affine_clamp")
        print(operator.evaluate())
        ```
    """
    return open_operator(path, workload, backend, device, asc_headers)


def evaluate(
    operator: Operator | Place,
    workload: Place | None = None,
    patch: Patch | None = None,
    *,
    uncertainty: bool = False,
    conditions: Conditions | None = None,
) -> Evaluation:
    """Build, run, verify and measure an operator once, or its change by `patch`.

    `operator` is a loaded one or a folder; `workload` is for a folder only. See
    `Operator.evaluate` for the rest.
    """
    return _loaded(operator, workload).evaluate(
        patch, uncertainty=uncertainty, conditions=conditions
    )


def profile(
    operator: Operator | Place,
    workload: Place | None = None,
    patch: Patch | None = None,
    *,
    out: Place | None = None,
) -> ProfileResult:
    """Evaluate and say where the time goes; see `Operator.profile`."""
    where = None if out is None else folder_of(out, "out")
    return _loaded(operator, workload).profile(patch, out=where)


def optimize(
    operator: Operator | Place,
    workload: Place | None = None,
    *,
    budget: int = 40,
    out: Place | None = None,
    **settings: Any,
) -> Optimization:
    """Start a search for a faster operator and return it; see `Operator.optimize`.

    Example:
        ```python
        with ascendopt.optimize(operator, budget=4, out="run") as search:
            for trial in search:
                print(trial)
            print(search.result)
        ```
    """
    where = None if out is None else folder_of(out, "out")
    return _loaded(operator, workload).optimize(budget=budget, out=where, **settings)


def _loaded(operator: Operator | Place, workload: Place | None) -> Operator:
    if not isinstance(operator, Operator):
        return load(operator, workload)
    if workload is not None:
        raise InputError("The operator is loaded already, with its workload; leave workload out.")
    return operator


@overload
def create(
    function: Callable[..., Any] | str,
    cases: Cases,
    *,
    out: Place,
    dtype: str = ...,
    attrs: Mapping[str, int | float | bool] | None = ...,
    name: str = ...,
    proposer: str = ...,
    models: Place | None = ...,
    device: str = ...,
    say: Callable[[str], None] = ...,
) -> CreatedOperator: ...


@overload
def create(
    function: None = ...,
    *,
    cases: Cases,
    out: Place,
    dtype: str = ...,
    attrs: Mapping[str, int | float | bool] | None = ...,
    name: str = ...,
    proposer: str = ...,
    models: Place | None = ...,
    device: str = ...,
    say: Callable[[str], None] = ...,
) -> Callable[[Callable[..., Any]], CreatedOperator]: ...


def create(
    function: Callable[..., Any] | str | None = None,
    cases: Cases | None = None,
    *,
    out: Place,
    dtype: str = "float32",
    attrs: Mapping[str, int | float | bool] | None = None,
    name: str = "",
    proposer: str = "rules",
    models: Place | None = None,
    device: str = DEFAULT_DEVICE,
    say: Callable[[str], None] = lambda said: None,
) -> CreatedOperator | Callable[[Callable[..., Any]], CreatedOperator]:
    """Make an operator of a numpy function: traced, lowered, built, run and verified.

    Without `function` this is a decorator; the operator takes the function's name and can be
    called as the function can.

    Args:
        function: A function, or `file.py:function`.
        cases: A shape for each argument, or a list of such shapes.
        out: Folder that takes the operator; it must not exist.
        dtype: Of the arguments.
        attrs: Values of further arguments, which become attributes of the operator.
        name: Of the operator; that of the function when empty.
        proposer: `rules`, or `llm` where a model may write what cannot be traced.
        models: File that says which model fills which role.
        device: Device model.
        say: Called with a sentence for each step.

    Raises:
        InputError: The function cannot be traced, or the operator is wrong; nothing is left.

    Example:
        ```python
        import numpy as np


        @ascendopt.create(cases={"x": (64, 1000)}, out="made/soft_clip")
        def soft_clip(x):
            return np.tanh(x) * 3.0
        ```
    """
    if cases is None:
        raise InputError("create needs cases: a shape for each argument of the function.")
    where = path_of(out, "out")
    models = None if models is None else path_of(models, "The models file")

    def make(given: Callable[..., Any] | str) -> CreatedOperator:
        from ascendopt.api.making import make_operator

        with tempfile.TemporaryDirectory(prefix="ascendopt-golden-") as folder:
            golden = given if isinstance(given, str) else function_file(given, Path(folder))
            created = make_operator(
                golden,
                cases,
                Path(folder),
                out=where,
                dtype=dtype,
                attrs={} if attrs is None else attrs,
                name=name,
                proposer=proposer,
                models=models,
                device=device,
                say=say,
            )
        return CreatedOperator.of(created, None if isinstance(given, str) else given)

    return make if function is None else make(function)


def derive_workload(
    operator: Place, *, out: Place | None = None, device: str = DEFAULT_DEVICE, cases: int = 6
) -> DerivedWorkload:
    """Derive a workload for the operator in the folder `operator`, from its own examples and host.

    `out`: folder that takes `NAME/workload.yaml`; it is written into the operator's folder when not
    given. `cases`: most cases. Raises InputError when the folder holds no operator; an operator
    that no workload can be derived for gives the reason in `refused`.
    """
    from ci.model.derived import DeriveSettings
    from ci.session.derive import FILE, derive_workloads

    folder = path_of(operator, "The operator")
    where = None if out is None else folder_of(out, "out")
    given = {"out": where, "device": device, "cases": cases, "again": True}
    row = derive_workloads([folder], options_of(DeriveSettings, given))[0]
    file = (folder if where is None else where / row.name) / FILE
    return DerivedWorkload.of(row, None if row.refused else file)


def census(
    repository: Place,
    *,
    out: Place,
    on_row: Callable[[CensusRow, int, int], None] = lambda row, done, total: None,
    **settings: Any,
) -> tuple[list[CensusRow], Summary]:
    """Try every operator of a repository: read, build, tile, run, verify.

    `out`: folder that keeps the rows as they come; a census that was stopped goes on from it.
    `on_row` is called with each row, how many are done and how many there are. `settings` are
    options of `ascendopt census`. Returns the rows and what they come to. Raises InputError.
    """
    from ci.model.census import CensusSettings
    from ci.session.census import census as take

    options = options_of(CensusSettings, settings)
    return take(path_of(repository, "The repository"), options, folder_of(out, "out"), on_row)
