"""Embeddings from a static table on disk: `tokenizer.json` and `model.safetensors` in a folder.

The layout of distilled static models (model2vec and its kin): one vector a token, a text is the
mean of its tokens. It needs two small packages, `pip install ascendopt[local-embeddings]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ci.model.errors import InputError, plainly
from experience.bank.embed import Embedder, Text, Vector, unit

TABLE = "embeddings"
"""Name of the tensor [tokens, dimensions] in the file."""

LARGEST_BYTES = 2 << 30


class LocalEmbedder(Embedder):
    """A token table and its tokenizer, loaded when made."""

    def __init__(self, folder: Path) -> None:
        """Raises `InputError` when the folder holds no such model or the packages are missing."""
        tokens, table = folder / "tokenizer.json", folder / "model.safetensors"
        if not tokens.is_file() or not table.is_file():
            raise InputError(
                f"{folder} holds no local embedding model: tokenizer.json and model.safetensors "
                "are needed."
            )
        if table.stat().st_size > LARGEST_BYTES:
            raise InputError(f"{table} is larger than 2 GiB; that is no static embedding table.")
        self._tokenizer, self._table = _load(tokens, table)
        digest = hashlib.sha256(tokens.read_bytes() + table.read_bytes()).hexdigest()
        self.model = f"local:{folder.resolve().name}:{digest[:12]}"

    def embed(self, texts: Sequence[Text]) -> Vector:
        """The mean of the tokens' vectors; tokens outside the table are left out."""
        rows = np.zeros((len(texts), self._table.shape[1]), np.float64)
        for row, (text, classes) in zip(rows, texts, strict=True):
            said = " ".join([text, *(c.replace("_", " ") for c in classes)])
            ids = [i for i in self._tokenizer.encode(said).ids if i < len(self._table)]
            if ids:
                row[:] = self._table[ids].mean(axis=0)
        return unit(rows)


def _load(tokens: Path, table: Path) -> tuple[Any, Vector]:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer
    except ImportError as problem:
        raise InputError(
            "A local embedding model needs the packages tokenizers and safetensors: "
            "pip install 'ascendopt[local-embeddings]'."
        ) from problem
    try:
        tensors = load_file(str(table))
    except (SafetensorError, OSError) as problem:
        raise InputError(f"{table} cannot be read: {plainly(problem)}.") from problem
    found = tensors.get(TABLE)
    if found is None or found.ndim != 2 or not found.size:
        raise InputError(f"{table} has no tensor '{TABLE}' of two dimensions.")
    try:
        tokenizer = Tokenizer.from_file(str(tokens))
    except Exception as problem:  # the package raises plain Exception for any fault
        raise InputError(f"{tokens} is no tokenizer: {problem}.") from problem
    return tokenizer, found.astype(np.float32)
