"""ascendopt: the judge, the search and the experience bank for AscendC operators.

```python
import ascendopt

operator = ascendopt.load("path/to/operator")
print(operator.evaluate().score_us)
print(operator.evaluate(patch="faster.patch").outcome)
```

`__all__` lists every public name; nothing else is public. Names are imported when they are first
used, so that `import ascendopt` costs nothing.

In the repository the packages `bot`, `ci`, `experience` and `rules` lie next to this one; in a
wheel
they lie inside it, so that an installation takes one name (hatch_build.py).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ascendopt.api.bank import Bank
    from ascendopt.api.environment import Environment, env
    from ascendopt.api.errors import Cancelled, EnvironmentProblem, InputError
    from ascendopt.api.functions import (
        census,
        create,
        derive_workload,
        evaluate,
        load,
        optimize,
        profile,
    )
    from ascendopt.api.operator import Operator
    from ascendopt.api.results import (
        Comparison,
        CreatedOperator,
        DerivedWorkload,
        Evaluation,
        OptimizationResult,
        ProfileResult,
    )
    from ascendopt.api.search import Optimization

_HOME: Final = {
    "Bank": "bank",
    "Cancelled": "errors",
    "Environment": "environment",
    "EnvironmentProblem": "errors",
    "InputError": "errors",
    "env": "environment",
    "census": "functions",
    "create": "functions",
    "derive_workload": "functions",
    "evaluate": "functions",
    "load": "functions",
    "optimize": "functions",
    "profile": "functions",
    "Operator": "operator",
    "Comparison": "results",
    "CreatedOperator": "results",
    "DerivedWorkload": "results",
    "Evaluation": "results",
    "OptimizationResult": "results",
    "ProfileResult": "results",
    "Optimization": "search",
}
"""The module of `ascendopt.api` that holds each public name."""

__all__ = [
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
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("ascendopt")
    if name not in _HOME:
        raise AttributeError(f"module 'ascendopt' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"{__name__}.api.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
