from __future__ import annotations

import subprocess
import tomllib

from tests.places import TOP

PACKAGES = ("bot", "ci", "experience", "rules")


def test_every_package_is_in_the_wheel() -> None:
    made = tomllib.loads((TOP / "pyproject.toml").read_text())
    assert tuple(made["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == PACKAGES
    assert made["project"]["scripts"]["ascendopt"] == "bot.cli.main:main"


def test_no_shipped_file_is_left_out_because_git_ignores_it() -> None:
    """The wheel holds what git does not ignore: a folder named build or demo would be lost."""
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "--", *PACKAGES],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:  # no git checkout: an unpacked source archive has nothing ignored
        return
    lost = [f for f in listed.stdout.splitlines() if not f.endswith(".pyc")]
    assert lost == []


def test_templates_rules_and_sources_lie_inside_the_packages() -> None:
    for pattern in (
        "bot/report/templates/*.j2",
        "rules/motifs/*.yml",
        "rules/architectures/*.toml",
        "rules/devices/*.toml",
        "rules/guards/*.yml",
        "rules/prompts/*.j2",
        "rules/prices.yml",
        "experience/bank/*.sql",
        "ci/simulator/machine/*.cpp",
        "ci/simulator/ascendc/*.h",
        "ci/host/cpp/**/*.h",
    ):
        assert list(TOP.glob(pattern)), pattern
