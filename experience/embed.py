"""Embeddings of bottleneck descriptions that need no download: hashed n-grams plus taxonomy.

Words, word pairs and letter triples of the text are hashed into 256 dimensions, the bottleneck
classes of the taxonomy into 64 more; each part is normalised, so that wording and class weigh
as `TEXT_WEIGHT` to `CLASS_WEIGHT`. The same text gives the same vector on every machine.
"""

from __future__ import annotations

import hashlib
import re
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


def embed(text: str, classes: Iterable[str] = ()) -> Vector:
    """Unit vector of 320 dimensions for a bottleneck text and its taxonomy classes."""
    wording = _hashed(_grams(text), TEXT_DIMENSIONS)
    kind = _hashed([(c, 1.0) for c in classes], CLASS_DIMENSIONS)
    joined = np.concatenate([wording * np.sqrt(TEXT_WEIGHT), kind * np.sqrt(CLASS_WEIGHT)])
    norm = float(np.linalg.norm(joined))
    if norm == 0.0:  # no word at all: a vector that is equally unlike everything
        joined[0] = 1.0
        norm = 1.0
    return (joined / norm).astype(np.float32)


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
