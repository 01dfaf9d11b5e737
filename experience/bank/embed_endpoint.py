"""Embeddings from an OpenAI-compatible `/v1/embeddings` endpoint.

Key and address come from the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`) and never from a
bank: a bank is a file that others hand out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import openai
from pydantic import SecretStr

from ci.model.amount import amount
from ci.model.errors import InputError, plainly
from ci.system.model_client import model_client
from experience.bank.embed import Embedder, Text, Vector, unit

BATCH = 64
"""Texts in one request; the common limits are 256 and more, a bottleneck has about 60 tokens."""

SECONDS = 60.0
"""Longest time for one whole answer; it is asked for twice more."""

KEY = "OPENAI_API_KEY"

_LARGEST: Final = 1e100

_ODD: Final = (
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""What an answer of another form ends in: the library believes what a server says of it."""


class EndpointEmbedder(Embedder):
    """Asks the endpoint; the dimension is the model's own."""

    def __init__(self, model: str, client: openai.OpenAI | None = None) -> None:
        """Raises `InputError` when the environment holds no key."""
        self.model = f"endpoint:{model}"
        self._name = model
        self._client = client or _client()

    def embed(self, texts: Sequence[Text]) -> Vector:
        """Rows in the model's dimension. Raises `InputError` when the endpoint does not answer."""
        said = [f"{text} [{', '.join(classes)}]" if classes else text for text, classes in texts]
        rows: list[np.ndarray[Any, Any]] = []
        for start in range(0, len(said), BATCH):
            batch = said[start : start + BATCH]
            try:
                answer = self._client.embeddings.create(
                    model=self._name, input=batch, encoding_format="float"
                )
                count = len(answer.data)
                made = _rows(answer.data) if count == len(batch) else None
            except _ODD:
                raise InputError(
                    f"The embedding model {self._name} answered in another form than that of"
                    " embeddings, or with vectors of several lengths."
                ) from None
            except (openai.OpenAIError, OSError) as problem:
                raise InputError(
                    f"The embedding model {self._name} did not answer: {plainly(problem)}."
                ) from problem
            if made is None:
                raise InputError(
                    f"The embedding model {self._name} gave"
                    f" {amount(count, 'vector')} for "
                    f"{amount(len(batch), 'text')}."
                )
            rows.append(made)
        if len({r.shape[1] for r in rows}) > 1:
            raise InputError(f"The embedding model {self._name} gave vectors of several lengths.")
        return unit(np.concatenate(rows)) if rows else np.zeros((0, 1), np.float32)


def _rows(data: Any) -> np.ndarray[Any, Any]:
    """The vectors of an answer in the order of the texts, float64.

    Raises one of `_ODD` for every other form: the library believes what a server says of it, and
    numpy makes numbers of texts, of null and of vectors in vectors.
    """
    by_index = {d.index: d.embedding for d in data}
    found = [by_index[place] for place in range(len(data))]
    if not all(type(one) is list and all(type(n) in (int, float) for n in one) for one in found):
        raise TypeError
    made = np.array(found, dtype=np.float64).reshape(len(found), -1)
    # The square of a length is to be a number, too.
    if not made.shape[1] or not (np.abs(made) < _LARGEST).all():
        raise ValueError
    return made


def _client() -> openai.OpenAI:
    """A client for the endpoint of the environment. Raises InputError."""
    address = os.environ.get("OPENAI_BASE_URL", "").strip() or "https://api.openai.com/v1"
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise InputError(
            f"The embedding endpoint cannot be used without a key. Keys come from {KEY}, the"
            " address from OPENAI_BASE_URL."
        )
    client = model_client(address, SecretStr(key), KEY, SECONDS)
    return client.with_options(max_retries=2)
