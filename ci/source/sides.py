"""The texts of an operator's host side and of its kernel side."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import files_below
from ci.model.regular_file import file_bytes, file_text, refuse_pointer
from ci.source.include_lookup import file_named
from ci.source.placed import entries_of, sources_apart
from ci.source.readable_files import borrowed

MOST_SOURCES: Final = 5_000
"""Most sources of one side of an operator, which are all read, copied and hashed; the largest
operators have some hundreds."""
MOST_BYTES: Final = 64 << 20
"""Most bytes of all of them."""


def sides(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Texts in op_host and in op_kernel by path from `root`. Raises InputError without either."""
    host, kernel = sources(root, layout.HOST), sources(root, layout.KERNEL)
    if not host:
        raise InputError(f"{root / layout.HOST} holds no C++ source (.cpp or .h).")
    if not kernel:
        raise InputError(f"{root / layout.KERNEL} holds no kernel source (.cpp or .h).")
    return host, kernel


def sides_apart(root: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The same for folders of other names: kernel is what sources with kernels include, too."""
    top = repository_of(root) or root
    texts = {path: text_of(place, top.resolve()) for path, place in sources_apart(root).items()}
    kernels = [path for path, _ in entries_of(texts)]
    reached = layout.IncludeGraph(texts).reachable(kernels)
    host = {path: text for path, text in texts.items() if path not in reached}
    return host, {path: text for path, text in texts.items() if path in reached}


def sources(root: Path, folder: str) -> dict[str, str]:
    """Text of each source below root/folder, by path relative to root."""
    found: dict[str, str] = {}
    size = 0
    own = root.resolve()
    top = repository_of(own) or own
    for path in files_below(root / folder):
        inside = path.relative_to(root).parts
        if path.suffix not in layout.SOURCES or any(part.startswith(".") for part in inside):
            continue
        if path.is_file() and not layout.SKIPPED & set(inside):
            real = path.resolve()
            if not real.is_relative_to(own) or borrowed(real, top, own):
                raise InputError(
                    f"{path} is a link that leads out of the operator's folder, or mounted there."
                )
            text = text_of(path, top)
            size += len(text)
            if len(found) == MOST_SOURCES or size > MOST_BYTES:
                raise InputError(
                    f"{root / folder} holds more than {MOST_SOURCES:,} C++ sources or"
                    f" {MOST_BYTES >> 20} MiB of them; keep only those of the operator there."
                )
            found[path.relative_to(root).as_posix()] = text
    return found


def repository_of(root: Path) -> Path | None:
    """The top of the git checkout that a folder lies in, if any."""
    return next((p for p in (root, *root.parents) if (p / ".git").exists()), None)


def text_of(path: Path, inside: Path | None = None) -> str:
    """The text of a source, with the line ends that it has; `inside` as in `file_bytes`.

    Raises InputError for one that is no text, or that cannot be read.
    """
    data = file_bytes(path, inside)
    refuse_pointer(data, str(path))
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(f"{path} is UTF-16, which no compiler takes; save it as UTF-8.")
    if b"\0" in data:
        raise InputError(f"{path} is a binary file, not C++ source.")
    return data.decode("utf-8", errors="replace")


def shared_text(host: Mapping[str, str], folders: Iterable[Path]) -> str:
    """Text of the headers of the operator and the shared folders that its sources include."""

    def find(_: str, spelled: str) -> Iterator[tuple[str, str]]:
        own = next((t for p, t in host.items() if p.endswith("/" + spelled)), "")
        if own or not spelled.endswith(".h"):
            yield from [(spelled, own)] if own else []
            return
        path = file_named(spelled, folders)
        if path is not None:
            yield spelled, file_text(path)

    return "\n".join(layout.closure(host, find, 40).values())
