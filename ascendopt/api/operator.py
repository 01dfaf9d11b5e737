"""An operator with its workload, ready to be evaluated."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

from ascendopt.api.given import folder_of, options_of, path_of, text_of
from ascendopt.api.results import Comparison, Evaluation, OptimizationResult, ProfileResult
from ascendopt.api.search import Optimization
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.notice import Notice
from ci.model.result import Result
from ci.model.settings import (
    DEFAULT_DEVICE,
    ConditionOptions,
    EvaluationSetup,
    OptimizeSettings,
    ProposerOptions,
    UncertaintyOptions,
)
from ci.model.trial import Candidate
from ci.session.proposers import find_proposer, strategy_options
from ci.session.session import Session, open_session

Conditions: TypeAlias = Literal["cold", "warm", "both"]
Patch: TypeAlias = str | os.PathLike[str] | Mapping[str, str]
"""A unified diff, the file that holds one, or whole new texts by path in the operator's folder."""


class Operator:
    """An operator with its workload and a backend. `ascendopt.load` makes one.

    Evaluations of equal programs are answered from the first one.
    """

    def __init__(self, path: Path, setup: EvaluationSetup) -> None:
        """Read the operator and its workload; raises InputError with what is wrong with them."""
        self.path = path
        """Folder that holds op_host and op_kernel."""
        self.setup = setup
        """Workload, backend and device as they were given."""
        self._sessions: dict[UncertaintyOptions, Session] = {}
        self._open(UncertaintyOptions())

    def _open(self, wide: UncertaintyOptions) -> Session:
        if wide not in self._sessions:
            self._sessions[wide] = open_session(self.path, self.setup, conditions=wide)
        return self._sessions[wide]

    @property
    def session(self) -> Session:
        """The engine's session, for code of ascendopt itself; it may change in any version."""
        return self._open(UncertaintyOptions())

    @property
    def name(self) -> str:
        """Name of the operator's folder."""
        return self.session.operator.name

    @property
    def cases(self) -> tuple[str, ...]:
        """Names of the workload's cases."""
        return tuple(case.name for case in self.session.workload.cases)

    @property
    def sources(self) -> dict[str, str]:
        """Texts of its host and kernel sources by path in its folder: what a patch may change."""
        operator = self.session.operator
        return {name: operator.read(name) for name in operator.sources}

    def candidate(self, patch: Patch | None) -> Candidate:
        """Return the candidate that `patch` makes; raises InputError when it does not apply."""
        from bot.repository.patch import LARGEST_PATCH_BYTES, applied, read_patch

        operator = self.session.operator
        if patch is None:
            return Candidate()
        if isinstance(patch, Mapping):
            unknown = [str(name) for name in patch if name not in operator.sources]
            if unknown:
                raise InputError(
                    f"{unknown[0]} is no source of {operator.name}; its sources are"
                    f" {', '.join(operator.sources)}."
                )
            for source, text in patch.items():
                text_of(text, f"The text of {source}", LARGEST_PATCH_BYTES)
            files = {k: v for k, v in patch.items() if v != operator.read(k)}
            name = "given texts"
        elif isinstance(patch, str) and "\n" in patch:
            diff = text_of(patch, "The patch", LARGEST_PATCH_BYTES)
            files, name = applied(operator, diff, "the patch"), "patch"
        else:
            file = path_of(patch, "A patch that is no diff and no mapping of texts")
            files, name = applied(operator, read_patch(file), str(file)), f"patch {file.name}"
        return Candidate(files=files, stage="kernel", proposer="patch", rationale=name)

    def evaluate(
        self,
        patch: Patch | None = None,
        *,
        uncertainty: bool = False,
        conditions: Conditions | None = None,
    ) -> Evaluation:
        """Build, run, verify and measure the operator once, or its change by `patch`.

        `uncertainty`: time each case under all conditions of a launch and with every loosely known
        constant of the machine moved, too. `conditions`: only those. Raises InputError when the
        patch does not apply.
        """
        wide = options_of(
            UncertaintyOptions, {"uncertainty": uncertainty, "conditions": conditions}
        )
        session = self._open(wide)
        return Evaluation.of(session.evaluate(self.candidate(patch), widened=wide.given()))

    def compare(
        self,
        patch: Patch,
        *,
        uncertainty: bool = False,
        conditions: Conditions | None = None,
    ) -> Comparison:
        """Evaluate the operator without and with `patch` under equal conditions."""
        before = self.evaluate(uncertainty=uncertainty, conditions=conditions)
        after = self.evaluate(patch, uncertainty=uncertainty, conditions=conditions)
        return Comparison(before=before, after=after)

    def profile(self, patch: Patch | None = None, *, out: Path | None = None) -> ProfileResult:
        """Evaluate and say where the time goes; `out` takes a Chrome trace and msprof's tables."""
        where = folder_of(out or Path("ascendopt-out") / f"{self.name}-profile", "out")
        with tempfile.TemporaryDirectory(prefix="ascendopt-profile-") as folder:
            session = open_session(self.path, self.setup, timelines=Path(folder))
            return ProfileResult.of(session.profile(self.candidate(patch), where))

    def optimize(
        self,
        *,
        budget: int = 40,
        proposer: str = "rules",
        models: Path | None = None,
        bank: Path | None = None,
        out: Path | None = None,
        strategy: str = "",
        conditions: Conditions | None = None,
        **settings: Any,
    ) -> Optimization:
        """Start a search for a faster operator and return it; iterating gives its trials.

        `budget`: evaluations in all. `bank`: file of the experience bank; the user's own when not
        given. `out`: folder of the run, `ascendopt-out/NAME` when not given; an earlier run there
        is kept under another name, unless `resume=True`. `settings` are further options of
        `ascendopt optimize`, such as `stage="kernel"` or `seed=1`. Raises InputError for bad ones.
        """
        options = options_of(OptimizeSettings, {"budget": budget, **settings})
        chosen = options_of(strategy_options(), {"strategy": strategy}) if strategy else None
        folder = folder_of(out or Path("ascendopt-out") / self.name, "out")
        bank = None if bank is None else path_of(bank, "The bank")
        wide = options_of(ConditionOptions, {"conditions": conditions})
        proposing = options_of(ProposerOptions, {"proposer": proposer, "models": models})
        find_proposer(proposing)  # what cannot propose is said at once
        session = open_session(self.path, self.setup, conditions=wide)
        # An agent's run stands on these names.
        upon = importlib.import_module("ascendopt.agent.strategy")
        agent = upon.agent_strategy(proposing, self, folder, bank, options.max_tokens)

        def search(onlooker: Callable[[Notice], None]) -> Result:
            from bot.server.run_folder import write_run

            found = session.optimize(
                options,
                proposing,
                bank,
                folder,
                onlooker,
                strategy=agent or chosen,
                set_aside=not options.resume,
            )
            return write_run(found, session.operator, folder)

        return Optimization(search, folder, budget)

    def verify(
        self,
        patch: Patch,
        *,
        out: Path,
        rationale: str = "",
        say: Callable[[str], None] = lambda said: None,
    ) -> OptimizationResult:
        """Judge `patch` as the end of a search is judged, and leave what `submit` takes in `out`.

        Everything is checked that a merge request claims: other shapes, values and chips, new
        decisions both ways, and the gain over the machine's uncertainty. `say` is called with a
        sentence for each step.
        """
        from bot.server.run_folder import write_run

        out = folder_of(out, "out")
        session = open_session(self.path, self.setup)
        files = self.candidate(patch).files
        if not files:
            raise InputError("The patch changes nothing.")
        words = rationale or "Given by hand."
        change = Candidate(files=files, proposer="earlier run", rationale=words)
        found = session.verify(change, out, lambda notice: say(notice.text))
        return OptimizationResult.of(write_run(found, session.operator, out), out)

    def __repr__(self) -> str:
        return f"<ascendopt.Operator {self.name}: {amount(len(self.cases), 'case')}, {self.path}>"


def open_operator(
    path: str | os.PathLike[str],
    workload: str | os.PathLike[str] | None,
    backend: str,
    device: str,
    asc_headers: str,
) -> Operator:
    """Return the operator in the folder `path`; raises InputError."""
    given = {
        "workload": None if workload is None else path_of(workload, "The workload"),
        "backend": backend,
        "device": device or DEFAULT_DEVICE,
        "asc_headers": asc_headers,
    }
    return Operator(path_of(path, "The operator"), options_of(EvaluationSetup, given))
