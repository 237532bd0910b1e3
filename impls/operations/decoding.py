"""Ids back to text: bytes, text and offsets. Ids are whole numbers in any iterable; any other item raises TypeError."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby

from impls.core.arguments import check_text, checked_ids
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.text import byte_starts_of_characters
from impls.operations.coder import Coder
from impls.operations.stream_rules import stream_rules

_WRONG = dict.fromkeys(range(0xDC80, 0xDD00), "\udcff")


def decode_bytes(model: Model, ids: Iterable[int]) -> bytes:
    """Return the bytes of the ids; raise `UnknownId(id, position)`, unless the model has an unknown token.

    What a file's decoder does to texts that are not bytes joined is done by `decode` only.
    """
    return b"".join(_token_bytes(model, checked_ids(ids)))


def decode(
    model: Model, ids: Iterable[int], errors: str = "replace", to_bytes: Callable[[Iterable[int]], bytes] | None = None
) -> str:
    """Return the text of the ids, by an implementation's `decode_bytes` if given; `errors` handles invalid UTF-8 as in
    `bytes.decode`.

    For a SentencePiece model `replace` gives one U+FFFD per invalid byte, not one per truncated character. A file
    tokenizer.json is followed in what its decoder does.
    """
    check_text(errors, "errors")
    rules = stream_rules(model)
    if rules.decoder is not None and not rules.decoder.joins_bytes:
        return rules.decoder.text(rules.token_names(checked_ids(ids)))
    if rules.byte_ids is not None and errors == "replace":
        return b"".join(_shown(model, checked_ids(ids))).decode("utf-8", "replace")
    return (decode_bytes(model, ids) if to_bytes is None else to_bytes(ids)).decode("utf-8", errors)


def decode_with_offsets(tokenizer: Coder, ids: Iterable[int]) -> tuple[str, list[int]]:
    """Return the text, and the start of each token in code points.

    A token that begins inside a character gets that character's start. Raise `Unsupported` if the model's decoder does
    not decode token by token.
    """
    ids, rules = checked_ids(ids), stream_rules(tokenizer.model)
    if rules.decoder is not None and not rules.decoder.joins_bytes:
        if not rules.decoder.by_token:
            raise Unsupported(tokenizer.name, "the decoder of the file does not show where the text of a token begins")
        parts = rules.decoder.parts(rules.token_names(ids))
        return "".join(parts), list(accumulate(map(len, parts[:-1]), initial=0)) if parts else []
    tokens = _shown(tokenizer.model, ids)
    data = b"".join(tokens)
    text, starts = byte_starts_of_characters(data)
    places = accumulate(map(len, tokens[:-1]), initial=0) if tokens else ()
    return text, [bisect_right(starts, place) - 1 if place < len(data) else len(text) for place in places]


def _token_bytes(model: Model, ids: Sequence[int]) -> list[bytes]:
    rules = stream_rules(model)
    return rules.token_bytes(ids, begins=bool(rules.ids_with_mark))[0]


def _shown(model: Model, ids: Sequence[int]) -> list[bytes]:
    """Return the bytes of each token: 0xFF for a byte token in no character, or in a run that is decoded as one and is
    not UTF-8."""
    rules = stream_rules(model)
    if (byte_ids := rules.byte_ids) is None:
        return _token_bytes(model, ids)
    tokens, _ = rules.token_bytes(ids, begins=bool(rules.ids_with_mark) and not rules.joins_runs)
    shown: list[bytes] = []
    for are_bytes, run in groupby(zip(ids, tokens, strict=True), key=lambda pair: pair[0] in byte_ids):
        of_run = [token for _, token in run]
        if are_bytes:
            data = b"".join(of_run)
            try:
                data.decode()
            except UnicodeDecodeError:
                text = data.decode("utf-8", "surrogateescape").translate(_WRONG)
                data = b"\xff" * len(data) if rules.joins_runs else text.encode("utf-8", "surrogateescape")
                of_run = [data[k : k + 1] for k in range(len(data))]
        shown += of_run
    if rules.joins_runs and rules.ids_with_mark and shown:
        shown[0] = shown[0].removeprefix(b" ")
    return shown
