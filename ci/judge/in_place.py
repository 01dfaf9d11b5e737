"""Operators that update their inputs and declare no output for it.

What they write is compared as if it were an output: the workload names the inputs, and the
operator is judged with as many outputs more, each sharing the memory of the input it is.
"""

from __future__ import annotations

from ci.model.operator import Operator
from ci.model.workload import Workload


def judged_operator(operator: Operator, workload: Workload) -> Operator:
    """`operator` with an output for each input that `workload` says it updates in place."""
    known = {spec.name for spec in operator.outputs}
    inputs = {spec.name: spec for spec in operator.inputs}
    added = [
        inputs[name].model_copy(update={"in_place": True})
        for name in workload.in_place
        if name not in known
    ]
    if not added:
        return operator
    return operator.model_copy(update={"outputs": (*operator.outputs, *added)})
