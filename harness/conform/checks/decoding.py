"""Does every id decode to its token, every token encode to its id, and a stream give each character in time?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random

from harness.conform.case import Case, Judgement
from harness.conform.checks.over_texts import most_of, over, over_texts, stopped, texts_for
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import Fault, NotAsked, NotCompared
from harness.conform.wording import answered, expression
from harness.generators import texts as material
from harness.generators.texts import RandomIds, parts_of_characters
from harness.minimize import least
from impls import Unsupported

_IDS_A_REQUEST = 1_000
_MOST_SINGLE, _MOST_LONG = 2_000, 300


def every_id(case: Case) -> str:
    """Check that each id decodes to its token: a thousand per request, separated by line ends, or else singly."""
    by_id = case.reference.bytes_by_id
    special = set(case.reference.model.whole_token_ids.values())
    ordinary = [i for i in sorted(by_id) if i not in special]
    _vocabulary(case)
    n_judged = 0
    for chosen in (ordinary, sorted(special)):
        for start in range(0, len(chosen), _IDS_A_REQUEST):
            part = chosen[start : start + _IDS_A_REQUEST]
            if not _decode_apart(case, part):
                for i in part:
                    _decode_alone(case, i)
                _decode_together(case, part)
            case.n_inputs += len(part)
            n_judged += len(part)
            if case.out_of_time and (remark := most_of(n_judged, len(by_id), "ids")):
                return remark
    longest = sorted(ordinary, key=lambda i: len(by_id[i]))[-_MOST_LONG:]
    parts = parts_of_characters({i: by_id[i] for i in ordinary})[:_MOST_SINGLE]
    singly = [*longest, *parts, *ordinary[:: 1 + len(ordinary) // _MOST_SINGLE]]
    for n, i in enumerate(singly, 1):
        expected = case.reference.decode([i])
        if not isinstance(expected, Refusal) and case.client.decode([i]) != expected:
            _decode_alone(case, i)
        if case.out_of_time:
            return stopped(n, len(singly), "ids decoded singly")
    return ""


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
        is_refused = isinstance(got, Refusal) and not got.fatal and i in model.whole_token_ids.values()
        if got != by_id[i] and not is_refused:
            raise Fault("vocabulary", f"token_bytes({i}) is wrong", ids=[i], expected=by_id[i], got=answered(got))


def _decode_apart(case: Case, ids: Sequence[int]) -> bool:
    """Return whether the ids decode correctly, each followed by a line end so that no two tokens are adjacent."""
    given = _with_line_ends(case, ids)
    return bool(given) and case.client.decode(given) == _text_of(case, given, one_by_one=True)


def _with_line_ends(case: Case, ids: Sequence[int]) -> list[int]:
    """Return the ids with a line end after each; an empty list if no token is a line end."""
    line_end = case.reference.model.id_by_token.get(b"\n")
    return [] if line_end is None else [part for i in ids for part in (i, line_end)]


def _text_of(case: Case, ids: Sequence[int], *, one_by_one: bool = False) -> str:
    tokens = [case.reference.bytes_by_id[i] for i in ids]
    return "".join(part.decode("utf-8", "replace") for part in (tokens if one_by_one else [b"".join(tokens)]))


def _decode_alone(case: Case, i: int) -> None:
    """Raise a fault if an id does not decode to its token."""
    expected, got = _text_of(case, [i]), case.client.decode([i])
    if got == expected:
        return
    special = i in case.reference.model.whole_token_ids.values()
    case.known_ids.append((i,))
    raise Fault(
        "special tokens" if special else "decode",
        f"the {'special ' if special else ''}id {i} decodes to {answered(got)}",
        ids=[i], expected=expression(expected), got=answered(got),
    )  # fmt: skip


def _decode_together(case: Case, ids: Sequence[int]) -> None:
    """Raise the fault of ids that decode correctly alone but not together, by the shortest wrong prefix."""
    if not _with_line_ends(case, ids):
        return
    n = least(len(ids), lambda n: not _decode_apart(case, ids[:n]))
    given = _with_line_ends(case, ids[n - 1 : n])
    reason = "each id decodes correctly alone, but not with a line end after it"
    expected = expression(_text_of(case, given))
    raise Fault("decode", reason, ids=given, expected=expected, got=str(case.client.decode(given)))


def re_encode(case: Case) -> str:
    """Check that the text of every token encodes to that token; exceptions are those the reference splits as well."""
    special = set(case.reference.model.whole_token_ids.values())
    tokens = {i: material.text_of(token) for i, token in case.reference.bytes_by_id.items() if i not in special}
    id_by_text = {text: i for i, text in tokens.items() if text is not None}  # part of a character has no text

    def judge(text: str, answer: Answer) -> Judgement:
        if answer == [id_by_text.get(text)]:
            return "right"
        agreed = case.agrees(text, answer)
        return "excused" if agreed == "right" and text in id_by_text else agreed

    chosen = list(id_by_text)
    if not case.affordable(3 * sum(map(len, chosen))):
        chosen = chosen[:: max(1, len(chosen) // 5_000)]
    remark = over_texts(case, chosen, judge, "{} tokens encode to others, as with the reference")
    sample = f"a sample of {len(id_by_text):,} tokens" if len(chosen) < len(id_by_text) else ""
    return "; ".join(filter(None, [remark, sample]))


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
        if isinstance(expected, Refusal):
            raise NotCompared
        if got == expected:
            return None
        reason = str(got) if isinstance(got, Refusal) else _difference(expected, got)
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


def _expected(case: Case, pushes: Pushes) -> list[str] | Refusal:
    """Return the text expected from each push, and from `finish`."""
    try:
        decoder = case.reference.tokenizer.decoder()
    except Unsupported as error:
        raise NotAsked(str(error)) from None
    if isinstance(refused := case.reference.decode([i for pushed in pushes for i in pushed]), Refusal):
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


def _shown(texts: Sequence[str] | Refusal) -> str:
    return str(texts) if isinstance(texts, Refusal) else ", ".join(map(expression, texts))
