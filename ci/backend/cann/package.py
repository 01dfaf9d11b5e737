"""An operator built by its repository's own `build.sh` and installed into a private folder.

Command lines: cann-ops' `build.sh --help` ("-n|--op-name", "-c|--compute-unit"); docs/zh/install of
ops-math and ops-nn ("bash build.sh --pkg --soc=${soc_version} [--vendor_name=${vendor_name}]
[--ops=${op_list}] [-j${n}]"). Both leave a self-extracting package in build_out, which
`--install-path` installs into a folder; its vendors/NAME is what ASCEND_CUSTOM_OPP_PATH names.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ci.backend.cann.toolkit import Toolkit
from ci.host.source_tree import lay
from ci.model.amount import amount
from ci.model.errors import EnvironmentProblem, InputError, TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Outcome, Refusal
from ci.system.cache import BuildCache, digest
from ci.system.candidate_compiler import compile_evidence
from ci.system.sandbox import Limits, run

KIND: Final = "cann-packages"
"""The entries of the cache."""

VENDOR: Final = "ascendopt"

BUILD_LIMITS: Final = Limits(
    seconds=3600, memory_bytes=64 << 30, processes=4096, file_bytes=8 << 30, files=4096
)
"""Limits of one operator's build: bisheng compiles each dtype and tiling key by itself."""

_STAMP: Final = re.compile(rb"^\[\d{4}-[-\d :]+\] ", re.M)

LEFT_OUT: Final = {".git", "build", "build_out", "output", "docs"}
"""Folders of a repository that a build does not read, or makes itself."""


@dataclass(frozen=True)
class Package:
    """An installed operator."""

    vendor: Path
    """The folder that ASCEND_CUSTOM_OPP_PATH names."""

    @property
    def headers(self) -> list[Path]:
        """The headers of its aclnn functions."""
        return sorted((self.vendor / "op_api" / "include").rglob("aclnn*.h"))

    @property
    def library(self) -> Path:
        """The library of its aclnn functions."""
        return self.vendor / "op_api" / "lib" / "libcust_opapi.so"


class Packages:
    """Builds the candidates of one repository, each in a tree of its own; equal ones once."""

    def __init__(
        self, toolkit: Toolkit, definition_word: str, cache: BuildCache | None = None
    ) -> None:
        """`definition_word` is the chip's family as build.sh takes it: ascend910b."""
        self._toolkit = toolkit
        self._chip = definition_word
        self._cache = cache or BuildCache()
        self._digests: dict[Path, str] = {}

    def build(self, operator: Operator, files: dict[str, str]) -> Package:
        """The operator with the changed files, built and installed.

        Raises TrialFailure(COMPILE_ERROR), InputError for an operator outside a repository with
        a build.sh, and EnvironmentProblem for a toolkit without set_env.sh.
        """
        top = operator.repository
        if top is None or not (top / "build.sh").is_file():
            raise InputError(
                f"{operator.root} lies in no repository with a build.sh, by which the cann backend"
                " builds; use --backend cann-direct."
            )
        changed = {operator.repository_path(name): text for name, text in files.items()}
        parts = [self._toolkit.cann, str(self._toolkit.home), self._chip, operator.name]
        parts += [self._digest(top), *(p for item in sorted(changed.items()) for p in item)]
        place = self._cache.get(
            KIND, digest(parts), lambda folder: self._make(folder, operator, top, changed)
        )
        self._cache.trim_hourly()
        return Package(_vendor(place))

    def _make(self, folder: Path, operator: Operator, top: Path, changed: dict[str, str]) -> None:
        tree, installed = folder / "tree", folder / "opp"
        shutil.copytree(
            top, tree, symlinks=True,
            ignore=lambda where, names: LEFT_OUT & set(names) if Path(where) == top else set(),
        )  # fmt: skip
        lay(tree, changed)
        installed.mkdir()
        place = operator.root.resolve().relative_to(top.resolve()).as_posix()
        built = ["bash", "build.sh", *build_options(operator, self._chip)]
        self._run(built, tree, folder, place)
        made = sorted((*tree.glob("build_out/*.run"), *tree.glob("output/*.run")))
        if not made:
            message = "build.sh ended well and left no package in build_out."
            raise TrialFailure(Outcome.COMPILE_ERROR, Refusal(sentence=message))
        installer = ["bash", str(made[0]), *install_options(operator, installed)]
        self._run(installer, tree, folder, place)
        _vendor(folder)  # what the installer did not do is said before the entry is kept
        shutil.rmtree(tree)

    def _run(self, command: Sequence[str], cwd: Path, folder: Path, operator_place: str) -> None:
        """Run a script in the tree; `operator_place` is the operator's folder in it."""
        script = self._toolkit.set_env
        if script is None:
            raise EnvironmentProblem(
                f"The CANN toolkit in {self._toolkit.home} has no set_env.sh, which a build needs."
            )
        sourced = ["bash", "-c", '. "$0" > /dev/null && exec "$@"', str(script), *command]
        done = run(
            [*self._toolkit.environment, *sourced],
            cwd=cwd,
            readable=[*self._toolkit.readable, script.parent],
            writable=[folder],
            limits=BUILD_LIMITS,
            devices=[],  # none, but shells, make and the like talk among each other
        )
        if not done.ok:
            # These scripts tell a compiler's words on stdout, ops-math with the time in front.
            said = _STAMP.sub(b"", done.stderr + b"\n" + done.stdout)
            for own in (f"{cwd}/{operator_place}", operator_place):
                said = said.replace(f"{own}/".encode(), b"")
            told = dataclasses.replace(done, stderr=said)
            raise TrialFailure(Outcome.COMPILE_ERROR, compile_evidence(told, "package"))

    def _digest(self, top: Path) -> str:
        """Return the digest of the whole original repository, read once."""
        if top not in self._digests:
            parts: list[str | bytes] = []
            for where, folders, names in os.walk(top):
                if Path(where) == top:
                    folders[:] = [f for f in folders if f not in LEFT_OUT]
                folders.sort()
                for name in sorted(names):
                    path = Path(where) / name
                    if path.is_file():
                        parts += [str(path.relative_to(top)), path.read_bytes()]
            self._digests[top] = digest(parts)
        return self._digests[top]


def build_options(operator: Operator, chip: str) -> list[str]:
    """What the repository's build.sh takes for this one operator."""
    if operator.layout == "cann-ops":
        return ["-n", operator.name, "-c", chip]
    top = operator.repository
    experimental = top is not None and "experimental" in operator.root.relative_to(top).parts
    return [
        "--pkg",
        *(["--experimental"] if experimental else []),
        f"--soc={chip}",
        f"--vendor_name={VENDOR}",
        f"--ops={operator.name}",
        f"-j{os.cpu_count() or 1}",
    ]


def install_options(operator: Operator, folder: Path) -> list[str]:
    """What the package takes. cann-ops: "--quiet --install-path=${install_path}" (QuickStart)."""
    quiet = ["--quiet"] if operator.layout == "cann-ops" else []
    return [*quiet, f"--install-path={folder}"]


def _vendor(place: Path) -> Path:
    found = sorted(p.parent for p in place.glob("opp/vendors/*/op_api"))
    if len(found) != 1:
        message = (
            f"The package installed {amount(len(found), 'vendor')} with aclnn functions, not one."
        )
        raise TrialFailure(Outcome.COMPILE_ERROR, Refusal(sentence=message))
    return found[0]
