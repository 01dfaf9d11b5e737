"""Results of the public functions: the data models of `ci.model`, shown for notebooks and plots.

Each is frozen and can be written as JSON (`model_dump_json`). Times are in µs; `fingerprint` says
which backend gave them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import PrivateAttr

from ascendopt.api.shown import data_frame, html_bars, html_table
from ci.model.amount import amount
from ci.model.created import Created
from ci.model.derived import DerivedRow
from ci.model.frozen import Frozen
from ci.model.profile import Profile
from ci.model.result import Result
from ci.model.trial import Measurement, Outcome, Trial

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


def _kind(measurement: Measurement) -> str:
    """Return 'simulated time' or 'time', with the device."""
    word = "simulated time" if measurement.fingerprint.simulated else "time"
    return f"{word} on {measurement.fingerprint.device}"


def _case_rows(measurement: Measurement) -> list[dict[str, Any]]:
    return [
        {
            "case": case.case,
            "median_us": case.median_us,
            "low_us": case.low_us,
            "high_us": case.high_us,
            "cycles": case.pipes.total_cycles,
            "blocks": case.pipes.block_dim,
            "tiling_key": case.tiling_key,
            **{f"{name}_us": time for name, time in case.members_us.items()},
        }
        for case in measurement.cases
    ]


def pipe_shares(measurement: Measurement) -> dict[str, float]:
    """Return the busy share of each pipe that worked, over all cases."""
    total = sum(case.pipes.total_cycles for case in measurement.cases) or 1
    busy: dict[str, float] = {}
    for case in measurement.cases:
        for pipe, cycles in case.pipes.busy_cycles.items():
            busy[pipe] = busy.get(pipe, 0.0) + cycles
    return {pipe: cycles / total for pipe, cycles in busy.items() if cycles}


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    from matplotlib.figure import Figure

    return Figure(figsize=(7.0, 3.0), layout="constrained").subplots()


class Evaluation(Trial):
    """One evaluation: the outcome, why it was refused, and the time of each case."""

    @staticmethod
    def of(trial: Trial) -> Evaluation:
        """Return the same trial with its ways of being shown."""
        return Evaluation.model_construct(**dict(trial))

    @property
    def ok(self) -> bool:
        """Whether it compiled, ran, was right and passed every check."""
        return self.outcome is Outcome.OK

    @property
    def score_us(self) -> float:
        """Geometric mean of the cases' medians in µs; NaN when nothing was measured."""
        return self.measurement.score_us if self.measurement else float("nan")

    @property
    def reason(self) -> str:
        """The sentence of the check that refused it; '' when it passed."""
        return self.refusal.message if self.refusal else ""

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a case: times in µs, cycles, blocks and tiling key."""
        return data_frame(_case_rows(self.measurement) if self.measurement else [])

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw each case's time in µs; returns the matplotlib axes."""
        drawn = _axes(axes)
        cases = self.measurement.cases if self.measurement else ()
        drawn.barh([c.case for c in cases], [c.median_us for c in cases], color="#0f766e")
        drawn.invert_yaxis()
        drawn.set_xlabel(f"{_kind(self.measurement)}, µs" if self.measurement else "µs")
        return drawn

    def __str__(self) -> str:
        if self.measurement is None:
            return f"{self.outcome.value}: {self.reason}"
        return f"{self.outcome.value}: {self.score_us:.3f} µs of {_kind(self.measurement)}"

    def _repr_html_(self) -> str:
        head = f"<p><b>{escape(str(self))}</b></p>"
        if self.measurement is None:
            evidence = self.refusal.evidence if self.refusal else ""
            return head + (f"<pre>{escape(evidence)}</pre>" if evidence else "")
        if self.reason:
            head += f"<p>{escape(self.reason)}</p>"
        rows = [
            (c.case, f"{c.median_us:.3f}", f"{c.pipes.total_cycles:,}", c.pipes.block_dim)
            for c in self.measurement.cases
        ]
        table = html_table(("case", "µs", "cycles", "blocks"), rows)
        return head + table + html_bars(pipe_shares(self.measurement))


class Comparison(Frozen):
    """A patch compared with the operator without it."""

    before: Evaluation
    after: Evaluation

    @property
    def speedup(self) -> float:
        """Time before over time after, the geometric mean over the cases; NaN if either failed."""
        return self.before.score_us / self.after.score_us

    @property
    def members(self) -> Mapping[str, float]:
        """The speedup under each condition and moved constant that both were timed under."""
        from ci.model.trial import weighted_mean

        before, after = self.before.measurement, self.after.measurement
        if before is None or after is None:
            return {}
        later = {case.case: case for case in after.cases}
        names = set.intersection(
            *(set(c.members_us) & set(later[c.case].members_us) for c in before.cases)
        )
        return {
            name: weighted_mean(
                (c.members_us[name] / later[c.case].members_us[name] for c in before.cases),
                before.cases,
            )
            for name in sorted(names)
        }

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest speedup over `members`; the speedup itself without any."""
        values = [*self.members.values(), self.speedup]
        return min(values), max(values)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a case: before and after in µs, and the speedup."""
        return data_frame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        before, after = self.before.measurement, self.after.measurement
        if before is None or after is None:
            return []
        later = {case.case: case.median_us for case in after.cases}
        return [
            {
                "case": c.case,
                "before_us": c.median_us,
                "after_us": later[c.case],
                "speedup": c.median_us / later[c.case],
            }
            for c in before.cases
        ]

    def __str__(self) -> str:
        if not (self.before.ok and self.after.ok):
            return f"before: {self.before}; after: {self.after}"
        low, high = self.range
        spread = f" ({low:.2f} to {high:.2f})" if self.members else ""
        return (
            f"{self.speedup:.3f}x{spread}: {self.before.score_us:.3f} µs to"
            f" {self.after.score_us:.3f} µs"
        )

    def _repr_html_(self) -> str:
        rows = [
            (r["case"], f"{r['before_us']:.3f}", f"{r['after_us']:.3f}", f"{r['speedup']:.3f}")
            for r in self._rows()
        ]
        table = html_table(("case", "before, µs", "after, µs", "speedup"), rows)
        return f"<p><b>{escape(str(self))}</b></p>{table}"


class ProfileResult(Profile):
    """An evaluation with its diagnosis and the files that show where the time goes."""

    @staticmethod
    def of(profile: Profile) -> ProfileResult:
        """Return the same profile with its ways of being shown."""
        return ProfileResult.model_construct(**dict(profile))

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation that was profiled."""
        return Evaluation.of(self.trial)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a case and pipe: busy cycles and their share of the launch."""
        measured = self.trial.measurement
        return data_frame(
            [
                {
                    "case": case.case,
                    "pipe": pipe,
                    "busy_cycles": cycles,
                    "share": cycles / max(1, case.pipes.total_cycles),
                }
                for case in (measured.cases if measured else ())
                for pipe, cycles in case.pipes.busy_cycles.items()
            ]
        )

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the busy share of each pipe; returns the matplotlib axes."""
        drawn = _axes(axes)
        shares = pipe_shares(self.trial.measurement) if self.trial.measurement else {}
        drawn.barh(list(shares), list(shares.values()), color="#0f766e")
        drawn.invert_yaxis()
        drawn.set_xlabel("busy share of the launch")
        return drawn

    def __str__(self) -> str:
        words = self.diagnosis.bottleneck if self.diagnosis else ""
        return f"{self.evaluation}. {words}".strip()

    def _repr_html_(self) -> str:
        text = self.evaluation._repr_html_()
        if self.diagnosis is not None:
            items = "".join(f"<li>{escape(reason)}</li>" for reason in self.diagnosis.evidence)
            text += f"<p>{escape(self.diagnosis.bottleneck)}</p><ul>{items}</ul>"
        text += "".join(
            f"<p>{escape(one.case)}: {escape(one.sentence())}</p>" for one in self.rooflines
        )
        return text + (f"<p>Timeline: {escape(self.trace)}</p>" if self.trace else "")


class OptimizationResult(Result):
    """The result of a search: the verdict, the patch, every trial and the final verification."""

    _folder: Path | None = PrivateAttr(default=None)

    @staticmethod
    def of(result: Result, folder: Path) -> OptimizationResult:
        """Return the same result with its ways of being shown; `folder` holds its files."""
        shown = OptimizationResult.model_construct(**dict(result))
        object.__setattr__(shown, "__pydantic_private__", {"_folder": folder})
        return shown

    @property
    def folder(self) -> Path | None:
        """The folder with best.patch and the reports; `ascendopt submit FOLDER` takes it."""
        return self._folder

    @property
    def patch(self) -> str:
        """The unified diff of the best candidate; '' when nothing better was found."""
        return self.diff

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a trial: number, stage, outcome, score in µs, and why it was tried."""
        return data_frame(
            [
                {
                    "trial": t.number,
                    "stage": t.candidate.stage,
                    "outcome": t.outcome.value,
                    "score_us": t.measurement.score_us if t.measurement else float("nan"),
                    "rationale": t.candidate.rationale,
                }
                for t in self.trials
            ]
        )

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw each trial's score and the best so far, in µs; returns the matplotlib axes."""
        from bot.report.facts import trajectory

        drawn = _axes(axes)
        points = trajectory(self)
        drawn.step(
            [p.trial for p in points],
            [p.best_us for p in points],
            where="post",
            color="#1f2933",
            label="best so far",
        )
        right = [p for p in points if p.score_us is not None]
        drawn.scatter(
            [p.trial for p in right], [p.score_us or 0.0 for p in right], s=24, color="#0f766e"
        )
        drawn.set_xlabel("trial")
        drawn.set_ylabel("simulated time, µs" if self.fingerprint.simulated else "time, µs")
        drawn.legend(frameon=False)
        return drawn

    def __str__(self) -> str:
        from bot.report.facts import headline

        return headline(self)

    def _repr_html_(self) -> str:
        from bot.report.facts import case_rows, time_word, trajectory
        from bot.report.picture import trajectory_picture

        rows = [
            (
                r.before.case,
                f"{r.before.median_us:.3f}",
                f"{r.after.median_us:.3f}",
                f"{r.ratio:.3f}",
            )
            for r in case_rows(self)
        ]
        table = html_table(("case", "before, µs", "after, µs", "speedup"), rows)
        picture = trajectory_picture(trajectory(self), time_word(self))
        diff = f"<pre>{escape(self.diff)}</pre>" if self.diff else ""
        return f"<p><b>{escape(str(self))}</b></p>{table}{picture}{diff}"


class CreatedOperator(Created):
    """An operator that was made of a function. Calling it calls that function."""

    _function: Callable[..., Any] | None = PrivateAttr(default=None)

    @staticmethod
    def of(created: Created, function: Callable[..., Any] | None) -> CreatedOperator:
        """Return the same with its ways of being shown."""
        shown = CreatedOperator.model_construct(**dict(created))
        object.__setattr__(shown, "__pydantic_private__", {"_function": function})
        return shown

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function that the operator was made of, on this computer."""
        if self._function is None:
            raise TypeError(f"{self.operator} was made of a file, so there is nothing to call")
        return self._function(*arguments, **named)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a case: time and floor in µs, cores and tiling key."""
        return data_frame([case.model_dump() for case in self.cases])

    def __str__(self) -> str:
        return (
            f"{self.operator}: {amount(len(self.cases), 'case is', 'cases are')} right,"
            f" {self.varied}"
            " varied cases, too;"
            f" {self.folder}"
        )

    def _repr_html_(self) -> str:
        rows = [(c.name, f"{c.microseconds:.3f}", f"{c.floor_us:.3f}", c.cores) for c in self.cases]
        table = html_table(("case", "µs", "floor, µs", "cores"), rows)
        return f"<p><b>{escape(str(self))}</b></p>{table}<pre>{escape(self.program)}</pre>"


class DerivedWorkload(DerivedRow):
    """A workload that was derived for an operator, or why there is none (`refused`)."""

    _file: Path | None = PrivateAttr(default=None)

    @staticmethod
    def of(row: DerivedRow, file: Path | None) -> DerivedWorkload:
        """Return the same with its ways of being shown; `file` is where it was written."""
        shown = DerivedWorkload.model_construct(**dict(row))
        object.__setattr__(shown, "__pydantic_private__", {"_file": file})
        return shown

    @property
    def file(self) -> Path | None:
        """The workload file; None when none could be derived."""
        return self._file

    def to_dataframe(self) -> pandas.DataFrame:
        """Return one row a case: name, source, dtypes, tiling key and elements."""
        return data_frame([case.model_dump() for case in self.cases])

    def __str__(self) -> str:
        if self.refused:
            return f"{self.name}: no workload: {self.refused}"
        return (
            f"{self.name}: {amount(len(self.cases), 'case')}, judged against the {self.reference}"
        )

    def _repr_html_(self) -> str:
        rows = [(c.name, c.source, ", ".join(c.dtypes), c.elements) for c in self.cases]
        table = html_table(("case", "source", "dtypes", "elements"), rows) if rows else ""
        return f"<p><b>{escape(str(self))}</b></p>{table}"
