"""What was checked of a change and what was not, in sentences: pure functions of a `Result`."""

from __future__ import annotations

from collections.abc import Iterable

from bot.base.language import translated as _
from bot.report.sentences import local
from ci.model.comparison import SLOWER
from ci.model.result import Decisions, OtherSizes, Result, Verification


def checked(result: Result) -> list[str]:
    """Return the checks that the change passed, a sentence each."""
    found = result.verification
    if found is None:
        return []
    said = [_compared(found)]
    if result.derived_workload:
        said.append(
            _(
                "The operator has no workload. The change was compared with the original operator"
                " on derived shapes; each case is named by the dtype and shape of its first input."
            )
        )
    if count := sum(found.varied.values()):
        said.append(
            _(
                "Correct on {count:other case|other cases} (shapes, attributes, values),"
                " none more than"
                " {most} slower.",
                count=count,
                most=f"{SLOWER:.0%}",
            )
        )
    if found.sizes is not None:
        said.append(_over_sizes(found.sizes))
    if found.regimes:
        said.append(
            _(
                "Every path of the host side that such inputs can take was tried ({count}).",
                count=found.regimes,
            )
        )
    said += _decided(found.decisions)
    return said + _siblings_that_pass(found)


def warnings(result: Result) -> list[str]:
    """Return the limits of the word "verified", a sentence each; there are none as a rule."""
    found = result.verification
    if found is None:
        return []
    said = []
    if found.shallow:
        said.append(
            _(
                "WARNING: the original operator passes only {count:case|cases} beyond its workload."
                " Little is known about the change on other shapes and values.",
                count=sum(found.varied.values()),
            )
        )
    left = ", ".join(f"{s.operator} ({local(s.note)})" for s in found.siblings if s.speedup is None)
    if left:
        said.append(
            _("WARNING: these operators share changed files and were not run: {names}.", names=left)
        )
    return said


def unchecked(result: Result) -> list[str]:
    """Return what was not checked, a sentence each, next to the warnings."""
    found = result.verification
    if found is None:
        return []
    said = [_first_capital(local(kind)) + _(".") for kind in found.not_varied]
    said += [
        _("The original operator fails, so nothing was compared: {defect}", defect=local(defect))
        for defect in found.baseline_defects
    ]
    if result.other_chips:
        said.append(
            _(
                "Other chips: the operator is also declared for {chips}. Only {device} was used.",
                chips=", ".join(result.other_chips),
                device=result.fingerprint.device,
            )
        )
    return said


def kinds(result: Result) -> str:
    """How many other cases of each kind were compared: 'length 17, dtype 2'; '' for none."""
    found = result.verification
    return "" if found is None else _counted(found.varied.items())


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{local(kind)} {number}" for kind, number in counts)


def _first_capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _compared(found: Verification) -> str:
    values = {
        "cases": found.cases,
        "seeds": len(found.seeds),
        "elements": f"{found.elements:,}",
        "reference": local("golden function" if found.reference == "golden" else found.reference),
    }
    if found.worst_error == 0:
        return _(
            "Correct on {cases:case|cases} × {seeds:seed|seeds}: none of"
            " {elements:output element|output elements} differs"
            " from the {reference}.",
            **values,
        )
    return _(
        "Correct on {cases:case|cases} × {seeds:seed|seeds}:"
        " {elements:output element agrees|output elements agree} with the"
        " {reference}. The largest error is {error} of the tolerance.",
        error=_share(found.worst_error),
        **values,
    )


def _share(error: float) -> str:
    """35%, and 0.02% for an error that would otherwise look like none."""
    return f"{error:.0%}" if error >= 0.005 else f"{error:.1g}" if error < 1e-6 else f"{error:.2%}"


def _decided(found: Decisions | None) -> list[str]:
    if found is None or not found.new:
        return []
    said = [
        _(
            "{both} of {new:new branch was|new branches were} taken both ways.",
            both=found.both,
            new=found.new,
        )
    ]
    if found.refused:
        said.append(
            _(
                "{count:more differs|more differ} only in requests that the operator"
                " rejects, as before.",
                count=found.refused,
            )
        )
    return said


def _over_sizes(sizes: OtherSizes) -> str:
    spread = _("{low}× to {high}×", low=f"{sizes.slowest:.2f}", high=f"{sizes.fastest:.2f}")
    most = f"{sizes.most:,}"
    if sizes.least == sizes.most:
        return _(
            "Speedup on inputs of {most:element|elements}: {spread}.", most=most, spread=spread
        )
    said = _(
        "Speedup on inputs of {least} to {most:element|elements}: {spread}",
        least=f"{sizes.least:,}",
        most=most,
        spread=spread,
    )
    if sizes.unchanged_from == sizes.least:
        return said + _(", the same at every size.")
    if sizes.unchanged_from is None:
        said += _(".")
    else:
        said += _(
            ", unchanged from {count:element|elements} on.", count=f"{sizes.unchanged_from:,}"
        )
    if not sizes.slowest_case:
        return said
    slowest = f"{sizes.slowest:.2f}×"
    return f"{said} " + _("Slowest ({ratio}): {case}.", case=sizes.slowest_case, ratio=slowest)


def _siblings_that_pass(found: Verification) -> list[str]:
    judged = [one for one in found.siblings if one.speedup is not None]
    if not judged:
        return []
    slowest = min(judged, key=lambda one: one.speedup or 0.0)
    return [
        _(
            "Other operators that use the changed files: {judged} of {count} were run on their own"
            " workloads, and all pass. Slowest: {name}, {ratio}.",
            judged=len(judged),
            count=len(found.siblings),
            name=slowest.operator,
            ratio=f"{slowest.speedup:.2f}×",
        )
    ]


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
