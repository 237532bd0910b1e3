"""Does a stream of ids give each character as soon as it is certain, no sooner, and in the end the text of `decode`?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random

from harness.conform.case import Case
from harness.conform.checks.over_texts import texts_for
from harness.conform.reference import Refusal
from harness.conform.verdicts import Fault, NotAsked
from harness.conform.wording import expression
from harness.generators.bulk import RandomIds
from impls import Unsupported

_N_TEXTS = 300
_N_RANDOM = 1_500
_BEGUN = (b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0", b"\xe0\x80", b"\xef\xbf\xbdA", b"\xc3\xe2")
"""Bytes that remain incomplete, can never be complete, or are U+FFFD itself."""

Pushes = tuple[tuple[int, ...], ...]


def streaming(case: Case) -> str:
    """Check what `decoder().push` returns for texts and for ids in any order, cut anywhere, and `finish` in the end.

    The reference's decoder says what is certain: what no further ids can change.
    """
    if isinstance(refused := case.client.ask("decode_stream", lists=[]), Refusal):
        raise NotAsked(f"its decoder() cannot be used: {refused}")

    def fault_of(pushes: Pushes) -> Fault | None:
        expected, got = _expected(case, pushes), case.client.ask("decode_stream", lists=pushes)
        if got == expected or isinstance(expected, Refusal):
            return None
        reason = str(got) if isinstance(got, Refusal) else _difference(expected, got)
        ids = [i for pushed in pushes for i in pushed]
        return Fault("decode", reason, ids=ids, expected=_shown(expected), got=_shown(got))

    def one_by_one(pushes: Pushes) -> Iterator[Pushes]:
        yield tuple((i,) for pushed in pushes for i in pushed)

    return case.over(_streams(case), fault_of, one_by_one)


def _streams(case: Case) -> Iterator[Pushes]:
    """Yield ids in pushes: of texts one by one, then of random ids several at a time; special ids are left out."""
    model, random = case.reference.model, Random(f"streams:{case.seed}")
    special = set(model.special_tokens.values())
    if model.alphabet == "bytes":
        for data in _BEGUN:
            yield tuple((model.id_by_token[bytes([byte])],) for byte in data)
    texts = texts_for(case)
    for text in texts[:: max(1, len(texts) // _N_TEXTS)]:
        ids = case.reference.ids(text)
        if isinstance(ids, list):
            yield tuple((i,) for i in ids)
    of_model = RandomIds(model)
    for _ in range(_N_RANDOM):
        ids = [i for i in of_model.draw(random) if i not in special]
        ends = sorted(random.choices(range(len(ids) + 1), k=random.randint(0, len(ids))))
        yield tuple(tuple(ids[start:end]) for start, end in zip([0, *ends], [*ends, len(ids)], strict=True))


def _expected(case: Case, pushes: Pushes) -> list[str] | Refusal:
    """Return the text of each push, and of `finish`."""
    try:
        decoder = case.reference.tokenizer.decoder()
    except Unsupported as error:
        raise NotAsked(str(error)) from None
    if isinstance(refused := case.reference.decode([i for pushed in pushes for i in pushed]), Refusal):
        return refused
    return [*map(decoder.push, pushes), decoder.finish()]


def _difference(expected: Sequence[str], got: Sequence[str]) -> str:
    """Say what is wrong of the first push after which the text differs."""
    if len(expected) != len(got):
        return f"{len(got) - 1} texts for {len(expected) - 1} pushes"
    pairs = zip(accumulate(expected), accumulate(got), strict=True)
    k, right, text = next((k, *pair) for k, pair in enumerate(pairs) if pair[0] != pair[1])
    where = "finish" if k == len(expected) - 1 else f"push {k + 1}"
    if right.startswith(text):
        missing = expression(right[len(text) :])
        late = f"{where} holds back {missing}, which no further ids can change"
        return f"finish does not return {missing}" if where == "finish" else late
    if text.startswith(right):
        return f"{where} returns {expression(text[len(right) :])}, which further ids may change or `decode` has not"
    return f"after {where} the text differs from that of `decode`"


def _shown(texts: Sequence[str] | Refusal) -> str:
    return str(texts) if isinstance(texts, Refusal) else ", ".join(map(expression, texts))
