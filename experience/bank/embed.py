"""Embeddings of bottleneck descriptions: what an embedder is, and the one that needs no download.

Words, word pairs and letter triples of the text are hashed into 256 dimensions, the bottleneck
classes of the taxonomy into 64 more; each part is normalised, so that wording and class weigh
as `TEXT_WEIGHT` to `CLASS_WEIGHT`. The same text gives the same vector on every machine.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

MODEL = "hashed-ngrams-v1"
TEXT_DIMENSIONS = 256
CLASS_DIMENSIONS = 64
DIMENSIONS = TEXT_DIMENSIONS + CLASS_DIMENSIONS
TEXT_WEIGHT = 0.6  # share of the wording in the similarity; the class, when known, has the rest
CLASS_WEIGHT = 1.0 - TEXT_WEIGHT

# Words that say nothing about a bottleneck; left out so that they make nothing similar.
_FILLER = frozenset(
    {"a", "an", "and", "are", "as", "at", "because", "by", "for", "from", "in", "into", "is", "it"}
    | {"its", "not", "of", "on", "or", "slow", "so", "than", "that", "the", "this", "to", "with"}
)

Vector = npt.NDArray[np.float32]
Text = tuple[str, Sequence[str]]
"""A bottleneck in words, and its taxonomy classes."""


class Embedder(ABC):
    """Turns bottlenecks into unit vectors. Vectors of two models are never compared."""

    model: str
    """Identifies the vectors: what is stored next to them in the bank."""

    @abstractmethod
    def embed(self, texts: Sequence[Text]) -> Vector:
        """One row of unit length for each text, all of the same number of dimensions."""


class HashedEmbedder(Embedder):
    """The default: no download, no network, the same vectors everywhere."""

    model = MODEL

    def embed(self, texts: Sequence[Text]) -> Vector:
        """Rows of 320 dimensions."""
        rows = [embed(text, classes) for text, classes in texts]
        return np.stack(rows) if rows else np.zeros((0, DIMENSIONS), np.float32)


def unit(rows: npt.NDArray[np.float64] | Vector) -> Vector:
    """The rows scaled to length 1; a row of zeros becomes one that is unlike everything alike."""
    rows = np.array(rows, dtype=np.float64)
    empty = ~rows.any(axis=1)
    rows[empty, 0] = 1.0
    scaled: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def embed(text: str, classes: Iterable[str] = ()) -> Vector:
    """Unit vector of 320 dimensions for a bottleneck text and its taxonomy classes."""
    wording = hashed_words(text)
    kind = _hashed([(c, 1.0) for c in classes], CLASS_DIMENSIONS)
    joined = np.concatenate([wording * np.sqrt(TEXT_WEIGHT), kind * np.sqrt(CLASS_WEIGHT)])
    row: Vector = unit(joined[None, :])[0]
    return row


def hashed_words(text: str) -> npt.NDArray[np.float64]:
    """The wording alone: 256 dimensions of unit length, or zeros when there is no word."""
    return _hashed(_grams(text), TEXT_DIMENSIONS)


def _grams(text: str) -> list[tuple[str, float]]:
    words = [w for w in re.findall(r"[a-z0-9]+", text.lower()) if w not in _FILLER]
    grams = [(w, 1.0) for w in words]
    grams += [(f"{a} {b}", 0.7) for a, b in zip(words, words[1:], strict=False)]
    grams += [(f"#{w[i : i + 3]}", 0.3) for w in words for i in range(len(w) - 2)]
    return grams


def _hashed(grams: Sequence[tuple[str, float]], dimensions: int) -> npt.NDArray[np.float64]:
    vector = np.zeros(dimensions)
    for gram, weight in grams:
        digest = hashlib.blake2b(gram.encode(), digest_size=8).digest()
        place = int.from_bytes(digest[:4], "little") % dimensions
        vector[place] += weight if digest[4] & 1 else -weight
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector
