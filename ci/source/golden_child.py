"""Answers with a golden function's outputs: `golden_child.py FILE FUNCTION`, in the sandbox.

It sees the golden's files, Python and numpy, and nothing of this project: a file of its own, whose
wire format `golden.py` shares. A message, either way, is the length of its head (8 bytes, little
endian), the head (JSON), and the arrays that the head describes, one after the other. An array is
sent as {"dtype", "shape"}, a list as a list, an absent tensor as null. With "pattern", a number of
bytes, only so many follow, and repeat.
"""

import ctypes
import functools
import importlib.util
import inspect
import json
import mmap
import os
import struct
import sys
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

import numpy as np

LENGTH = struct.Struct("<Q")
"""Length of a message's head."""

_MAP_FIXED = 0x10

TRUSTED_KINDS = "biufc"
"""Kinds of numpy dtypes that are numbers and nothing else."""


def packed(head: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> list[bytes | memoryview]:
    """A message as the parts to write."""
    text = json.dumps(head).encode()
    flat = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).data for a in arrays]
    return [LENGTH.pack(len(text)), text, *flat]


def told(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """What a head says of a tensor, a list of tensors or None; the arrays are added to `arrays`."""
    if isinstance(value, list):
        return [told(item, arrays) for item in value]
    if value is None:
        return None
    pattern = getattr(value, "pattern", None)
    arrays.append(value if pattern is None else pattern)
    head = {"dtype": value.dtype.str, "shape": list(value.shape)}
    return head if pattern is None else head | {"pattern": pattern.nbytes}


def again_and_again(pattern: Any, total: int) -> Any:
    """Read-only memory of `total` bytes that holds the pattern again and again.

    It takes the pattern's room only. The pattern is a buffer of whole pages. Raises OSError.
    """
    step = len(pattern)
    reserved = -(-total // step) * step
    library = ctypes.CDLL(None, use_errno=True)
    take, give = library.mmap, library.munmap
    take.restype = ctypes.c_void_p
    take.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    give.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    start = take(None, reserved, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), f"no room for {total} bytes")
    file = os.memfd_create("pattern")
    try:
        os.truncate(file, step)
        with mmap.mmap(file, step) as filled:
            filled[:] = bytes(pattern)
        for at in range(start, start + reserved, step):
            if take(at, step, mmap.PROT_READ, mmap.MAP_SHARED | _MAP_FIXED, file, 0) != at:
                raise OSError(ctypes.get_errno(), f"{total} bytes cannot be mapped")
    finally:
        os.close(file)
    memory = (ctypes.c_char * total).from_address(start)
    weakref.finalize(memory, give, start, reserved)
    return memory


class Golden:
    """The function with what it is called like."""

    def __init__(self, file: Path, name: str) -> None:
        """Raises ValueError with a sentence."""
        self._folder = str(file.parent)
        module = load(file)
        function = getattr(module, name, None)
        if not callable(function):
            raise ValueError(f"{file} defines no function '{name}'.")
        self._function: Callable[..., Any] = function
        self._parameters = inspect.signature(function).parameters
        self._torch = getattr(module, "torch", None)

    def answer(self, asked: dict[str, Any], arguments: list[Any]) -> list[Any]:
        """Its outputs as numpy arrays and lists of them; raises ValueError with half a sentence."""
        given = [
            self._argument(value, name == "bfloat16")
            for value, name in zip(arguments, asked["kinds"], strict=True)
        ]
        positional, named = self._bound(asked, given)
        try:
            with np.errstate(all="ignore"):
                result = self._function(*positional, **named)
        except BaseException as problem:  # also SystemExit: the function must not end the process
            raise ValueError(self._blamed(asked["case"], problem)) from None
        values = list(result) if isinstance(result, tuple) else [result]
        return [self._array(asked["case"], value) for value in values]

    def _bound(self, asked: dict[str, Any], given: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        parameters = self._parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        attrs = {k: tuple(v) if isinstance(v, list) else v for k, v in asked["attrs"].items()}
        named = {k: v for k, v in attrs.items() if takes_all or k in parameters}
        if "dtypes" in parameters:
            named.setdefault("dtypes", asked["dtypes"])
        names = asked["names"]
        if names and all(n in parameters for n in names):
            # A function that calls its parameters as the definition does may order them its way.
            named |= {
                name: _plain_number(value, parameters[name])
                for name, value in zip(names, given, strict=False)
            }
            given = []
        try:
            inspect.signature(self._function).bind(*given, **named)
        except TypeError as problem:
            listed = ", ".join(attrs) or "none"
            raise ValueError(
                f"cannot be called with the {len(asked['kinds'])} inputs and attributes ({listed})"
                f" of case '{asked['case']}': {problem}"
            ) from None
        return given, named

    def _blamed(self, case: str, problem: BaseException) -> str:
        """What went wrong, at the last line that is the golden's own."""
        frames = traceback.extract_tb(problem.__traceback__)
        own = [f for f in frames if f.filename.startswith(self._folder)] or frames
        where = f"line {own[-1].lineno} of {Path(own[-1].filename).name}"
        return f"failed on case '{case}' at {where}: {type(problem).__name__}: {problem}"

    def _argument(self, value: Any, bfloat16: bool) -> Any:
        if isinstance(value, list):
            return [self._argument(item, bfloat16) for item in value]
        if value is None or self._torch is None:
            return value
        if value.dtype in (np.uint16, np.uint32, np.uint64):
            value = value.astype(np.int64)
        tensor = self._torch.from_numpy(value)
        return tensor.to(self._torch.bfloat16) if bfloat16 else tensor

    def _array(self, case: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._array(case, item) for item in value]
        if self._torch is not None and isinstance(value, self._torch.Tensor):
            value = value.detach()
            value = (value.float() if value.dtype == self._torch.bfloat16 else value).numpy()
        array = np.asarray(value)
        if array.dtype.kind not in TRUSTED_KINDS:
            what = type(value).__name__
            raise ValueError(f"returned for case '{case}' a {what}, not an array of numbers")
        if array.dtype.itemsize > 8 * (1 + (array.dtype.kind == "c")):  # what C calls long double
            array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _plain_number(value: Any, parameter: inspect.Parameter) -> Any:
    """A one-element tensor as the number that the parameter's annotation asks for."""
    wants_number = parameter.annotation in (float, int, bool, "float", "int", "bool")
    size = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    return value.item() if wants_number and size == 1 else value


def load(file: Path) -> ModuleType:
    """The module of `file`, which finds what lies next to it. Raises ValueError with a sentence."""
    spec = importlib.util.spec_from_file_location("ascendopt_golden", file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{file} is not a Python file.")
    module = sys.modules["ascendopt_golden"] = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(file.parent))
    _keep_equal_elements_in_order()
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as problem:
        raise ValueError(
            f"{file} needs the Python package '{problem.name}', which is neither installed nor"
            f" next to"
            " it."
        ) from None
    except BaseException as problem:
        raise ValueError(f"{file} cannot be loaded: {type(problem).__name__}: {problem}.") from None
    return module


def _keep_equal_elements_in_order() -> None:
    """Let numpy.argsort be stable where its caller does not say how it sorts: which of two equal
    elements comes first depends on the processor otherwise."""
    plain = np.argsort

    @functools.wraps(plain)
    def argsort(a: Any, axis: Any = -1, kind: Any = None, *more: Any, **named: Any) -> Any:
        if kind is None and not more and not named:
            kind = "stable"
        return plain(a, axis, kind, *more, **named)

    np.argsort = argsort


def read(stream: BinaryIO, described: Any) -> Any:
    """The tensors that a head describes, from the stream."""
    if isinstance(described, list):
        return [read(stream, one) for one in described]
    if described is None:
        return None
    shape, dtype = described["shape"], np.dtype(described["dtype"])
    pattern = described.get("pattern")
    array = np.empty(shape, dtype) if pattern is None else np.empty(pattern, np.uint8)
    flat = array.reshape(-1).view(np.uint8).data
    while flat:
        count = stream.readinto(flat)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        flat = flat[count:]
    if pattern is None:
        return array
    total = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return np.frombuffer(again_and_again(array.data, total), dtype).reshape(shape)


def serve(file: Path, name: str) -> None:
    """Answer until the questions end."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what the golden prints is no answer

    def say(head: dict[str, Any], arrays: list[np.ndarray[Any, Any]]) -> None:
        for part in packed(head, arrays):
            answers.write(part)
        answers.flush()

    try:
        golden = Golden(file, name)
    except ValueError as problem:
        say({"refused": str(problem)}, [])
        return
    say({"ready": True}, [])
    while length := questions.read(LENGTH.size):
        asked = json.loads(questions.read(LENGTH.unpack(length)[0]))
        arguments = read(questions, asked["arguments"])
        arrays: list[np.ndarray[Any, Any]] = []
        try:
            outputs = told(golden.answer(asked, arguments), arrays)
        except ValueError as problem:
            say({"refused": str(problem)}, [])
        else:
            say({"outputs": outputs}, arrays)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2])
