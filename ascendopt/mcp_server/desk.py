"""The state behind the tools: loaded operators, one store of trials, and a budget."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from ascendopt.api.bank import Bank
from ascendopt.api.functions import load
from ascendopt.api.given import path_of, text_of
from ascendopt.api.making import make_operator
from ascendopt.api.operator import Operator
from ascendopt.api.results import Comparison, Evaluation
from ascendopt.mcp_server.answers import (
    EVIDENCE,
    PAGE,
    Bottleneck,
    CaseTime,
    CensusOperator,
    CensusPage,
    CheckedOperator,
    ComparedPatch,
    EvaluatedPatch,
    Fault,
    Lesson,
    Lessons,
    LoadedOperator,
    MadeOperator,
    Move,
    Moves,
    Proposal,
    Proposals,
    RecordedWin,
    SourceFile,
)
from bot.report.findings import summary
from ci.model.amount import amount
from ci.model.ensemble import Condition
from ci.model.errors import InputError
from ci.model.finding import CheckReport, CheckSettings
from ci.model.regular_file import file_text
from ci.model.trial import Candidate
from ci.system.cache import digest
from ci.system.trial_store import TRIALS_FILE, TrialStore

STATES: Final = get_args(Condition)
MOST_CHARACTERS: Final = 20_000
"""Bytes of a sentence or a function that a client sends."""


class Desk:
    """The state of one server. Its methods are the tools; each answers with data.

    All raise InputError, a sentence that the client is shown.
    """

    def __init__(self, out: Path, budget: int, bank: Path | None = None) -> None:
        """Keep trials and reports in the folder `out`; `budget`: evaluations in all."""
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self._left = budget
        self._bank_file = bank
        self._operators: dict[str, Operator] = {}
        self._baselines: dict[str, Evaluation] = {}
        self._checked: dict[str, CheckReport] = {}

    def load_operator(self, path: str, workload: str, device: str) -> LoadedOperator:
        """Read an operator and measure it unmodified."""
        operator = load(path, workload or None, device=device)
        name = operator.name
        held = self._operators.get(name)
        if held is not None and held.path.resolve() != operator.path.resolve():
            raise InputError(f"Another operator called {name} is loaded from {held.path}.")
        self._spend(1)
        baseline, _ = self._kept(name, operator.evaluate())
        self._operators[name], self._baselines[name] = operator, baseline
        return self._told(name, baseline)

    def _told(self, name: str, baseline: Evaluation) -> LoadedOperator:
        operator, measured = self._operators[name], baseline.measurement
        kind = "simulated" if measured is None or measured.fingerprint.simulated else "measured"
        return LoadedOperator(
            operator=name,
            cases=operator.cases,
            sources=tuple(
                SourceFile(path=p, lines=len(t.splitlines())) for p, t in operator.sources.items()
            ),
            outcome=_words(baseline),
            baseline_us=None if measured is None else baseline.score_us,
            time=f"{kind}, {operator.setup.device}",
            next=f"Read the resource ascendopt://source/{name}/PATH, or the tool read_source.",
        )

    def read_source(self, operator: str, path: str) -> str:
        """Return the text of a source of a loaded operator."""
        sources = self._loaded(operator).sources
        if path not in sources:
            raise InputError(f"{operator} has no source {path}; it has {', '.join(sources)}.")
        return sources[path]

    def evaluate_patch(self, operator: str, patch: str, rationale: str = "") -> EvaluatedPatch:
        """Build, run, verify and measure a patch once."""
        subject, before = self._loaded(operator), self._baseline(operator)
        candidate = self._candidate(subject, patch, rationale)
        after, number = self._evaluated(operator, candidate)
        measured = before.measurement
        earlier = {c.case: c.median_us for c in measured.cases} if measured else {}
        cases = () if after.measurement is None else after.measurement.cases
        return EvaluatedPatch(
            trial=number,
            outcome=after.outcome.value,
            reason=after.reason,
            evidence=after.refusal.evidence[:EVIDENCE] if after.refusal else "",
            warnings=tuple(w.message for w in after.warnings if w.is_fault)[:PAGE],
            score_us=after.score_us if cases else None,
            speedup=before.score_us / after.score_us if cases else None,
            cases=tuple(
                CaseTime(
                    case=c.case,
                    before_us=earlier[c.case],
                    after_us=c.median_us,
                    speedup=earlier[c.case] / c.median_us,
                )
                for c in cases
            ),
            evaluations_left=self.left,
        )

    def compare(self, operator: str, patch: str) -> ComparedPatch:
        """Time a patch and the baseline under all start states and moved constants."""
        subject = self._loaded(operator)
        self._baseline(operator)
        candidate = self._candidate(subject, patch)
        found, number = self._compared(operator, candidate)
        if not (found.before.ok and found.after.ok):
            return ComparedPatch(
                trial=number,
                outcome=found.after.outcome.value,
                reason=found.after.reason,
                evaluations_left=self.left,
            )
        members = found.members
        low, high = found.range
        return ComparedPatch(
            trial=number,
            outcome=found.after.outcome.value,
            speedup=found.speedup,
            least=low,
            most=high,
            least_under=min(members, key=lambda name: members[name]) if members else "",
            states={name: members[name] for name in STATES if name in members},
            evaluations_left=self.left,
        )

    def profile(self, operator: str, patch: str) -> Bottleneck:
        """Say where the time of the operator, or of its change, goes."""
        subject = self._loaded(operator)
        if patch:
            self._candidate(subject, patch)
        self._spend(1)
        found = subject.profile(patch or None, out=self.out / f"{operator}-profile")
        trial, _ = self._kept(operator, found.evaluation)
        if trial.measurement is None or found.diagnosis is None:
            return Bottleneck(outcome=trial.outcome.value, reason=trial.reason)
        pipes = [case.pipes for case in trial.measurement.cases]
        total = sum(p.total_cycles for p in pipes) or 1
        busy: dict[str, float] = {}
        waits: dict[str, float] = {}
        for one in pipes:
            for pipe, cycles in one.busy_cycles.items():
                busy[pipe] = busy.get(pipe, 0.0) + cycles / total
            for pair, cycles in one.wait_cycles.items():
                waits[pair] = waits.get(pair, 0.0) + cycles
        worst = sorted(waits.items(), key=lambda item: -item[1])[:PAGE]
        lines = [f"{f}:{n} ({c:,.0f} cycles)" for p in pipes for f, n, c in p.hot_lines[:5]]
        return Bottleneck(
            outcome=trial.outcome.value,
            bottleneck=found.diagnosis.bottleneck,
            evidence=tuple(found.diagnosis.evidence),
            roofline=tuple(f"{r.case}: {r.sentence()}" for r in found.rooflines),
            busy={k: round(v, 4) for k, v in busy.items() if v},
            waits={k: round(v, 1) for k, v in worst},
            hot_lines=tuple(lines[:PAGE]),
            trace=found.trace,
        )

    def check(
        self, operator: str, seconds: float, page: int, say: Callable[[str], None]
    ) -> CheckedOperator:
        """Say what is wrong with a loaded operator as it is, on varied cases, too."""
        subject = self._loaded(operator)
        if operator not in self._checked or page == 1:
            self._spend(1)
            settings = CheckSettings(seconds=seconds)
            self._checked[operator] = subject.session.check(settings, say)
        report = self._checked[operator]
        shown = report.findings[PAGE * (page - 1) : PAGE * page]
        return CheckedOperator(
            summary=summary(report),
            findings=tuple(
                Fault(
                    kind=found.kind,
                    severity=found.severity.value,
                    place=found.place.source,
                    other=found.other.source,
                    case=found.place.case,
                    text=found.text,
                    evidence=found.evidence[:EVIDENCE],
                    advice=found.advice,
                )
                for found in shown
            ),
            notes=report.notes[:PAGE],
            further=page + 1 if len(report.findings) > PAGE * page else 0,
        )

    def search_experience(self, query: str, operator: str, page: int) -> Lessons:
        """Find experience tuples for a bottleneck in words."""
        family = self._loaded(operator).session.operator.category if operator else ""
        wanted = PAGE * page
        found = Bank(self._bank_file).search(query, count=wanted + 1, op_family=family)
        return Lessons(
            found=tuple(
                Lesson(
                    id=f.tuple.id,
                    title=f.tuple.title,
                    description=f.tuple.description,
                    bottleneck=f.tuple.bottleneck,
                    speedup=f.tuple.evidence.speedup,
                    diff=f.tuple.diff,
                )
                for f in found[wanted - PAGE : wanted]
            ),
            further=page + 1 if len(found) > wanted else 0,
        )

    def list_moves(self, page: int) -> Moves:
        """List the optimizations that the rules know."""
        from rules.load import load_motifs

        known = load_motifs(as_written=True)
        shown = known[PAGE * (page - 1) : PAGE * page]
        return Moves(
            moves=tuple(
                Move(id=m.id, stage=m.stage, title=m.title, bottleneck=m.bottleneck, why=m.why)
                for m in shown
            ),
            further=page + 1 if len(known) > PAGE * page else 0,
        )

    def propose_rules(self, operator: str, stage: str, count: int) -> Proposals:
        """Return the changes that rules would try next on the unmodified operator."""
        from ci.session.proposals import propose

        subject = self._loaded(operator)
        made = propose(subject.session, self._baseline(operator), stage, count)
        return Proposals(
            proposals=tuple(
                Proposal(rationale=one.rationale, patch=_diff(subject, one.files)) for one in made
            )
        )

    def create_operator(
        self,
        function: str,
        shapes: dict[str, list[int]],
        out: str,
        dtype: str,
        say: Callable[[str], None],
    ) -> MadeOperator:
        """Make an operator of the text of a numpy function."""
        name, where = _function_name(function), self._own(out)
        text_of(function, "The function", MOST_CHARACTERS)
        self._spend(1)
        file = self.out / f"golden_{name}.py"
        file.write_text(function, encoding="utf-8")
        made = make_operator(
            f"{file}:{name}",
            shapes,
            self.out,
            out=where,
            dtype=dtype,
            attrs={},
            name="",
            proposer="rules",
            models=None,
            device="910B4",
            say=say,
        )
        return MadeOperator(
            operator=made.operator,
            folder=made.folder,
            verified_cases=len(made.cases) + made.varied,
            times_us={case.name: case.microseconds for case in made.cases},
            notes=made.notes,
        )

    def run_census(
        self, repository: str, page: int, on_row: Callable[[object, int, int], None]
    ) -> CensusPage:
        """Try every operator of a repository; a census that was stopped goes on.

        Each operator costs an evaluation.
        """
        from ascendopt.api.functions import census

        def row_done(row: object, done: int, total: int) -> None:
            on_row(row, done, total)
            if done < total:
                self._spend(1)

        place = path_of(repository, "The repository").resolve()
        where = self.out / f"census-{place.name}-{digest([str(place)])[:8]}"
        rows, _ = census(place, out=where, on_row=row_done)
        shown = rows[PAGE * (page - 1) : PAGE * page]
        return CensusPage(
            operators=len(rows),
            run=sum(bool(row.judged) and row.judged != "built" for row in rows),
            rows=tuple(
                CensusOperator(
                    operator=f"{row.category}/{row.name}",
                    judged=row.judged,
                    stopped_by=row.failures[0].message[:200] if row.failures else "",
                )
                for row in shown
            ),
            further=page + 1 if len(rows) > PAGE * page else 0,
        )

    def record_win(
        self, operator: str, patch: str, rationale: str, say: Callable[[str], None]
    ) -> RecordedWin:
        """Verify a patch as the end of a search is, and leave what `ascendopt submit` takes."""
        subject = self._loaded(operator)
        self._candidate(subject, patch, rationale)
        self._spend(2)
        folder = self._new_folder(f"{operator}-win")
        found = subject.verify(patch, out=folder, rationale=rationale, say=say)
        improved = found.verdict == "improved"
        return RecordedWin(
            verdict=found.verdict,
            reason=found.verdict_reason,
            speedup=found.speedup,
            least=found.uncertainty.low if found.uncertainty else None,
            folder=str(folder),
            submit=f"ascendopt submit {folder}" if improved else "",
        )

    def report(self, run: str) -> str:
        """Return the report of a folder that `record_win` left."""
        try:
            return file_text(self.out / run / "report.md", self.out.resolve())
        except (FileNotFoundError, ValueError):
            raise InputError(f"There is no report {run}.") from None

    def _loaded(self, operator: str) -> Operator:
        if operator not in self._operators:
            known = ", ".join(self._operators) or "none yet"
            raise InputError(f"{operator} is not loaded; call load_operator. Loaded: {known}.")
        return self._operators[operator]

    def _baseline(self, operator: str) -> Evaluation:
        baseline = self._baselines[operator]
        if baseline.measurement is None:
            raise InputError(f"{operator} fails unmodified: {_words(baseline)}")
        return baseline

    @property
    def left(self) -> int:
        """Evaluations that are left."""
        return self._left

    def _candidate(self, subject: Operator, patch: str, rationale: str = "") -> Candidate:
        """Return the candidate of a patch; raises InputError for one that does not apply.

        Nothing is spent on that.
        """
        if "\n" not in patch:
            raise InputError("The patch is the text of a unified diff, not the name of a file.")
        words = " ".join(text_of(rationale, "The rationale", MOST_CHARACTERS).split())
        made = subject.candidate(patch)
        host = set(subject.session.operator.host_sources)
        stage = "tiling" if set(made.files) <= host else "kernel"
        if stage == "kernel" and set(made.files) & host:
            stage = "joint"
        told = {"stage": stage, "proposer": "agent", "rationale": words or made.rationale}
        return made.model_copy(update=told)

    def _evaluated(self, operator: str, candidate: Candidate) -> tuple[Evaluation, int]:
        """Evaluate a candidate once and keep its trial; returns it with its number."""
        self._spend(1)
        subject = self._operators[operator]
        found = subject.session.evaluate(candidate)
        return self._kept(operator, Evaluation.of(found))

    def _compared(self, operator: str, candidate: Candidate) -> tuple[Comparison, int]:
        """Time the operator and a candidate over all states; keeps the candidate's trial."""
        self._spend(1)
        subject = self._operators[operator]
        found = subject.compare(candidate.files, uncertainty=True)
        after = found.after.model_copy(update={"candidate": candidate})
        return found, self._kept(operator, after)[1]

    def _own(self, out: str) -> Path:
        """Return a folder to write, below the server's working folder or its --out."""
        place = path_of(out, "out").resolve()
        if not any(place.is_relative_to(top.resolve()) for top in (Path.cwd(), self.out)):
            raise InputError(f"{out} lies outside of the server's folder {Path.cwd()}.")
        return place

    def _new_folder(self, name: str) -> Path:
        """Make the next free folder NAME-1, NAME-2 …; another server may count in --out, too."""
        for number in itertools.count(1):
            folder = self.out / f"{name}-{number}"
            with suppress(FileExistsError):
                folder.mkdir()
                return folder
        raise AssertionError

    def _spend(self, evaluations: int) -> None:
        """Reserve evaluations before they are made; raises InputError when too few are left."""
        if evaluations > self._left:
            raise InputError(
                "The server's budget is spent:"
                f" {amount(self._left, 'evaluation is', 'evaluations are')}"
                f" left, {evaluations} are needed. Start it with a larger --budget."
            )
        self._left -= evaluations

    def _kept(self, operator: str, evaluation: Evaluation) -> tuple[Evaluation, int]:
        """Append a trial to the operator's store; returns it with its number there."""
        folder = self.out / operator
        folder.mkdir(exist_ok=True)
        with TrialStore(folder / TRIALS_FILE) as store:
            return evaluation, store.append_next(evaluation).number


def _words(evaluation: Evaluation) -> str:
    reason = f": {evaluation.reason}" if evaluation.reason else ""
    return evaluation.outcome.value + reason


def _diff(operator: Operator, files: dict[str, str]) -> str:
    """Return a unified diff of the operator's sources, paths relative to its folder."""
    parts: list[str] = []
    for path, text in files.items():
        before, after = operator.sources[path].splitlines(True), text.splitlines(True)
        parts += difflib.unified_diff(before, after, f"a/{path}", f"b/{path}")
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts)


def _function_name(text: str) -> str:
    found = re.findall(r"^def ([A-Za-z]\w*)\(", text, flags=re.MULTILINE)
    if len(found) != 1:
        raise InputError("Give the text of one Python function whose name begins with a letter.")
    return str(found[0])
