"""What the templates of all report formats share: the values, and the words for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot.base.language import current_language, translated
from bot.base.text import block, code, encoded, microseconds, plain, printable, visible
from bot.report.facts import (
    by,
    case_rows,
    changes,
    counted,
    evaluation_command,
    gates,
    headline,
    mean_times,
    model_total,
    money,
    named_rules,
    outcome_counts,
    pipe_rows,
    remarks,
    reproduction,
    steps,
    time_word,
    trajectory,
    tuple_rows,
)
from bot.report.sentences import local
from bot.report.stale import stale_comments
from bot.report.uncertainty import range_line, spread_note, spread_rows
from bot.report.verification import checked, kinds, removed_sync, screening, unchecked, warnings
from ci.model.result import Result

TEMPLATES: Final = Path(__file__).parent / "templates"

VERDICT_WORDS: Final = {
    "improved": "improved",
    "not_improved": "no improvement found",
    "baseline_failed": "the original operator fails",
    "unknown": "unknown, measure more",
    "unverified": "faster, not verified",
}
_CHINESE: Final = "[\u4e00-\u9fff]"


def _us(value: float) -> str:
    return microseconds(value).removesuffix(" µs")


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?…。！？" else text + translated(".")


def _clause(text: str) -> str:
    """A sentence behind a colon: with a small letter, unless its first word is a name."""
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _reason(text: str) -> str:
    """A reason as a sentence in the language of the page; '' where it is in English only."""
    said = local(text)
    return "" if current_language() != "en" and said == text else _sentence(said)


def _interval(low: float, high: float) -> str:
    """' (low to high)', or nothing when all samples agree."""
    if _us(low) == _us(high):
        return ""
    return " (" + translated("{low} to {high}", low=_us(low), high=_us(high)) + ")"


def _change(before: object, after: object) -> str:
    return str(before) if before == after else f"{before} → {after}"


def _numbers(numbers: Sequence[int]) -> str:
    """'5', '3 to 9' for neighbours, or '3, 7, 12'; long lists end with an ellipsis."""
    if not numbers:
        return translated("none")
    first, last = numbers[0], numbers[-1]
    if len(numbers) > 2 and last - first == len(numbers) - 1:
        return translated("{first} to {last}", first=first, last=last)
    return ", ".join(str(n) for n in numbers[:6]) + (", …" if len(numbers) > 6 else "")


def _printable(value: object) -> object:
    """Return a value for a page, without characters that turn text around or steer a terminal."""
    if not isinstance(value, str):
        return value
    lines = "\n".join(printable(line) for line in value.split("\n"))
    return type(value)(lines)  # what is HTML already stays so


@cache  # a page is laid out in a tenth of the time that its template takes to compile
def environment(*, html: bool, folder: Path = TEMPLATES) -> Environment:
    """Jinja2 with our filters; HTML is escaped always, Markdown through `plain` and `code`."""
    jinja = Environment(
        loader=FileSystemLoader(folder),
        autoescape=html,
        finalize=_printable if html else None,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    jinja.filters |= {
        "us": _us,
        "named_rules": named_rules,
        "sentence": _sentence,
        "clause": _clause,
        "reason": _reason,
        "money": money,
        "thousands": lambda value: f"{value:,}",
        "cell": lambda text: " ".join(text.split()).replace("|", "\\|"),
        "percent": lambda share, digits=0: f"{share:.{digits}%}",
        "ms": lambda seconds, digits=0: f"{1e3 * seconds:.{digits}f}",
        "visible": visible,
        "local": local,
        "numbers": _numbers,
    }
    if not html:
        jinja.filters |= {"plain": plain, "code": code, "block": block, "encoded": encoded}
    jinja.globals |= {"interval": _interval, "change": _change, "by": by, "counted": counted}
    jinja.globals |= {"_": translated, "language": current_language}
    return jinja


def page(template: str, **shown: Any) -> str:
    """The text of one of our templates; Markdown without two empty lines after another."""
    return page_in(TEMPLATES, template, shown)


def page_in(folder: Path, template: str, shown: Mapping[str, Any]) -> str:
    """The text of a template in `folder`, as `page` makes it."""
    html = template.endswith(".html.j2")
    text = environment(html=html, folder=folder).get_template(template).render(shown)
    if current_language() == "zh":
        text = _without_blanks(text)
    return text if html else re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"


def _without_blanks(text: str) -> str:
    """`text` with Chinese commas, and without English blanks after marks; code blocks are kept."""
    parts = re.split(r"(^(`{3,}).*?^\2$|<pre>.*?</pre>)", text, flags=re.MULTILINE | re.DOTALL)
    kept = parts[::3]
    full = [re.sub(rf"(?<={_CHINESE}), | ?, (?={_CHINESE})", "，", part) for part in kept]
    closed = [re.sub(r"([。；：，]) +(?=\S)", r"\1", part) for part in full]
    blocks = parts[1::3]
    return "".join(a + b for a, b in zip(closed, [*blocks, ""], strict=True))


def values(result: Result) -> dict[str, Any]:
    """Everything a template may name."""
    cases = case_rows(result)
    return {
        "result": result,
        "verdict_word": translated(VERDICT_WORDS[result.verdict]),
        "headline": headline(result),
        "mean_times": mean_times(result),
        "range_line": range_line(result),
        "warnings": warnings(result),
        "checked": checked(result),
        "unchecked": unchecked(result),
        "kinds": kinds(result),
        "screening": screening(result),
        "removed_sync": removed_sync(result),
        "time_word": time_word(result),
        "cases": cases,
        "spread": spread_rows(result),
        "spread_note": spread_note(result),
        "widest": max((row.ratio for row in cases), default=1.0),
        "steps": steps(result),
        "changes": changes(result),
        "stale": stale_comments(result.diff, result.best.candidate.files),
        "pipes": pipe_rows(result),
        "points": trajectory(result),
        "tuples": tuple_rows(result),
        "model_total": model_total(result),
        "remarks": remarks(result),
        "gates": {trial.number: gates(result, trial) for trial in result.trials},
        "counts": outcome_counts(result),
        "evaluation": evaluation_command(result),
        "reproduction": "\n".join(reproduction(result)),
    }
