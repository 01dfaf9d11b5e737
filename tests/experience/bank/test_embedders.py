"""Embedders beside the default: a tiny model that the test makes, and a loopback endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import openai
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from ci.model.errors import InputError
from experience.bank.bank import Bank
from experience.bank.embed import HashedEmbedder, Vector
from experience.bank.embed_endpoint import EndpointEmbedder
from experience.bank.embedders import make_embedder
from experience.bank.retrieve import Query
from tests.ci.proposer.llm.server import Answer, ModelServer
from tests.experience.make import make_tuple

WORDS = ("copies", "wait", "vector", "scalar", "loop")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    vocabulary = {w: i for i, w in enumerate((*WORDS, "[UNK]"))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    table = np.eye(len(WORDS), 8, dtype=np.float32)  # the unknown word is outside the table
    save_file({"embeddings": table}, str(folder / "model.safetensors"))
    return folder


@pytest.fixture
def client() -> Iterator[openai.OpenAI]:
    with ModelServer(lambda asked: Answer()) as server:
        yield openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)


def test_a_local_table_gives_the_mean_of_its_tokens(model: Path) -> None:
    embedder = make_embedder(f"local:{model}")
    rows = embedder.embed([("copies wait", ()), ("scalar loop", ()), ("", ())])
    assert rows.shape == (3, 8)
    assert np.allclose(rows[0, :2], 2**-0.5)
    assert float(rows[0] @ rows[1]) == 0.0
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)


def test_classes_count_as_words_in_a_local_table(model: Path) -> None:
    embedder = make_embedder(f"local:{model}")
    plain, classed = embedder.embed([("", ("scalar_loop",)), ("scalar loop", ())])
    assert np.allclose(plain, classed)


def test_an_endpoint_answers_in_any_order(client: openai.OpenAI) -> None:
    embedder = EndpointEmbedder("tiny", client)
    rows = embedder.embed([("a", ()), ("abcd", ())])
    assert rows.shape == (2, 8)
    assert np.array_equal(rows[1], embedder.embed([("abcd", ())])[0])
    assert not np.array_equal(rows[0], rows[1])


def test_an_endpoint_that_leaves_texts_out_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(InputError, match="gave 1 vector for 2 texts"):
        EndpointEmbedder("short", client).embed([("a", ()), ("b", ())])


def of(*vectors: object, **more: object) -> dict[str, object]:
    """An answer with these vectors, for texts in this order."""
    rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    return {"object": "list", "model": "tiny", "data": rows, **more}


ODD: dict[str, object] = {
    "null": None,
    "a list": [],
    "a number": 7,
    "a text": "vectors",
    "nothing": {},
    "no data": of(data=None),
    "data that is a text": of(data="ab"),
    "data that is a number": of(data=2),
    "data by name": of(data={"0": [1.0], "1": [2.0]}),
    "texts in place of rows": of(data=["a", "b"]),
    "null in place of rows": of(data=[None, None]),
    "lists in place of rows": of(data=[[1.0], [2.0]]),
    "rows without a vector": of(data=[{"index": 0}, {"index": 1}]),
    "rows without a place": of(data=[{"embedding": [1.0]}, {"embedding": [2.0]}]),
    "one place twice": of(data=[{"index": 0, "embedding": [1.0]}] * 2),
    "places as texts": of(data=[{"index": str(i), "embedding": [1.0]} for i in (0, 1)]),
    "a place that is null": of(data=[{"index": None, "embedding": [1.0]}] * 2),
    "a vector that is null": of([1.0], None),
    "a vector that is a text": of([1.0], "1.0"),
    "a vector that is a number": of(1.0, 2.0),
    "a vector by name": of([1.0], {"0": 1.0}),
    "vectors that are empty": of([], []),
    "vectors of several lengths": of([1.0, 2.0], [1.0]),
    "vectors in vectors": of([[1.0, 2.0]], [[3.0, 4.0]]),
    "vectors in vectors of several lengths": of([[1.0], [2.0, 3.0]], [[3.0], [4.0, 5.0]]),
    "a null in a vector": of([1.0], [None]),
    "a text in a vector": of([1.0], ["2.0"]),
    "no number": of([1.0], [float("nan")]),
    "a number without end": of([1.0], [float("inf")]),
    "a number too large for its square": of([1.0], [1e300]),
    "a number too large": of([1.0], [10**400]),
}


@pytest.mark.parametrize("form", ODD)
def test_an_answer_of_another_form_is_a_sentence(form: str) -> None:
    text = json.dumps(ODD[form])
    with ModelServer(lambda asked: Answer(whole=text)) as server:
        odd = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        with pytest.raises(InputError, match="embedding model tiny"):
            EndpointEmbedder("tiny", odd).embed([("a", ()), ("b", ())])


def test_whole_numbers_are_a_vector_too() -> None:
    with ModelServer(lambda asked: Answer(whole=json.dumps(of([3, 4], [0, 2])))) as server:
        client = openai.OpenAI(base_url=server.url, api_key="none", max_retries=0)
        rows = EndpointEmbedder("tiny", client).embed([("a", ()), ("b", ())])
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 1.0]])


def test_an_endpoint_that_is_down_gives_one_sentence() -> None:
    nowhere = openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0)
    with pytest.raises(InputError, match="did not answer"):
        EndpointEmbedder("tiny", nowhere).embed([("a", ())])


def test_the_key_of_the_environment_goes_to_one_server_and_never_in_the_clear(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    for address in ("http://models.example/v1", "http://10.0.0.5/v1"):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        with pytest.raises(InputError, match="in the clear"):
            make_embedder("endpoint:tiny")
    with ModelServer(lambda asked: Answer()) as there:
        moved = Answer(status=307, headers={"location": f"{there.url}/embeddings"})
        with ModelServer(lambda asked: moved) as leading:
            monkeypatch.setenv("OPENAI_BASE_URL", leading.url)
            with pytest.raises(InputError, match="did not answer"):
                make_embedder("endpoint:tiny").embed([("a", ())])
        assert not there.asked
        monkeypatch.setenv("OPENAI_BASE_URL", there.url)
        assert make_embedder("endpoint:tiny").embed([("a", ())]).shape == (1, 8)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        make_embedder("endpoint:tiny")


def test_reembedding_changes_the_model_and_keeps_the_tuples(tmp_path: Path, model: Path) -> None:
    bank = Bank(tmp_path / "bank.duckdb")
    bank.add(make_tuple(1, bottleneck="scalar loop", classes=()))
    bank.add(make_tuple(2, bottleneck="copies wait", classes=()))
    before = bank.all()
    embedder = make_embedder(f"local:{model}")
    assert bank.reembed(embedder) == 2
    stats = bank.stats()
    assert (stats.embedding_model, stats.dimensions) == (embedder.model, 8)
    assert bank.all() == before
    assert bank.search(Query(bottleneck="copies wait"))[0].tuple.title == "motif 2"
    with pytest.raises(InputError, match="bank reembed"):
        Bank(bank.path, embedder=HashedEmbedder()).search(Query(bottleneck="copies"))
    with pytest.raises(InputError, match="bank reembed"):
        Bank(bank.path, embedder=HashedEmbedder()).add(make_tuple(3))


@pytest.mark.parametrize("name", ["nothing", "local:", "endpoint:"])
def test_an_unknown_embedder_is_named(name: str) -> None:
    with pytest.raises(InputError, match="There is no embedder"):
        make_embedder(name)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no local embedding model"):
        make_embedder(f"local:{tmp_path}")


def test_a_broken_table_gives_one_sentence(model: Path) -> None:
    (model / "model.safetensors").write_bytes(b"no table at all")
    with pytest.raises(InputError, match="cannot be read"):
        make_embedder(f"local:{model}")


def test_vectors_of_another_length_by_the_same_name_are_no_neighbours(tmp_path: Path) -> None:
    class Shorter(HashedEmbedder):
        def embed(self, texts: Sequence[tuple[str, Sequence[str]]]) -> Vector:
            return super().embed(texts)[:, :16]

    bank = Bank(tmp_path / "bank.duckdb")
    bank.add(make_tuple(1))
    with pytest.raises(InputError, match="bank reembed"):
        Bank(bank.path, embedder=Shorter()).search(Query(bottleneck="copies"))


def test_vectors_of_another_model_are_no_neighbours_whatever_their_length(tmp_path: Path) -> None:
    class Other(HashedEmbedder):
        model = "another-model"

    bank = Bank(tmp_path / "bank.duckdb")
    bank.add(make_tuple(1))
    with pytest.raises(InputError, match="bank reembed"):
        Bank(bank.path, embedder=Other()).search(Query(bottleneck="copies"))
    with pytest.raises(InputError, match="bank reembed"):
        Bank(bank.path, embedder=Other()).add(make_tuple(2))
