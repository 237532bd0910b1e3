"""Calls that follow from the ids of a text: offsets, cuts, limits, streams. The reference says what is right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice, product
from random import Random
from typing import Any, NamedTuple

from harness.conform.case import Case
from harness.conform.checks.over_texts import over, past_64k, texts_for
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare, Stage
from harness.conform.wording import answered, expression, has_surrogate
from harness.generators.texts import RandomIds
from harness.process.session import Failed
from impls import Unsupported

_OF_IDS = ("decode_bytes", "decode_with_offsets")
_STAGES: dict[str, Stage] = dict.fromkeys(("decode_with_offsets", "encode_with_offsets"), "offsets")
_STAGES |= {"count": "derived", "encode_array": "derived", "decode_bytes": "decode", "pieces": "pieces"}


class Call(NamedTuple):
    """A call on a text, or on its ids."""

    operation: str
    options: Mapping[str, Any] = {}

    def __str__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"{self.operation}({'ids' if self.operation in _OF_IDS else 'text'}{options})"


def fault_of(case: Case, call: Call, text: str) -> Fault | None:
    """Return the fault of a call, or None. Raises `NothingToCompare` for a text whose ids other checks judge."""
    ids = case.reference.ids(text)
    if isinstance(ids, Failed):
        raise NothingToCompare
    is_of_ids = call.operation in _OF_IDS
    expected = case.reference.answer(call.operation, ids if is_of_ids else text, **call.options)
    got = case.client.ask(call.operation, **({"ids": ids} if is_of_ids else {"text": text}), **call.options)
    if got == expected or _is_as_good(case, call.operation, ids, expected, got):
        return None
    if isinstance(expected, Failed) or case.client.ids(text) != ids:
        raise NothingToCompare
    if isinstance(got, Failed) and not got.outcome.ends_process and any(map(text.__contains__, case.special_names)):
        raise NothingToCompare  # it may refuse special text
    stage: Stage = "truncation" if call.options else _STAGES.get(call.operation, "truncation")
    reason = f"{call} ends in {got}" if isinstance(got, Failed) else f"{call} is wrong"
    given = ids if is_of_ids else None
    return Fault(stage, reason, text=text, ids=given, expected=answered(expected), got=answered(got))


def _is_as_good(case: Case, operation: str, ids: Sequence[int], expected: Any, got: Any) -> bool:
    """Return whether other offsets are right too.

    A token that begins inside a character starts there or at the next one; an inserted space may have an empty span.
    """
    if not operation.endswith("_with_offsets") or isinstance(expected, Failed) or isinstance(got, Failed):
        return False
    (first, places), (other, others) = expected, got
    if other != first or len(others) != len(places):
        return False
    tokens = map(case.reference.bytes_by_id.__getitem__, ids)
    each = zip(tokens, places, others, strict=True)
    if operation == "decode_with_offsets":
        return all(b == a or (b == a + 1 and token and token[0] & 0xC0 == 0x80) for token, a, b in each)
    return all(b == a or (b[0] == b[1] and a[0] <= b[0] <= a[1] and not token.strip(b" ")) for token, a, b in each)


def _ask(case: Case, texts: Sequence[str], calls_of: Callable[[str], Iterable[Call]]) -> None:
    def fault_of_text(text: str) -> Fault | None:
        return next(filter(None, (fault_of(case, call, text) for call in calls_of(text))), None)

    over(case, texts, fault_of_text)


# --- offsets ---------------------------------------------------------------------------------------------------


def offsets(case: Case) -> None:
    """Check `decode_with_offsets`, `encode_with_offsets`, or both, as offered."""
    special = (f"a {name} b" for name in case.special_names[:2])
    texts = [*special, *texts_for(case)[:6_400:16], *past_64k(case)[::3]]
    offered = [*map(Call, case.client.offered(("decode_with_offsets", "encode_with_offsets")))]
    _ask(case, texts, lambda text: offered)


# --- cuts and limits -------------------------------------------------------------------------------------------

_SHORT_IDS = 8
"""A text of up to this many ids is cut at every limit in every way."""
_RANDOM_LIMITS, _WAYS_OF_LONG = 2, 2
_LIMITS = {"truncate": "n_tokens", "fits": "n_tokens", "count": "at_most"}
_GREATEST_LIMIT, _PAST_31_BITS = 1_000, 1 << 31
_CUT_ELSEWHERE = ("a I'LL b", "a we'Ve", "שלום'vex", "1234567890", "a  \n\n  b", "x🇹🇷👩\u200d👧e\u0301")
"""Texts of which a part is split differently than within the whole."""


def truncation(case: Case) -> None:
    """Check `truncate`, `fits` and `count` up to a limit: 0, 1, and below, at and above the number of ids."""
    ways = _ways(case)
    if not ways:
        raise NotAsked("; ".join(case.remarks))
    texts = (*_CUT_ELSEWHERE, *islice(_cut_characters(case), 50), *texts_for(case, 200), *past_64k(case))

    def calls(text: str) -> Iterator[Call]:
        ids, random = case.reference.ids(text), Random(f"truncate:{case.seed}:{text[:99]}")
        n_ids = 0 if isinstance(ids, Failed) else len(ids)
        some = [random.randint(0, min(n_ids, _GREATEST_LIMIT)) for _ in range(_RANDOM_LIMITS)]
        is_short = n_ids <= _SHORT_IDS
        around = (*range(n_ids + 2), _PAST_31_BITS) if is_short else (0, 1, *some, n_ids - 1, n_ids, n_ids + 1)
        for limit in dict.fromkeys(around):
            for way in ways if is_short else random.sample(ways, min(len(ways), _WAYS_OF_LONG)):
                yield Call(way.operation, {_LIMITS[way.operation]: limit, **way.options})

    _ask(case, [text for text in texts if text and not has_surrogate(text)], calls)


def _ways(case: Case) -> list[Call]:
    """Return every offered operation with every combination of its options; note why others are not checked."""
    offers = case.client.offers
    sides = [{"side": side} for side in ("right", "left")] if offers("side") else [{}]
    wholes = [{"whole": whole} for whole in ("token", "character", "word")] if offers("whole") else [{}]
    ways = [Call("truncate", side | whole) for side, whole in product(sides, wholes) if offers("truncate")]
    ways += [Call("count")] * (offers("count") and offers("at_most")) + [Call("fits")] * offers("fits")
    for operation in dict.fromkeys(way.operation for way in ways):
        if why := case.lacks(operation, text="", **{_LIMITS[operation]: 1}):
            case.remarks.append(f"its {operation} takes other arguments: {why}")
            ways = [way for way in ways if way.operation != operation]
    return ways


def _cut_characters(case: Case) -> Iterator[str]:
    """Yield texts with a token that ends inside a character and is several tokens without that character."""
    for token in case.reference.bytes_by_id.values():
        text = token.decode("utf-8", "ignore")
        if text and len(text.encode()) < len(token) and len(case.reference.ids(text)) > 1:
            for rest in (b"\x80", b"\xa0", b"\x80\x80", b"\xa0\x80", b"\x80\x80\x80"):
                with suppress(UnicodeDecodeError):
                    yield (token + rest).decode()


# --- streams ---------------------------------------------------------------------------------------------------

_BEGUN = (b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0", b"\xe0\x80", b"\xef\xbf\xbdA", b"\xc3\xe2")
"""Bytes that remain incomplete, can never be complete, or are U+FFFD itself."""
Pushes = tuple[tuple[int, ...], ...]


def streaming(case: Case) -> None:
    """Check what `decoder().push` returns for texts and for ids in any order, cut anywhere, and `finish` in the end.

    The reference's decoder says what is certain: what no further ids can change.
    """
    if why := case.lacks("decode_stream", lists=[[]]):
        raise NotAsked(f"its decoder() cannot be used: {why}")
    try:
        case.reference.tokenizer.decoder()
    except Unsupported as error:
        raise NotAsked(str(error)) from None

    def fault_of_pushes(pushes: Pushes) -> Fault | None:
        ids = [i for pushed in pushes for i in pushed]
        if isinstance(case.reference.decode(ids), Failed):
            raise NothingToCompare
        decoder = case.reference.tokenizer.decoder()
        expected, got = [*map(decoder.push, pushes), decoder.finish()], case.client.ask("decode_stream", lists=pushes)
        if got == expected:
            return None
        reason = str(got) if isinstance(got, Failed) else _difference(expected, got)
        return Fault("decode", reason, ids=ids, expected=expected, got=got)

    over(case, _streams(case), fault_of_pushes)


def _streams(case: Case) -> Iterator[Pushes]:
    """Yield ids in pushes: of texts one by one, of random ids also several at a time; special ids are left out."""
    model, random = case.reference.model, Random(f"streams:{case.seed}")
    special = set(model.special_tokens.values())
    if model.alphabet == "bytes":
        for data in _BEGUN:
            yield tuple((model.id_by_token[bytes([byte])],) for byte in data)
    for text in texts_for(case, 300):
        if isinstance(ids := case.reference.ids(text), list):
            yield tuple((i,) for i in ids)
    of_model = RandomIds(model)
    for _ in range(1_500):
        ids = [i for i in of_model.draw(random) if i not in special]
        yield tuple((i,) for i in ids)
        ends = sorted(random.choices(range(len(ids) + 1), k=random.randint(0, len(ids))))
        yield tuple(tuple(ids[start:end]) for start, end in zip([0, *ends], [*ends, len(ids)], strict=True))


def _difference(expected: Sequence[str], got: Sequence[str]) -> str:
    """Describe the first push after which the text differs."""
    if len(expected) != len(got):
        return f"{len(got) - 1} texts for {len(expected) - 1} pushes"
    pairs = zip(accumulate(expected), accumulate(got), strict=True)
    k, right, text = next((k, *pair) for k, pair in enumerate(pairs) if pair[0] != pair[1])
    where = "finish" if k == len(expected) - 1 else f"push {k + 1}"
    if right.startswith(text):
        return f"{where} holds back {expression(right[len(text) :])}, which no further ids can change"
    if text.startswith(right):
        return f"{where} returns {expression(text[len(right) :])}, which further ids may change or `decode` has not"
    return f"after {where} the text differs from that of `decode`"
