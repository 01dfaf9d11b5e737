"""Whatever text a result holds, in whichever field: nothing of it is live where it is shown.

A result comes from where candidates ran, so each of its texts may be hostile; so may those of a
check, of a measurement, of a job and of a merge request.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest
from jsonschema.validators import Draft7Validator
from pydantic import BaseModel, ValidationError

from bot.cli.commands.optimize import _tell
from bot.cli.say import say
from bot.forge.base import Forge
from bot.forge.model import MergeRequest, Status
from bot.report.findings import report_lines
from bot.report.html import html
from bot.report.markdown import markdown
from bot.report.sarif import check_sarif, sarif
from bot.report.view import page
from bot.repository.job import Job, Record
from bot.server import checking, measuring
from bot.server.comments.posting import put_section, set_check
from bot.server.comments.wording import concluded, history
from bot.server.dashboard_issue import ticks
from bot.server.merge_request import body, commit_message, read_result, title
from bot.server.refused import No
from ci.judge.msprof import op_basic_info
from ci.model.checked_change import CheckedChange
from ci.model.errors import InputError
from ci.model.finding import CheckReport, Finding, Severity
from ci.model.measured_change import ComparedCase, MeasuredChange
from ci.model.result import Result
from ci.model.trial import Place
from ci.testing.scale_shift import OPERATOR
from tests.bot.base.test_text import IN_A_COMMIT, ORDER
from tests.bot.make import SIMULATED, job, measurement, result
from tests.bot.report.sarif_schema import LOG

ATTACK = "zq fixes #1 @everyone <b>zq</b> [skip ci] GH-1 https://x.example ``` --> \u202e\x1bc"
BOX = "zq -->\n- [x] <!-- ascendopt-do: never src/math/other --> end"
LINK = re.compile(r"\[((?:[^\]\\]|\\.)*)\]\(https://forge\.example/1\)")
"""A link of ours to the merge request."""
Made = TypeVar("Made", bound=BaseModel)
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)[^`].*?\1")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each text in JSON data."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*here, key))
    elif isinstance(data, list):
        for number, value in enumerate(data):
            yield from places(value, (*here, number))
    elif isinstance(data, str):
        yield here


def with_text(data: Any, place: tuple[Any, ...], text: str) -> Any:
    made = json.loads(json.dumps(data))
    inner = made
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = text
    return made


def hostile(honest: Made) -> Iterator[tuple[str, Made]]:
    """The model with the attack in one field, for each field that takes any text."""
    data = json.loads(honest.model_dump_json())
    seen = set()
    for place in places(data):
        kind = ".".join("*" if isinstance(part, int) else str(part) for part in place)
        if kind in seen:
            continue
        seen.add(kind)
        try:
            yield kind, type(honest).model_validate(with_text(data, place, ATTACK))
        except ValidationError:
            continue  # not every text is taken there


FIELDS = list(hostile(result()))


RAW = ("title", "subject", "message", "check", "SARIF")
"""Texts in which no HTML is read."""


def live(name: str, text: str) -> list[str]:
    """What of the attack means something in the text of that name."""
    outside = FENCED.sub("", text)
    found = [*IN_A_COMMIT.findall(outside), *re.findall(r"[\u202e\x1b]", text)]
    found += [] if name in RAW else re.findall("<b>zq", CODE.sub("", outside))
    return [*found, *(one for one in COMMENT.findall(text) if raw_in(one))]


def raw_in(comment: str) -> bool:
    """Whether a comment of HTML has the attack in another form than with its bytes as `=XX`."""
    words = re.sub(r"=[0-9A-F]{2}", "", comment).removesuffix(" -->")
    return re.search(r"zq(?:[ <]|$)", words) is not None


class Page(HTMLParser):
    """What a page has besides words: elements, where they lead, and what a terminal would obey."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements = Counter[str]()
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "style") or k[:2] == "on"]


def read(field: str, folder: Path) -> Result | None:
    """The result with the attack in a field, as a person's command reads it."""
    (folder / "result.json").write_text(dict(FIELDS)[field].model_dump_json())
    try:
        return read_result(folder)
    except InputError as problem:
        assert "cannot be compared" in str(problem)
        return None


@pytest.mark.few(4)
@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
def test_no_field_of_a_result_is_live_on_the_page_of_a_report(field: str, tmp_path: Path) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    text = html(made)
    page = Page(text)
    assert not page.elements["b"]
    assert not page.elements["script"]
    assert not [link for link in page.links if "zq" in link or "x.example" in link]
    assert not re.findall(r"[\u202e\x1b]", text)


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
@pytest.mark.parametrize("as_json", [False, True])
def test_no_field_of_a_result_steers_a_terminal(
    field: str, as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    if as_json:
        say(made.model_dump_json(indent=2))
    else:
        _tell(made, tmp_path, None)
    said = capsys.readouterr().out
    assert not re.findall(r"[\u202e\x1b]", said) and not ORDER.search(said)
    assert not as_json or Result.model_validate_json(said) == made


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
def test_no_field_of_a_result_is_live_in_any_outlet(field: str, tmp_path: Path) -> None:
    made = read(field, tmp_path)
    if made is None:
        return
    record = Record(job=job(), state="done", created=0.0, note=ATTACK)
    shown = {
        "title": title(made),
        "subject": title(made, conventional=True),
        "message": commit_message(made, title(made)),
        "body": body(made),
        "comment": concluded(job(), made, "An outcome.", show_patch=True),
        "history": history(record, made),
    }
    shown["report"] = markdown(made)
    assert {name: found for name, text in shown.items() if (found := live(name, text))} == {}


class Told(Forge):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def comments(self, number: int, since: object = None) -> list[Any]:
        return []

    def comment(self, number: int, body: str) -> Any:
        self.said.append(body)

    def set_status(self, commit: str, status: Status) -> None:
        assert "\n" not in status.context + status.description
        self.said += [status.context, status.description, status.summary]


Told.__abstractmethods__ = frozenset()
A_PLACE = Place(case="a", file="op_kernel/scale.cpp", line=1)
A_FINDING = Finding(
    kind="race",
    severity=Severity.ERROR,
    title="race",
    place=A_PLACE,
    other=A_PLACE,
    text="t",
    evidence="e",
    advice="a",
    varied="v",
)
CHANGE = {
    "run": job().run,
    "operator": "src/a",
    "base_commit": "1" * 40,
    "head_commit": "2" * 40,
    "fingerprint": SIMULATED,
}
CHECKED = CheckedChange(
    **cast(Any, CHANGE), unchecked="u", new=(A_FINDING,), old=(A_FINDING,), gone=(A_FINDING,)
)
CASES = (
    ComparedCase(case="a", before_us=1.0, after_fault="f"),
    ComparedCase(case="b", before_us=1.0, after_us=2.0, before_fault="f"),
)
MEASURED = MeasuredChange(
    **cast(Any, CHANGE), derived=True, cases=CASES, new_faults=("f",), gone_faults=("f",)
)
REPORT = CheckReport(
    operator="o",
    folder=Path("src/a"),
    findings=(A_FINDING,),
    notes=("n",),
    unchecked="u",
    workload="w",
)
REQUEST = MergeRequest(
    number=1,
    title="t",
    body="b",
    source_branch="optimize/a/b",
    target_branch="main",
    head="1" * 40,
    place="https://forge.example/1",
    updated_at="2026-01-01T00:00:00Z",
)


def check_run(one: Job, words: str) -> str:
    forge = Told()
    set_check(one, forge, "failure", words, words)
    return "\n".join(forge.said)


@pytest.mark.parametrize("field", [name for name, _ in FIELDS])
def test_no_field_of_a_result_is_live_in_a_check_run_or_in_sarif(field: str) -> None:
    made = dict(FIELDS)[field]
    one = OPERATOR.model_copy(update={"root": Path("/top", made.operator_path)})
    log = sarif([(one, t) for t in made.trials], Path("/top"))
    Draft7Validator(LOG).validate(log)
    texts = [one["message"]["text"] for one in log["runs"][0]["results"]]
    assert not re.findall(r"[\u202e\x1b]", json.dumps(log, ensure_ascii=False))
    assert not any("<b>" in str(one["locations"]) for one in log["runs"][0]["results"])
    assert all(isinstance(text, str) for text in texts)
    shown = check_run(job(operator=made.operator_path or "a"), f"{title(made)} {made.operator}")
    assert live("check", shown) == []


def test_no_field_of_a_check_or_a_measurement_is_live_in_any_outlet() -> None:
    found: dict[str, list[str]] = {}
    for field, checked in hostile(CHECKED):
        shown = checking.section(job(kind="check"), checked), checking.summary(checked)
        found |= {f"checked {field}": live("comment", shown[0])}
        found |= {f"check {field}": live("check", check_run(job(kind="check"), shown[1]))}
    for field, measured in hostile(MEASURED):
        words = measuring.summary(measured, 1.05)
        found |= {f"measured {field}": live("comment", measuring.section(job(), measured))}
        found |= {f"measure {field}": live("check", check_run(job(kind="measure"), words))}
    for field, reported in hostile(REPORT):
        log = check_sarif([reported], Path("/top"))
        Draft7Validator(LOG).validate(log)
        found |= {
            f"sarif {field}": re.findall(r"[\u202e\x1b]", json.dumps(log, ensure_ascii=False))
        }
    assert len(found) > 60
    assert {name: what for name, what in found.items() if what} == {}


def test_no_field_of_a_checks_report_steers_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for _, reported in hostile(REPORT):
        for line in report_lines(reported, "ascendopt check"):
            say(line)
    said = capsys.readouterr().out
    assert not re.findall(r"[\u202e\x1b]", said) and not ORDER.search(said)


@pytest.mark.parametrize("attack", [ATTACK, BOX])
def test_no_field_of_a_job_or_of_a_request_is_live_in_the_dashboard(
    attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor ticks a box there: a person who ticks another one would ask for that."""
    monkeypatch.setattr(f"{__name__}.ATTACK", attack)
    states = ("waiting", "running", "queued", "failed")
    records = [
        (field, one)
        for state in states
        for field, one in hostile(Record(job=job(operator="a"), state=state, created=0, note="n"))  # type: ignore[arg-type]
    ]
    requests = [(field, one) for field, one in hostile(REQUEST) if field != "place"]
    noes = [No("operator", attack, "2027-01-31", attack), No("idea", attack, by=attack)]
    parts: dict[str, dict[str, Any]] = {"noes": {"noes": noes}}
    parts |= {f"job {f}": {r.state: [r]} for f, r in records}
    parts |= {f"request {f}": {"open": [m], "closed": [(m, "src/a")]} for f, m in requests}
    parts |= {"passed": {"passed": [attack]}, "broken": {"broken": attack}}
    assert "job job.operator" in parts and "request title" in parts
    lists = (*states, "open", "noes", "closed", "passed")
    empty: dict[str, Any] = {**dict.fromkeys(lists, []), "broken": ""}
    for name, given in parts.items():
        shown = page("dashboard.md.j2", shown=30, limit=5, **{**empty, **given})
        words = LINK.sub(r"\1", shown)
        assert live("dashboard", words) == [] and ticks(shown) == [], name
        boxes = ticks(shown.replace("- [ ]", "- [x]"))
        assert {t.what for t in boxes} <= {attack, "a", job().key, "1"}, name


def test_no_field_of_a_job_is_live_in_a_section_or_in_the_name_of_a_check() -> None:
    for field, one in hostile(job(kind="check", number=3)):
        forge = Told()
        put_section(forge, one, "words")
        assert live("comment", "\n".join(forge.said)) == [], field
        assert live("check", check_run(one, "words")) == [], field


@pytest.mark.parametrize(
    "name", [ATTACK, "=HYPERLINK(1)", "@SUM(1)", "+cmd|x!A0", "-cmd|x!A0", "\t=1"]
)
def test_no_name_in_a_table_is_a_formula_or_an_order(name: str) -> None:
    case = measurement(1.0).cases[0]
    head, row = csv.reader(op_basic_info(name, "vector", case, 1800.0).splitlines())
    assert len(head) == len(row)
    assert not any(re.match(r"[=@+-]", cell) for cell in row)
    assert not re.findall(r"[\u202e\x1b\t]", "".join(row))
