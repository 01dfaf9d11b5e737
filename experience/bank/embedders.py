"""The embedder that an option or the environment names."""

from __future__ import annotations

import os
from pathlib import Path

from ci.model.errors import InputError
from experience.bank.embed import Embedder, HashedEmbedder

SETTING = "ASCENDOPT_EMBEDDER"
"""Environment variable that names the embedder where no option does."""


def make_embedder(name: str = "") -> Embedder:
    """The embedder `hashed`, `endpoint:MODEL` or `local:FOLDER`; '' reads the environment.

    Raises `InputError` when there is none of that name or it cannot be loaded.
    """
    name = name or os.environ.get(SETTING, "") or "hashed"
    kind, _, what = name.partition(":")
    if kind == "hashed" and not what:
        return HashedEmbedder()
    if kind == "endpoint" and what:
        from experience.bank.embed_endpoint import EndpointEmbedder

        return EndpointEmbedder(what)
    if kind == "local" and what:
        from experience.bank.embed_local import LocalEmbedder

        return LocalEmbedder(Path(what))
    raise InputError(
        f"There is no embedder {name!r}; give hashed, endpoint:MODEL (an OpenAI-compatible "
        "/v1/embeddings) or local:FOLDER (a static embedding table with its tokenizer)."
    )
