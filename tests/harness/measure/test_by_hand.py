"""Streams of ids and truncation as they are timed: by the own call of ours and of a library, else by a loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import impls
from harness.measure.jobs.answers import Wrong, write_ids
from harness.measure.jobs.judge import judge
from harness.measure.jobs.prepared import prepare, streaming, truncating
from harness.measure.protocol import Expected, Job
from harness.measure.texts import write_texts
from harness.measure.workloads import Task
from impls import Model, Tokenizer, TrainingSpec

TEXTS = ["çay 日本語 😀 naïve\r\n", "👩\u200d👧 e\u0301", "a \ufffdb", "x", "日"]
MODEL = impls.train("naive", [*TEXTS] * 3, TrainingSpec(vocab_size=280)).model


class Library(Tokenizer):
    """A library that gives texts only; it notes how many ids a call decodes."""

    name, kind = "library", "peer"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.inner = impls.load("priority", model)
        self.n_decoded: list[int] = []

    def _encode_text(self, text: str) -> list[int]:
        return self.inner.encode(text, disallowed_special=())

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        ids = list(ids)
        self.n_decoded.append(len(ids))
        return self.inner.decode(ids, errors)


class OfBytes(Library):
    """One that gives bytes too."""

    name = "library of bytes"

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        ids = list(ids)
        self.n_decoded.append(len(ids))
        return self.inner.decode_bytes(ids)


class WithStream(Library):
    """One with a stream of its own."""

    name = "library with a stream"

    def decode_stream(self, ids: Iterable[int]) -> Iterator[str]:
        return map(self.inner.decoder().push, ([i] for i in ids))


class LosesTheLast(WithStream):
    """Its stream never returns the last id's text."""

    def decode_stream(self, ids: Iterable[int]) -> Iterator[str]:
        return super().decode_stream(list(ids)[:-1])


class KeepsOneTooMany(Tokenizer):
    """Its own `truncate` keeps a token too many."""

    name, kind = "one too many", "pure"

    def _encode_text(self, text: str) -> list[int]:
        return list(text.encode())

    def truncate(self, text: str, n_tokens: int, **_: object) -> str:  # type: ignore[override]
        return super().truncate(text, n_tokens + 1)


@pytest.mark.parametrize("name", impls.default_names())
def test_every_implementation_decodes_a_stream_to_its_text(name: str) -> None:
    tokenizer = impls.load(name, MODEL)
    for text in TEXTS:
        assert streaming(tokenizer)(tokenizer.encode(text)) == text


def test_a_library_whose_model_the_suite_decodes_has_no_stream() -> None:
    spec = TrainingSpec(vocab_size=40, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s+")
    tokenizer = impls.load("tokenizers", impls.train("naive", ["low lower"], spec).model)
    with pytest.raises(impls.Unsupported, match="DecodeStream needs its decoder"):
        streaming(tokenizer)(tokenizer.encode("low"))


@pytest.mark.parametrize("kind", [Library, OfBytes, WithStream])
def test_a_library_decodes_a_stream_by_what_it_has_and_few_ids_at_a_time(kind: type[Library]) -> None:
    tokenizer = kind(MODEL)
    ids = [i for text in TEXTS for i in tokenizer.encode(text)] * 20
    assert streaming(tokenizer)(ids) == "".join(TEXTS) * 20
    ending = tokenizer.encode("x\ufffd")
    assert max(tokenizer.n_decoded, default=0) <= {Library: 9, OfBytes: 1, WithStream: 0}[kind]
    assert len(tokenizer.n_decoded) == {Library: 2, OfBytes: 1, WithStream: 0}[kind] * len(ids)
    assert streaming(tokenizer)(ending) == "x\ufffd"


@pytest.mark.parametrize("name", ["priority", "compiled", "tiktoken"])
def test_a_text_is_cut_by_truncate_or_by_decoding_its_first_ids(name: str) -> None:
    tokenizer = impls.load(name, MODEL)
    text = "".join(TEXTS)
    for n_tokens in (1, 5, 100):
        assert truncating(tokenizer, n_tokens)(text) == tokenizer.truncate(text, n_tokens)


def judged(kind: type[Tokenizer], task: Task, folder: Path, model: Model = MODEL) -> int:
    """Verify one pass over two texts; return the calls it counts."""
    texts = ["çay 日本語 😀" * 5, "x"]
    tokenizer = kind(model)
    write_texts(folder / "texts", [text.encode() for text in texts])
    write_ids(folder / "ids", [tokenizer.encode(text) for text in texts])
    expected = Expected(digest="", n_tokens=0, reference="own", ids_file=str(folder / "ids"))
    job = Job(task=task, state="warm-same", texts=str(folder / "texts"), limit_tokens=3)
    work = prepare(job, tokenizer, kind, expected)
    judge(work, [work.run(work.fresh(work.texts))], expected)
    return work.n_calls


def test_a_stream_has_a_call_for_each_id_and_a_wrong_one_is_a_mismatch(tmp_path: Path) -> None:
    n_ids = sum(len(WithStream(MODEL).encode(text)) for text in ("çay 日本語 😀" * 5, "x"))
    assert judged(WithStream, "decode-stream", tmp_path) == n_ids
    with pytest.raises(Wrong, match="decode to another text"):
        judged(LosesTheLast, "decode-stream", tmp_path)


def test_a_text_cut_wrongly_is_a_mismatch(tmp_path: Path) -> None:
    assert judged(Library, "truncate", tmp_path) == 2
    with pytest.raises(Wrong, match="cuts a text to 3 characters that is to be cut to 2"):
        judged(KeepsOneTooMany, "truncate", tmp_path, Model(tokens=MODEL.tokens[:256]))
