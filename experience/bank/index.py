"""The bank in memory for retrieval: one matrix of vectors, and what each tuple is, as codes.

Brute force over 100,000 rows takes numpy about 25 ms and DuckDB, which reads the file again for
each connection, 150 to 300 (`ascendopt bench retrieval` measures both). A large index is kept
next to the bank, so that a fresh process maps it instead of reading the bank.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from experience.bank.embed import TEXT_DIMENSIONS, Vector, hashed_words

SIDECAR_ROWS = 2000
"""Below this many tuples reading the bank takes less than 50 ms: no file next to it."""

_CODED = ("title", "op_family", "dtype", "soc", "direction", "status")
_ARRAYS = ("ids", "motif", "without_motif", "effect", "classes", "title_words")
_LISTS = ("motifs", "class_names")
_Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Columns of the bank's tuples, in one order."""

    ids: Sequence[str]
    motif_ids: Sequence[str]
    hashes: Sequence[str]
    classes: Sequence[Sequence[str]]
    speedups: Sequence[float]
    """Ratio slow / fast; 1 where the slow side failed."""
    coded: Mapping[str, Sequence[str]]
    vectors: Vector


@dataclass
class Index:
    """All tuples as arrays of one length."""

    ids: npt.NDArray[np.str_]
    vectors: Vector
    motif: _Codes
    motifs: list[str]
    """Motif's id by code; the diff's hash for a tuple that no motif made."""
    without_motif: npt.NDArray[np.bool_]
    effect: npt.NDArray[np.float64]
    """Logarithm (ln) of the measured speedup."""
    classes: npt.NDArray[np.uint64]
    class_names: list[str]
    codes: dict[str, _Codes]
    names: dict[str, list[str]]
    title_words: Vector
    """The words of each title that there is, hashed: a row of unit length for each name."""
    wins: npt.NDArray[np.float64] = field(init=False)
    losses: npt.NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.wins = np.zeros(len(self.ids))
        self.losses = np.zeros(len(self.ids))
        self.by_motif = np.argsort(self.motif, kind="stable")
        self.starts = np.searchsorted(self.motif[self.by_motif], np.arange(len(self.motifs)))
        self.retired = self.equals("status", "retired")
        self.negative = self.equals("direction", "negative")

    @classmethod
    def of(cls, rows: Rows) -> Index:
        """Build the arrays."""
        motifs, motif = _coded([r or h for r, h in zip(rows.motif_ids, rows.hashes, strict=True)])
        class_names = sorted({c for cs in rows.classes for c in cs})[:64]
        place = {c: 1 << i for i, c in enumerate(class_names)}
        masks = [sum({place.get(c, 0) for c in cs}) for cs in rows.classes]
        coded = {name: _coded(values) for name, values in rows.coded.items()}
        return cls(
            ids=np.array(rows.ids, dtype=np.str_),
            vectors=rows.vectors,
            motif=motif,
            motifs=motifs,
            without_motif=np.array([not r for r in rows.motif_ids], dtype=np.bool_),
            effect=np.array([log(max(s, 1e-6)) for s in rows.speedups], dtype=np.float64),
            classes=np.array(masks, dtype=np.uint64),
            class_names=class_names,
            codes={name: codes for name, (_, codes) in coded.items()},
            names={name: names for name, (names, _) in coded.items()},
            title_words=_words(coded["title"][0]),
        )

    def titled_like(self, text: str) -> Vector:
        """Likeness of each tuple's title to a text, by their words."""
        each: Vector = self.title_words @ hashed_words(text).astype(np.float32)
        return each[self.codes["title"]]

    def equals(self, column: str, value: str) -> npt.NDArray[np.bool_]:
        """Which tuples have this value in a coded column; none has ''."""
        names = self.names[column]
        if not value or value not in names:
            return np.zeros(len(self.ids), dtype=np.bool_)
        same: npt.NDArray[np.bool_] = self.codes[column] == names.index(value)
        return same

    def class_mask(self, classes: Sequence[str]) -> np.uint64:
        """The bits of these classes."""
        known = (self.class_names.index(c) for c in classes if c in self.class_names)
        return np.uint64(sum({1 << i for i in known}))

    def credited(self, uses: dict[str, tuple[int, int]]) -> None:
        """Take over (uses, wins) by id; they change more often than the rest."""
        self.wins[:] = 0.0
        self.losses[:] = 0.0
        if not uses:
            return
        wanted = np.array(list(uses), dtype=np.str_)
        order = np.argsort(self.ids)
        places = np.searchsorted(self.ids, wanted, sorter=order)
        for place, name in zip(places, wanted, strict=True):
            if place < len(order) and self.ids[order[place]] == name:
                used, won = uses[str(name)]
                self.wins[order[place]] = won
                self.losses[order[place]] = used - won

    def save(self, folder: Path, stamp: str) -> None:
        """Keep the index in a folder under a stamp; earlier ones go. Never fails a search."""
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            _replace(folder / f"{stamp}.npy", lambda f: np.save(f, self.vectors))
            arrays = {name: np.asarray(getattr(self, name)) for name in (*_ARRAYS, *_LISTS)}
            for name in _CODED:
                arrays[f"codes_{name}"] = self.codes[name]
                arrays[f"names_{name}"] = np.array(self.names[name], dtype=np.str_)
            _replace(folder / f"{stamp}.npz", lambda f: np.savez(f, **arrays))  # type: ignore[arg-type]
            for old in folder.iterdir():
                if old.suffix in (".npy", ".npz") and old.stem != stamp:
                    old.unlink(missing_ok=True)

    @classmethod
    def load(cls, folder: Path, stamp: str) -> Index | None:
        """The index kept under this stamp, its matrix mapped; None when there is none."""
        try:
            vectors = np.load(folder / f"{stamp}.npy", mmap_mode="r")
            with np.load(folder / f"{stamp}.npz") as held:
                got = {name: held[name] for name in held.files}
        except (OSError, ValueError, EOFError):
            return None
        if not got.keys() >= {*_ARRAYS, *_LISTS} or len(vectors) != len(got["ids"]):
            return None  # of another version, or torn
        return cls(
            **{name: got[name] for name in _ARRAYS},
            **{name: got[name].tolist() for name in _LISTS},
            vectors=vectors,
            codes={name: got[f"codes_{name}"] for name in _CODED},
            names={name: got[f"names_{name}"].tolist() for name in _CODED},
        )


def _words(titles: Sequence[str]) -> Vector:
    rows = [hashed_words(title) for title in titles]
    return np.array(rows, dtype=np.float32).reshape(len(titles), TEXT_DIMENSIONS)


def _coded(values: Sequence[str]) -> tuple[list[str], _Codes]:
    names, codes = np.unique(np.array(values, dtype=np.str_), return_inverse=True)
    return names.tolist(), codes.astype(np.int64).reshape(-1)


def _replace(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file under another name and move it in place: a reader sees all of it or none."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        try:
            write(file)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    Path(file.name).replace(path)
