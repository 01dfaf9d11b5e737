"""The page of the kernel API: each call of our headers, its forms, and the tests that name it.

    python -m lab.reference.api_page docs            # writes docs/api.md
    python -m lab.reference.api_page --documented DIR # which documented names our headers lack

DIR is an asc-devkit checkout, whose docs/zh/api say for each page which chips have its calls.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import click
from jinja2 import Environment, FileSystemLoader

from ci.host.door.own import HEADERS, own_headers
from ci.simulator.toolchain import CORE_KINDS, Toolchain
from ci.source.cpp_source import Source, ancestors
from ci.system.compiler import compiler
from rules.api import load_api
from rules.architectures import load_architecture

_LINE_MARK = re.compile(r'# \d+ "([^"]*)"')
_TOP = Path(__file__).parents[2]
_CHIP = re.compile(r'<!-- npu="(?!910b)[^"]*" id\d+ -->.*?<!-- end id\d+ -->', re.DOTALL)
_HAS_IT = re.compile(r"Atlas A2[^\n]*：支持")
_PROTOTYPE = re.compile(
    r"__aicore__ (?:static )?(?:constexpr )?inline (?:constexpr )?[\w:<>&*]+ (\w+) ?\("
)


@cache
def declared() -> Mapping[str, list[list[str]]]:
    """The parameters of each form of each function that our headers declare, macros expanded."""
    source = Source("\n".join(_own_lines("vector")))
    found: dict[str, list[list[str]]] = {}
    for function in source.functions:
        method = any(
            a.type in ("class_specifier", "struct_specifier") for a in ancestors(function.node)
        )
        declarator = function.node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator else None
        if parameters is not None and not method:
            forms = found.setdefault(function.name, [])
            forms.append([source.code(p) for p in parameters.named_children])
    return found


def public_calls() -> Mapping[str, list[list[str]]]:
    """Return what kernels may call: names with a capital letter, without implementations."""
    return {
        name: forms
        for name, forms in sorted(declared().items())
        if re.fullmatch(r"[A-Z]\w*", name) and not name.endswith("Impl")
    }


def _preprocessed(core: str) -> str:
    text = f'{own_headers().prefix}#include "{HEADERS}/lib/matmul_intf.h"\n'
    flags = Toolchain(load_architecture("dav-c220")).kernel_flags(core)
    command = [compiler(), "-E", "-x", "c++", *flags, *own_headers().arguments(), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _own_lines(core: str) -> list[str]:
    ours, lines = False, []
    for line in _preprocessed(core).splitlines():
        mark = _LINE_MARK.match(line)
        if mark:
            ours = mark[1].startswith(str(HEADERS))
        elif ours:
            lines.append(line)
    return lines


def _tests() -> Mapping[str, set[str]]:
    """The test files of the simulator, and our own operators, by the capital words in them."""
    found: dict[str, set[str]] = defaultdict(set)
    operators = _TOP / "tests" / "operators" / "src"
    files = [(p, p.stem) for p in sorted((_TOP / "tests/ci/simulator").glob("test_*.py"))]
    files += [
        (p, p.relative_to(operators).parts[1]) for p in sorted(operators.glob("*/*/op_kernel/*"))
    ]
    for path, label in files:
        for name in re.findall(r"\b[A-Z]\w+\b", path.read_text(encoding="utf-8")):
            found[name].add(label)
    return found


def page() -> str:
    """The page's Markdown."""
    api, tests = load_api(), _tests()
    rows = []
    for name, forms in public_calls().items():
        family = api.calls.get(name)
        rows.append((name, len(forms), ", ".join(family.pipes) if family else "",
                     ", ".join(sorted(tests[name]))))  # fmt: skip
    jinja = Environment(  # noqa: S701  (Markdown, from our own headers)
        loader=FileSystemLoader(Path(__file__).parent), keep_trailing_newline=True
    )
    return jinja.get_template("api_page.md.j2").render(
        rows=rows, tested=sum(bool(row[3]) for row in rows)
    )


def documented(checkout: Path) -> Mapping[str, str]:
    """The functions that the checkout's documentation gives the 910B, each with its page."""
    found: dict[str, str] = {}
    for path in sorted((checkout / "docs/zh/api/SIMD-API").rglob("*.md")):
        text = _CHIP.sub("", path.read_text(encoding="utf-8")).partition("## 调用示例")[0]
        if "C-API" in path.parts or not _HAS_IT.search(text):
            continue
        for name in _PROTOTYPE.findall(text):
            found.setdefault(name, path.relative_to(checkout).as_posix())
    return found


def lacking(checkout: Path) -> tuple[int, Mapping[str, str]]:
    """How many functions are documented for the 910B, and which of them our headers lack."""
    known = documented(checkout)
    words = {w for core in CORE_KINDS for w in re.findall(r"\w+", _preprocessed(core))}
    return len(known), {name: page for name, page in known.items() if name not in words}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--documented", "checkout", type=click.Path(path_type=Path, exists=True))
def main(folder: Path | None, checkout: Path | None) -> None:
    """Write the page into FOLDER, or say which documented calls of the 910B our headers lack."""
    if folder is not None:
        (folder / "api.md").write_text(page(), encoding="utf-8")
    if checkout is not None:
        count, missing = lacking(checkout)
        for name, where in missing.items():
            click.echo(f"{name}  {where}")
        click.echo(f"{count - len(missing)} of {count} documented functions exist.")


if __name__ == "__main__":
    main()
