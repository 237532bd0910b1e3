"""The functions of a worker process, which holds models and tokenizers, and answers in JSON.

`prepare` is called first, then the functions that use what it prepared. Models are given by name, or as the content of
an uploaded file.
"""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

import impls
from harness.measure.token_use import TokenArray
from harness.play.messages import ColumnAnswer
from harness.play.spans import Tokens, spans_of, spelling
from harness.play.steps import steps_of
from harness.printable import readable
from impls.core.arguments import SpecialSet
from impls.core.errors import BPEError, InvalidFile, InvalidModel
from impls.formats import load_with_format, own
from impls.formats.files import without_collecting
from impls.registry import learn

Source = str | bytes
"""The name of a model, or the content of its file."""


@dataclass
class _Held:
    """The state of this process."""

    columns: tuple[tuple[str, impls.Model], ...] = ()
    tokenizers: dict[int, impls.Tokenizer] = field(default_factory=dict)
    spelled: TokenArray = field(init=False)


_held = _Held()


def prepare(columns: Sequence[tuple[str, Source]]) -> None:
    """Load the models of (implementation, source); encode once with the first, as a warm-up."""
    models = {source: _model_of(source) for _, source in columns}
    _held.columns = tuple((implementation, models[source]) for implementation, source in columns)
    _held.tokenizers.clear()
    if columns:
        _held.spelled = spelling(_held.columns[0][1])
        with contextlib.suppress(BPEError):  # what it cannot run, or has no letters for, is reported when requested
            _tokenizer(0).encode("warm", disallowed_special=())


def _tokenizer(index: int) -> impls.Tokenizer:
    if index not in _held.tokenizers:
        _held.tokenizers[index] = impls.load(*_held.columns[index])
    return _held.tokenizers[index]


def _model_of(source: Source) -> impls.Model:
    if isinstance(source, bytes):
        return read_file(source)[1]
    from harness.data import load_model

    return load_model(source)


def read_file(content: bytes) -> tuple[str, impls.Model, list[str]]:
    """Return the format and model of an uploaded file, and the reader's assumptions; raise `InvalidModel`.

    The file is alone in a folder of its own, so that it can refer to no other.
    """
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        path = Path(folder) / "model"
        path.write_bytes(content)
        try:
            format, model = load_with_format(path)
        except InvalidFile as error:
            raise InvalidModel(error.problem.replace(str(path), "the file")) from None
    return format, model, [str(warning.message).replace(str(path), "the file") for warning in caught]


def describe_file(content: bytes) -> tuple[str, int, list[str]]:
    """Return the format, the number of ids and the reader's assumptions for an uploaded file."""
    format, model, notes = read_file(content)
    return format, model.vocab_size, notes


def from_hub(name: str) -> tuple[bytes, int]:
    """Return a model of the hub as a file of our own format, and its number of ids."""
    from harness.data import load_model

    model = load_model(f"hf:{name}")
    return own.write(model), model.vocab_size


@without_collecting()
def encode(text: str, pieces: bool, allow_special: bool) -> bytes:
    """Return the `ColumnAnswer` of the first column, as JSON."""
    tokenizer = _tokenizer(0)
    allowed: SpecialSet = "all" if allow_special else ()
    start = perf_counter()
    ids = tokenizer.encode(text, allowed_special=allowed, disallowed_special=())
    seconds = perf_counter() - start
    tokens = Tokens(tokenizer, _held.spelled, text, ids, allowed)
    spans = spans_of(tokens.starts, tokens.ends, tokens.data)
    answer = ColumnAnswer(
        ids=tokens.ids.tolist(),
        spans=[*spans, *[None] * (len(ids) - len(spans))],
        pieces=None if not pieces or (begins := tokens.pieces()) is None else begins.tolist(),
        tokens=tokens.tokens(),
        seconds=seconds,
        note=tokens.note,
        error=None,
    )
    return msgspec.json.encode(answer)


def explain(text: str) -> bytes:
    """Return the explanation of the two columns on `text`, as JSON."""
    import harness.explain as account

    (a, model_a), (b, model_b) = _held.columns
    names = (f"{a} (1)", f"{b} (2)") if model_a.digest != model_b.digest else (a, b)
    a_side, b_side = (account.side_of(_tokenizer(k), name) for k, name in enumerate(names))
    return msgspec.json.encode(account.explain(a_side, b_side, text))


def steps(text: str, piece: int | None) -> bytes:
    """Return the `StepsAnswer` of the columns, one for each implementation of `steps.SHOWN`, as JSON."""
    names = [name for name, _ in _held.columns]
    return msgspec.json.encode(steps_of(lambda name: _tokenizer(names.index(name)), text, piece))


def train(text: str, spec: impls.TrainingSpec) -> tuple[list[Any], bytes, int]:
    """Return [left, right, token, count, id] of each merge learned, the file of the model, and its number of ids."""
    model = learn("compiled", [text], spec)
    counts = model.merge_counts or [0] * len(model.merges)
    merges = [
        [*(readable(model.tokens[i] or b"") for i in (*pair, result)), count, result]
        for pair, result, count in zip(model.merges, model.merge_results, counts, strict=True)
    ]
    return merges, own.write(model), model.vocab_size
