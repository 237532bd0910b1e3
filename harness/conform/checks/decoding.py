"""Is every token encoded and decoded, and does a stream give each character in time?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random

from harness.conform import questions
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all, ask_lists
from harness.conform.checks.over_texts import over, texts_for
from harness.conform.verdicts import Fault, NotAsked, NothingToCompare
from harness.conform.wording import answered, expression
from harness.generators.texts import RandomIds
from harness.process.session import Failed
from impls import Unsupported

_MOST_LONG = 300


def tokens(case: Case) -> str:
    """Check that every token encodes as the reference does, and decodes alone and between its neighbours."""
    by_id, model = case.reference.bytes_by_id, case.reference.model
    _vocabulary(case)
    remark = ask_all(case, questions.tokens(model))

    def text_of(ids: Sequence[int]) -> str:
        if model.lossy is None:
            return b"".join(map(by_id.__getitem__, ids)).decode("utf-8", "replace")
        text = case.reference.decode(ids)
        return "" if isinstance(text, Failed) else text

    ask_lists(case, questions.decoded_lists(model), text_of)
    return remark


def _vocabulary(case: Case) -> None:
    """Raise a fault if the number of ids, a declared special token, or `token_bytes` of some ids is wrong."""
    by_id, model = case.reference.bytes_by_id, case.reference.model
    described = case.client.description
    sizes = {model.vocab_size, len(by_id), max(by_id) + 1}
    if described.n_vocab is not None and described.n_vocab not in sizes:
        wanted = " or ".join(map(str, sorted(sizes)))
        raise Fault("vocabulary", f"it says that it has {described.n_vocab:,} ids; the model has {wanted}")
    for text, i in described.special_tokens.items():
        known = model.whole_token_ids.get(text, i)
        if known != i:
            raise Fault("special tokens", f"it declares {text!r} with another id", text=text, expected=known, got=i)
    for i in sorted(by_id)[:: 1 + len(by_id) // _MOST_LONG] if case.client.offers("token_bytes") else ():
        case.n_inputs += 1
        got = case.client.ask("token_bytes", token=i)
        is_refused = isinstance(got, Failed) and not got.outcome.ends_process and i in model.whole_token_ids.values()
        if got != by_id[i] and not is_refused:
            raise Fault("vocabulary", f"token_bytes({i}) is wrong", ids=[i], expected=by_id[i], got=answered(got))


_N_TEXTS = 300
_N_RANDOM = 1_500
_BEGUN = (b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0", b"\xe0\x80", b"\xef\xbf\xbdA", b"\xc3\xe2")
"""Bytes that remain incomplete, can never be complete, or are U+FFFD itself."""

Pushes = tuple[tuple[int, ...], ...]


def streaming(case: Case) -> str:
    """Check what `decoder().push` returns for texts and for ids in any order, cut anywhere, and `finish` in the end.

    The reference's decoder says what is certain: what no further ids can change.
    """
    if why := case.lacks("decode_stream", lists=[[]]):
        raise NotAsked(f"its decoder() cannot be used: {why}")

    def fault_of(pushes: Pushes) -> Fault | None:
        expected, got = _expected(case, pushes), case.client.ask("decode_stream", lists=pushes)
        if isinstance(expected, Failed):
            raise NothingToCompare
        if got == expected:
            return None
        reason = str(got) if isinstance(got, Failed) else _difference(expected, got)
        ids = [i for pushed in pushes for i in pushed]
        return Fault("decode", reason, ids=ids, expected=_shown(expected), got=_shown(got))

    def one_by_one(pushes: Pushes) -> Iterator[Pushes]:
        yield tuple((i,) for pushed in pushes for i in pushed)

    return over(case, list(_streams(case)), fault_of, one_by_one)


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


def _expected(case: Case, pushes: Pushes) -> list[str] | Failed:
    """Return the text expected from each push, and from `finish`."""
    try:
        decoder = case.reference.tokenizer.decoder()
    except Unsupported as error:
        raise NotAsked(str(error)) from None
    if isinstance(refused := case.reference.decode([i for pushed in pushes for i in pushed]), Failed):
        return refused
    return [*map(decoder.push, pushes), decoder.finish()]


def _difference(expected: Sequence[str], got: Sequence[str]) -> str:
    """Describe the first push after which the text differs."""
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


def _shown(texts: Sequence[str] | Failed) -> str:
    return str(texts) if isinstance(texts, Failed) else ", ".join(map(expression, texts))
