"""Whatever a caller gives, the answer is a sentence: no exception but InputError."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ascendopt
from ascendopt.api import given
from tests.ascendopt.api.test_operator import HOST, KERNEL, OPERATOR

NO_PATHS = (5, None, b"op_host", ["op_host"], {"op_host": ""}, object(), "a\0b", "x" * 5000)

NO_PATCHES = (
    *(5, True, object(), ["x"], b"--- a\n+++ b\n", "a\0b", "x" * 5000, ""),
    *({HOST: 5}, {HOST: None}, {HOST: b""}, {HOST: "\udc80"}, {5: "x"}, {Path(HOST): "x"}),
    *("no diff\n\udc80", "x\n" * 3_000_000, {KERNEL: "x" * 5_000_000}),
)


@pytest.fixture(scope="module")
def operator() -> ascendopt.Operator:
    return ascendopt.load(OPERATOR)


@pytest.mark.parametrize("path", NO_PATHS, ids=lambda path: f"{path!r:.20}")
def test_what_is_no_path_is_refused_wherever_one_is_taken(
    path: Any, operator: ascendopt.Operator, tmp_path: Path
) -> None:
    takers: tuple[Callable[[Any], object], ...] = (
        ascendopt.load,
        ascendopt.evaluate,
        ascendopt.env,
        ascendopt.derive_workload,
        lambda one: ascendopt.census(one, out=tmp_path),
        lambda one: ascendopt.census(tmp_path, out=one),
        lambda one: ascendopt.create("file.py:f", {"x": (4,)}, out=one),
        lambda one: operator.verify({HOST: ""}, out=one),
    )
    if path is not None:
        takers += (
            lambda one: ascendopt.load(OPERATOR, one),
            lambda one: ascendopt.profile(operator, out=one),
            lambda one: ascendopt.optimize(operator, out=one),
            lambda one: ascendopt.optimize(operator, bank=one, out=tmp_path),
            ascendopt.Bank,
        )
    for take in takers:
        with pytest.raises(ascendopt.InputError) as said:
            take(path)
        assert str(said.value).endswith("."), said.value


@pytest.mark.parametrize("patch", NO_PATCHES, ids=lambda patch: f"{patch!r:.20}")
def test_what_is_no_patch_is_refused_in_a_sentence(patch: Any, operator: Any) -> None:
    with pytest.raises(ascendopt.InputError, match=r"\.$"):
        operator.candidate(patch)


@pytest.mark.parametrize(
    ("take", "named"),
    [
        (lambda o: o.evaluate(conditions="hot"), "conditions"),
        (lambda o: o.evaluate(uncertainty="perhaps"), "uncertainty"),
        (lambda o: o.optimize(strategy="nope"), "strategy"),
        (lambda o: o.optimize(proposer=5), "proposer"),
        (lambda o: o.optimize(proposer="nobody"), "no proposer 'nobody'"),
        (lambda o: o.optimize(budget="many"), "budget"),
        (lambda o: ascendopt.load(OPERATOR, device=5), "device"),
        (lambda o: ascendopt.evaluate(o, workload="w.yaml"), "leave workload out"),
        (lambda o: ascendopt.env(o, steps="two"), "not two"),
        (lambda o: ascendopt.derive_workload(OPERATOR, out="w", cases=0), "cases"),
        (lambda o: ascendopt.census(OPERATOR, out="c", pol=""), "no option pol"),
        (lambda o: ascendopt.create(print, out="made"), "needs cases"),
        (lambda o: ascendopt.create("f.py:f", {"x": 4}, out="made"), "the shape 4"),
        (lambda o: ascendopt.create("f.py:f", "x", out="made"), "by argument"),
        (lambda o: ascendopt.create("nope.py:f", {"x": [4]}, out="made"), "no such file"),
    ],
)
def test_a_bad_option_is_named_before_anything_begins(
    take: Callable[[Any], object],
    named: str,
    operator: ascendopt.Operator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ascendopt.InputError, match=named):
        take(operator)
    assert not [*tmp_path.iterdir()]


def test_a_folder_to_write_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ascendopt.InputError, match="it is a file"):
        given.folder_of(tmp_path / "file", "out")
