"""How a change was verified, in sentences: pure functions of a `Result`."""

from __future__ import annotations

from bot.base.language import translated as _
from bot.report.sentences import local
from ci.model.result import Decisions, OtherSizes, Result


def varied(result: Result) -> list[str]:
    """Checks of the change beyond its workload, a sentence each.

    A warning comes first where only a few such cases exist.
    """
    found = result.verification
    if found is None:
        return []
    count = sum(found.varied.values())
    kinds = ", ".join(f"{local(kind)} {number}" for kind, number in found.varied.items())
    said = [
        _(
            "{count} further cases give correct results and are not much slower ({kinds}).",
            count=count,
            kinds=kinds or _("none"),
        )
    ]
    if found.sizes is not None:
        said.append(_over_sizes(found.sizes))
    if found.shallow:
        warning = _(
            "WARNING: the original operator passes only {count} cases beyond its workload. Little"
            " is known about the change on other shapes and values.",
            count=count,
        )
        said.insert(0, warning)
    if found.not_varied:
        said.append(_("Not checked: {kinds}.", kinds=", ".join(map(local, found.not_varied))))
    if found.regimes:
        said.append(
            _(
                "All {count} paths of the host side that such inputs can take were tried.",
                count=found.regimes,
            )
        )
    said += _decided(found.decisions)
    return said + [
        _(
            "Defect of the original operator, not counted against the change: {defect}",
            defect=local(defect),
        )
        for defect in found.baseline_defects
    ]


def _decided(found: Decisions | None) -> list[str]:
    if found is None or not found.new:
        return []
    said = [_("{both} of {new} new branches were taken both ways.", both=found.both, new=found.new)]
    if found.refused:
        said.append(
            _(
                "{count} more differ only in requests that the operator rejects, as before.",
                count=found.refused,
            )
        )
    return said


def _over_sizes(sizes: OtherSizes) -> str:
    spread = _("{low}× to {high}×", low=f"{sizes.slowest:.2f}", high=f"{sizes.fastest:.2f}")
    most = f"{sizes.most:,}"
    if sizes.least == sizes.most:
        return _("Speedup on inputs of {most} elements: {spread}.", most=most, spread=spread)
    said = _(
        "Speedup on inputs of {least} to {most} elements: {spread}",
        least=f"{sizes.least:,}",
        most=most,
        spread=spread,
    )
    if sizes.unchanged_from is None:
        return said + _(".")
    if sizes.unchanged_from == sizes.least:
        return said + _(", the same at every size.")
    return said + _(", unchanged from {count} elements on.", count=f"{sizes.unchanged_from:,}")


def siblings(result: Result) -> list[str]:
    """Results of the other operators that use the changed files, a sentence each."""
    found = result.verification
    if found is None or not found.siblings:
        return []
    judged = [s for s in found.siblings if s.speedup is not None]
    said = [
        _(
            "{count} more operators use the changed files. {judged} of them were evaluated on their"
            " own workloads: all pass, and none is slower beyond the margin.",
            count=len(found.siblings),
            judged=len(judged),
        )
    ]
    left = ", ".join(f"{s.operator} ({local(s.note)})" for s in found.siblings if s.speedup is None)
    return [*said, *([_("WARNING: not evaluated: {operators}.", operators=left)] if left else [])]


def screening(result: Result) -> str:
    """How many evaluations needed no device; '' where no simulator screened for one."""
    if all(trial.predicted is None for trial in result.trials):
        return ""
    spared = sum(trial.screened and not trial.cached for trial in result.trials)
    return _("The simulator decided {count} of them; a device decided the others.", count=spared)


def removed_sync(result: Result) -> list[str]:
    """The removed barriers and waits, a sentence each, then why the removal is safe."""
    found = result.verification
    if found is None or not found.removed_sync:
        return []
    gone = [
        _("Removed: {call} at {place}.", call=r.call, place=f"{r.file}:{r.line}")
        for r in found.removed_sync
    ]
    return [*gone, local(found.order)]
