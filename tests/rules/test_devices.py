"""Device files: what they inherit, and what their mistakes are told as."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from ci.model.errors import InputError
from rules.devices import FOLDER_VARIABLE, device_names, load_device
from tests.places import TOP


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_device_says_only_what_differs(folder: Path) -> None:
    (folder / "mine.toml").write_text('base = "910B2"\nclock.mhz = 1000\nvector.vnew.cycles = 3\n')
    mine, base = load_device("mine"), load_device("910B2")
    assert mine.constants == base.constants | {"clock.mhz": 1000.0, "vector.vnew.cycles": 3.0}
    assert (mine.architecture, mine.soc) == (base.architecture, "Ascendmine")
    assert "mine" in device_names() and mine.version != base.version


def test_a_changed_file_is_another_version(folder: Path) -> None:
    path = folder / "mine.toml"
    path.write_text('base = "910B4"\nsoc = "AscendX"\n')
    assert load_device("mine").version == load_device("910B4").version
    assert load_device("mine").soc == "AscendX"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('base = "910B4"\nclock.mzh = 1800\n', "sets 'clock.mzh', which its base does not know"),
        ('base = "910B4"\nclock.mhz = "fast"\n', "'clock.mhz' to 'fast', which is no number"),
        ('base = "910B4"\nclock.mhz = [1]\n', "'clock.mhz' to [1], which is no number"),
        ('base = "910B4"\nrange.mte2.latency = 2\n', "latency' to 2, which is no range"),
        ('base = "910B4"\nrange.mte2.latency = [2, 3]\n', "The range of 'mte2.latency' is [2, 3]"),
        ('base = "910B4"\nrange.mte2.colour = [0.5, 2]\n', "moves 'mte2.colour', and has no such"),
        ('base = "910B4"\nwarm.mte2.colour = 1\n', "moves 'mte2.colour', and has no such"),
        ("base = 910\n", "'base' to 910, which is no word"),
        ('base = "910Z"\n', "mine has no known base '910Z'; known are 910B1"),
        ('base = "mine"\n', "mine is its own base"),
        ("clock.mhz = 1\n", "neither an architecture nor a base"),
        ('architecture = "dav-x"\n', "no architecture 'dav-x'; known are dav-c220"),
        ("clock.mhz = \n", "mine.toml cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(folder: Path, text: str, said: str) -> None:
    (folder / "mine.toml").write_text(text)
    with pytest.raises(InputError) as problem:
        load_device("mine")
    assert said in str(problem.value)


def test_an_unknown_device_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="no device '910Z9'; known are 910B1, 910B2, 910B3, 910B4"):
        load_device("910Z9")


@pytest.mark.long
def test_below_the_options_a_device_is_never_a_default_argument() -> None:
    """A forgotten device is an error of the type checker, not figures of another chip."""
    found = []
    for folder in ("ci", "rules", "experience"):
        for path in (TOP / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef):
                    found += [f"{path}:{node.lineno}" for name in _defaulted(node) if _chip(name)]
    assert found == []


def _text(folder: str, pattern: str) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (TOP / folder).rglob(pattern))


def _chip(argument: str) -> bool:
    return argument in ("device", "architecture", "chip", "soc")


def _defaulted(function: ast.FunctionDef) -> list[str]:
    given = function.args
    places = [*given.posonlyargs, *given.args]
    last = places[len(places) - len(given.defaults) :]
    named = [a for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None]
    return [argument.arg for argument in (*last, *named)]


def test_the_machine_asks_for_what_a_device_states_and_for_nothing_else() -> None:
    machine = _text("ci/simulator/machine", "*.cpp")
    python = _text("ci", "*.py")
    for device in map(load_device, device_names()):
        stated = {name for name in device.constants if not re.match(r"vector\.\w+\.", name)}
        families = "|".join({name.split(".")[0] for name in stated})
        asked = set(re.findall(rf'"((?:{families})\.(?!h")\w+)"', machine))
        assert asked - stated == set()
        assert {name for name in stated - asked if f'"{name}"' not in python} == set()
