"""The program that runs a script which makes data: `data_child.py SCRIPT [ARGUMENT...]`.

It runs in the sandbox, in a folder that it may write to. Draws begin with the same seed each time.
A library that is not installed is a value that takes part in everything and is never written: what
the script computes with it stays unknown, the rest of its files are as it makes them. This file
stands alone.
"""

import ast
import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

SEED = 1


class _Unknown(ModuleType):
    """What a library that is not here answers, whatever is asked of it."""

    __path__: list[str] = []
    dtype = np.dtype(object)
    """So that numpy converts to it, into what it does not write."""

    def __init__(self, *_args: Any, **_named: Any) -> None:
        super().__init__("unknown")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Unknown()

    def __call__(self, *_args: Any, **_named: Any) -> Any:
        return _Unknown()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_problem: object) -> None:
        pass

    def __mro_entries__(self, _bases: tuple[type, ...]) -> tuple[type, ...]:
        return (_Unknown,)  # as a base class

    def __getitem__(self, _index: Any) -> Any:
        return _Unknown()

    def __setitem__(self, _index: Any, _value: Any) -> None:
        pass


def _answer(*_args: Any, **_named: Any) -> Any:
    return _Unknown()


for _name in (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
):
    setattr(_Unknown, f"__{_name}__", _answer)
    setattr(_Unknown, f"__r{_name}__", _answer)
for _name in ("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge"):
    setattr(_Unknown, f"__{_name}__", _answer)


class _Missing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the libraries that the script names and that are not here, and what is in them."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, _path: Any = None, _target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, _spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Unknown()

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Kept(ast.NodeTransformer):
    """X.tofile(file) becomes _keep(X, file)."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """The call of another function where it is one of `tofile`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "tofile":
            name = ast.Name(id="_keep", ctx=ast.Load())
            return ast.Call(func=name, args=[node.func.value, *node.args], keywords=node.keywords)
        return node


def _keep(array: Any, file: Any, *more: Any, **named: Any) -> None:
    """Write an array; what is not known is not written."""
    if isinstance(array, _Unknown) or np.asarray(array).dtype == object:
        return
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    np.asarray(array).tofile(file, *more, **named)


_open = builtins.open


def _opened(file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
    """Open a file; the folder of one that is written is made."""
    if isinstance(file, str | Path) and "w" in mode:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    return _open(file, mode, *more, **named)


def _nothing(*_args: Any, **_named: Any) -> int:
    """Answer success: the sandbox ends who begins another process. Folders are made as needed."""
    return 0


def _imported(tree: ast.AST) -> set[str]:
    """The libraries that a script names."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def main(script: Path, arguments: list[str]) -> None:
    """Run the script as its author does, with its folder first among those of modules."""
    tree = ast.parse(script.read_bytes())
    sys.path.insert(0, str(script.parent))
    missing = {one for one in _imported(tree) if importlib.util.find_spec(one) is None}
    sys.meta_path.append(_Missing(missing))
    sys.argv = [str(script), *arguments]
    random.seed(SEED)
    np.random.seed(SEED)
    builtins.open = _opened
    os.system = _nothing
    for name in ("run", "call", "check_call", "check_output", "Popen"):
        setattr(subprocess, name, _answer)
    code = compile(ast.fix_missing_locations(_Kept().visit(tree)), str(script), "exec")
    exec(code, {"__name__": "__main__", "__file__": str(script), "_keep": _keep})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
