from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bot.report import write_reports
from bot.report.facts import headline, pipe_rows, trajectory
from bot.report.html import diff_lines, html
from bot.report.markdown import markdown
from bot.report.mermaid import trajectory_chart
from bot.report.picture import pipes_picture, trajectory_picture
from bot.server.merge_request import body
from ci.model.result import OtherSizes, Result, RoleUse, Sibling
from ci.model.trial import CaseMeasurement, Change, Outcome, Trial
from tests.bot.make import result, trial

VOID = {"meta", "br", "img", "hr", "input", "link"}


class Balanced(HTMLParser):
    """Fails on a tag that closes nothing; collects what would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.scripts += tag == "script"
        self.loads += [v for k, v in attrs if k in ("src", "href") and v and not v.startswith("#")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [v for k, v in attrs if k in ("src", "href") and v and not v.startswith("#")]


def hostile() -> Result:
    words = "<script>x</script> [a](http://evil) @all | # </section>"
    bad = trial(
        1,
        {"op_host/scale_add.cpp": "x"},
        None,
        rationale=words,
        message=words,
        outcome=Outcome.COMPILE_ERROR,
    )
    whole = result()
    return whole.model_copy(
        update={
            "trials": (whole.baseline, bad, whole.best),
            "verdict_reason": words,
            "bottleneck_before": words,
        }
    )


@pytest.mark.parametrize("made", [result(), hostile()], ids=["ordinary", "hostile"])
def test_the_page_is_well_formed_and_loads_nothing(made: Result) -> None:
    page = Balanced()
    page.feed(html(made))
    assert page.open == []
    assert page.loads == []
    assert page.scripts == 0


def test_the_head_of_the_page_says_each_thing_once() -> None:
    page = html(result())
    assert page.count(headline(result())) == 1
    assert f"<h1>{headline(result())}</h1>" in page
    failed = result(verdict="not_improved", verdict_reason="nothing helped", speedup=1.0)
    assert f"<p>{headline(failed)}</p>" in html(failed)


def test_hostile_text_stays_inside_its_cell_in_markdown() -> None:
    text = markdown(hostile())
    assert "<script" not in text
    assert "@all" not in text
    rows = [line for line in text.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 7


def with_models() -> Result:
    words = "<b>gpt</b> | @all [x](http://evil.example)"
    roles = (
        RoleUse(role="mutation", by=words, calls=3, unusable=1, tokens_in=900, tokens_out=100),
        RoleUse(role="rewriting", by="tiny", calls=1, tokens_in=50, tokens_unsaid=7, cost=None),
        RoleUse(role="rewind", by="rules"),
    )
    whole = result()
    edit = whole.best.candidate.model_copy(update={"role": "rewriting", "model": words})
    best = whole.best.model_copy(update={"candidate": edit})
    trials = tuple(best if t.number == best.number else t for t in whole.trials)
    stopped = f"{words} has no money left."
    return whole.model_copy(
        update={"models": roles, "best": best, "trials": trials, "stopped": stopped}
    )


def test_a_report_says_which_role_was_filled_by_whom_and_what_that_took() -> None:
    text = markdown(with_models())
    assert "4 requests, 1,050 tokens and about 7" in text
    assert "cost unknown" in text
    row = next(line for line in text.splitlines() if line.startswith("| mutation |"))
    assert "| 3 | 1 | 0 | 900 | 100 |" in row
    assert "| rewind | rules | 0 |" in text
    assert "ended early" in text


@pytest.mark.parametrize("render", [markdown, html, body])
def test_words_of_models_are_harmless_wherever_they_are_shown(
    render: Callable[[Result], str],
) -> None:
    text = render(with_models())
    assert "gpt" in text
    assert "<b>" not in text
    if render is not html:
        assert "@all" not in text
        assert "http://evil" not in text
        assert "[x](" not in text


@pytest.mark.parametrize("render", [markdown, html])
def test_every_required_part_is_there(render: object) -> None:
    text = render(result())  # type: ignore[operator]
    for part in (
        "Cases",
        "What changed",
        "Pipes",
        "What was checked",
        "experience",
        "Trials",
        "Environment",
        "Reproduce",
        "Patch",
    ):
        assert part in text
    for figure in ("2.00×", "12.00", "6.000", "18,432", "abcdef012345", "910B4"):
        assert figure in text
    assert "imulated time" in text
    assert "git apply best.patch" in text


@pytest.mark.parametrize("render", [markdown, html])
def test_a_case_says_its_floor_where_it_is_known(render: Callable[[Result], str]) -> None:
    known = result()
    cases = [case.case for case in known.best.measurement.cases] if known.best.measurement else []
    floors = known.model_copy(update={"floors_us": {cases[0]: 1.2345}})
    assert "1.234" not in render(known)
    assert render(floors).count("1.234") == 1


@pytest.mark.parametrize("render", [markdown, html])
def test_a_trial_says_which_gate_refused_it_or_which_it_passed(
    render: Callable[[Result], str],
) -> None:
    text = render(result()).replace("\\_", "_")
    assert text.count("rejected by run") == 2
    assert text.count("guard to plausible") == 3
    assert text.count("guard to edges") == 1  # the best was confirmed


def test_every_trial_is_listed() -> None:
    text = markdown(result())
    for number in range(6):
        assert re.search(rf"^\| {number} \|", text, flags=re.MULTILINE)


def test_a_failed_baseline_makes_a_report_too(tmp_path: Path) -> None:
    failed = trial(0, outcome=Outcome.RACE, message="VECTOR before MTE2", stage="baseline")
    write_reports(
        result(
            verdict="baseline_failed",
            verdict_reason="it races",
            baseline=failed,
            best=failed,
            trials=(failed,),
            diff="",
            speedup=1.0,
            verification=None,
            retrieved=(),
        ),
        tmp_path,
    )
    assert "VECTOR before MTE2" in (tmp_path / "report.md").read_text()
    assert "it races" in (tmp_path / "report.html").read_text()
    assert not (tmp_path / "trajectory.svg").exists()


def test_pictures_named_in_markdown_exist_and_the_result_reads_back(tmp_path: Path) -> None:
    write_reports(result(), tmp_path)
    named = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", (tmp_path / "report.md").read_text())
    assert named == ["trajectory.svg", "pipes.svg"]
    assert all((tmp_path / name).read_text().startswith("<svg") for name in named)
    assert Result.model_validate_json((tmp_path / "result.json").read_text()) == result()


def test_the_same_result_gives_the_same_pictures() -> None:
    points, rows = trajectory(result()), pipe_rows(result())
    first = trajectory_picture(points, "time"), pipes_picture(rows)
    trajectory_picture.cache_clear()
    pipes_picture.cache_clear()
    assert (trajectory_picture(points, "time"), pipes_picture(rows)) == first


def test_mermaid_thins_long_runs_and_keeps_the_last_point() -> None:
    points = trajectory(result())
    many = [points[0]._replace(trial=n, best_us=500.0 - n) for n in range(301)]
    chart = trajectory_chart(many, "simulated time")
    values = re.search(r"line \[(.*)\]", chart)
    assert values is not None
    assert len(values.group(1).split(", ")) <= 61
    assert values.group(1).endswith("200.000")
    assert trajectory_chart(points[:1], "time") == ""


def test_no_part_of_an_added_line_looks_unchanged() -> None:
    diff = "@@ -1 +1 @@\n-a\n+b\u2028 c\x0c d\r e\n"
    assert [kind for kind, _ in diff_lines(diff)] == ["hunk", "del", "add"]


def test_diff_lines_are_told_apart() -> None:
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n c"
    assert [kind for kind, _ in diff_lines(diff)] == [
        "file",
        "file",
        "file",
        "hunk",
        "del",
        "add",
        "same",
    ]


@pytest.mark.parametrize("render", [markdown, html, body])
def test_what_was_varied_is_counted_and_little_of_it_is_told_loudly(
    render: Callable[[Result], str],
) -> None:
    made = result()
    assert made.verification
    assert "Correct on 22 other cases (shapes, attributes, values)" in render(made)
    assert "length 14, dtype 8" in render(made)
    assert "WARNING" not in render(made)
    few = made.verification.model_copy(
        update={"varied": {"dtype": 3}, "shallow": True, "not_varied": ("rank: too costly to try",)}
    )
    told = render(result(verification=few))
    assert "WARNING: the original operator passes only 3 cases" in told
    assert "What was not checked" in told and "Rank: too costly to try." in told


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"unchanged_from": 4096}, "0.98× to 2.50×, unchanged from 4,096 elements on."),
        ({}, "Speedup on inputs of 1 to 65,536 elements: 0.98× to 2.50×."),
        ({"unchanged_from": 1}, "0.98× to 2.50×, the same at every size."),
        (
            {"slowest_case": "1x1024 float32"},
            "0.98× to 2.50×. Slowest (0.98×): 1x1024 float32.",
        ),
        ({"least": 65536}, "Speedup on inputs of 65,536 elements: 0.98× to 2.50×."),
    ],
)
def test_small_and_large_inputs_are_told_apart(sizes: dict[str, int | str], told: str) -> None:
    made = result()
    assert made.verification
    tried = {"least": 1, "most": 65536, "slowest": 0.98, "fastest": 2.5} | sizes
    found = made.verification.model_copy(update={"sizes": OtherSizes.model_validate(tried)})
    assert told in body(result(verification=found))


def test_the_merge_request_names_the_report_where_it_has_an_address() -> None:
    address = "https://bot.example.org/runs/0123"
    assert f"[the whole report]({address})" in body(result(), report_at=address)
    assert "the whole report" not in body(result())


@pytest.mark.parametrize("write", [markdown, body])
def test_every_sentence_of_the_verification_is_a_line_and_siblings_are_a_table(
    write: Callable[[Result], str],
) -> None:
    plain = result()
    assert plain.verification is not None
    siblings = (
        Sibling(operator="thrice", speedup=1.25),
        Sibling(operator="halved", note="it has no suitable workload"),
    )
    found = plain.verification.model_copy(
        update={"siblings": siblings, "shallow": True, "not_varied": ("rank: too costly to try",)}
    )
    lines = write(plain.model_copy(update={"verification": found})).splitlines()
    bullets = [line for line in lines if line.startswith("- ")]
    assert not any("WARNING" in line for line in bullets)
    loud = [line for line in lines if line.startswith("**WARNING")]
    assert len(loud) == 2 and "were not run: halved" in loud[1]
    assert lines.index(loud[1]) < lines.index(next(x for x in lines if "What was checked" in x))
    assert "- Rank: too costly to try." in bullets
    assert "| thrice | 1.25× |" in lines
    assert any(
        line.startswith("- Other operators that use the changed files: 1 of 2") for line in bullets
    )
    assert not any("| halved" in line for line in lines)
    assert "thrice" not in write(plain)


@pytest.mark.parametrize("render", [markdown, html, body])
def test_what_is_not_known_is_said(render: Callable[[Result], str]) -> None:
    made = result()
    assert made.verification
    defect = "1x0 float32: run: copy_gm_to_ubuf reads far from every tensor"
    found = made.verification.model_copy(update={"baseline_defects": (defect,)})
    told = render(result(verification=found, other_chips=("ascend310p",)))
    assert "1x0 float32" in told
    assert "also declared for ascend310p. Only 910B4 was used." in told
    assert "ascend310p" not in render(made)


@pytest.mark.parametrize("render", [markdown, html, body])
def test_what_changed_is_the_sum_of_the_steps(render: Callable[[Result], str]) -> None:
    summed = Change(what="TILE is 8192 instead of 1024", path="op_host/x.cpp", functions=("Tile",))
    told = render(result(changes=(summed,)))
    changed = told[told.index("What changed") : told.index("What was checked")]
    assert "TILE is 8192 instead of 1024" in changed and "op_host/x.cpp" in changed
    assert "larger tile" not in changed
    assert "larger tile" in render(result())


def test_an_exact_result_is_called_exact() -> None:
    made = result()
    assert made.verification
    exact = made.verification.model_copy(update={"worst_error": 0.0})
    assert "none of 18,432 output elements differs" in body(result(verification=exact))
    small = made.verification.model_copy(update={"worst_error": 0.0002})
    assert "largest error is 0.02% of the tolerance" in body(result(verification=small))


def test_cases_beyond_the_first_are_folded_with_the_slowest_on_top() -> None:
    made = result()
    assert made.baseline.measurement and made.best.measurement
    before, after = made.baseline.measurement.cases[0], made.best.measurement.cases[0]

    def many(trial: Trial, case: CaseMeasurement, grow: float) -> Trial:
        cases = tuple(
            case.model_copy(update={"case": f"c{n}", "median_us": case.median_us + grow * n})
            for n in range(12)
        )
        assert trial.measurement
        measured = trial.measurement.model_copy(update={"cases": cases})
        return trial.model_copy(update={"measurement": measured})

    base, best = many(made.baseline, before, 0), many(made.best, after, 0.1)
    shown = body(result(baseline=base, best=best, trials=(base, best)))
    assert shown.index("`c11`") < shown.index("4 more cases") < shown.index("`c0`")
