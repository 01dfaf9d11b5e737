"""Embeddings from an OpenAI-compatible `/v1/embeddings` endpoint.

Key and address come from the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`) and never from a
bank: a bank is a file that others hand out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import openai

from ci.model.amount import amount
from ci.model.errors import InputError
from experience.bank.embed import Embedder, Text, Vector, unit

BATCH = 64
"""Texts in one request; the common limits are 256 and more, a bottleneck has about 60 tokens."""

SECONDS = 60.0
"""Patience with one request; the library tries it twice more."""


class EndpointEmbedder(Embedder):
    """Asks the endpoint; the dimension is the model's own."""

    def __init__(self, model: str, client: openai.OpenAI | None = None) -> None:
        """Raises `InputError` when the environment holds no key."""
        self.model = f"endpoint:{model}"
        self._name = model
        try:
            self._client = client or openai.OpenAI(timeout=SECONDS)
        except openai.OpenAIError as problem:
            raise InputError(
                f"The embedding endpoint cannot be used: {problem}. Keys come from OPENAI_API_KEY, "
                "the address from OPENAI_BASE_URL."
            ) from problem

    def embed(self, texts: Sequence[Text]) -> Vector:
        """Rows in the model's dimension. Raises `InputError` when the endpoint does not answer."""
        said = [f"{text} [{', '.join(classes)}]" if classes else text for text, classes in texts]
        rows: list[list[float]] = []
        for start in range(0, len(said), BATCH):
            batch = said[start : start + BATCH]
            try:
                answer = self._client.embeddings.create(
                    model=self._name, input=batch, encoding_format="float"
                )
            except openai.OpenAIError as problem:
                raise InputError(
                    f"The embedding model {self._name} did not answer: {problem}."
                ) from problem
            if len(answer.data) != len(batch):
                raise InputError(
                    f"The embedding model {self._name} gave"
                    f" {amount(len(answer.data), 'vector')} for "
                    f"{amount(len(batch), 'text')}."
                )
            rows += [d.embedding for d in sorted(answer.data, key=lambda d: d.index)]
        if len({len(r) for r in rows}) > 1:
            raise InputError(f"The embedding model {self._name} gave vectors of several lengths.")
        return unit(np.asarray(rows, dtype=np.float64)) if rows else np.zeros((0, 1), np.float32)
