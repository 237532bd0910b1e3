"""Does every id decode to its token, every token encode to its id, and do offsets point to where tokens start?"""

from __future__ import annotations

from collections.abc import Sequence

from harness.conform.case import Case, Judgement
from harness.conform.checks.encoding import texts_for
from harness.conform.checks.over_texts import over_texts
from harness.conform.checks.sizes import past_64k
from harness.conform.reference import Answer, Refusal
from harness.conform.verdicts import CheckVerdict, FailingInput
from harness.conform.wording import expression

_IDS_A_REQUEST = 1_000
_OFFSET_TEXTS = 400
_LEAST_OFFSET_TEXTS = 100
"""Tested however slow the target is: the shortest texts come first, and the first few are all ASCII."""
_MOST_SINGLE = 2_000


def every_id(case: Case) -> CheckVerdict:
    """Check that each id decodes to its token: a thousand per request, separated by line ends, or else singly."""
    by_id = case.reference.bytes_by_id
    special = set(case.reference.model.whole_token_ids.values())
    ordinary = [i for i in sorted(by_id) if i not in special]
    n_inputs = 0
    for chosen in (ordinary, sorted(special)):
        for start in range(0, len(chosen), _IDS_A_REQUEST):
            part = chosen[start : start + _IDS_A_REQUEST]
            if not _decode_apart(case, part):
                for i in part:
                    if found := _wrong_id(case, i):
                        return found
                if found := _wrong_together(case, part):
                    return found
            n_inputs += len(part)
            if case.out_of_time:
                reason = f"stopped by the clock after {n_inputs:,} of {len(by_id):,} ids"
                enough = 2 * n_inputs >= len(by_id)
                return CheckVerdict(status="passed" if enough else "not asked", reason=reason, n_inputs=n_inputs)
    return _parts_of_characters(case, ordinary) or CheckVerdict(status="passed", n_inputs=n_inputs)


def _parts_of_characters(case: Case, ids: Sequence[int]) -> CheckVerdict | None:
    """Return a failure of an id that is not a whole character, decoded alone."""
    by_id = case.reference.bytes_by_id
    cut = [i for i in ids if "\ufffd" in by_id[i].decode("utf-8", "replace")]
    for i in cut[:_MOST_SINGLE]:
        expected = case.reference.decode([i])
        if not isinstance(expected, Refusal) and case.client.decode([i]) != expected:
            return _wrong_id(case, i)
        if case.out_of_time:
            break
    return None


def _decode_apart(case: Case, ids: Sequence[int]) -> bool:
    """Whether the ids decode correctly, each followed by a line end, so that none meets another."""
    line_end = case.reference.model.id_by_token.get(b"\n")
    if line_end is None:
        return False
    apart = [part for i in ids for part in (i, line_end)]
    by_id = case.reference.bytes_by_id
    expected = "".join(by_id[i].decode("utf-8", "replace") + "\n" for i in ids)
    return case.client.decode(apart) == expected


def _wrong_id(case: Case, i: int) -> CheckVerdict | None:
    expected = case.reference.bytes_by_id[i].decode("utf-8", "replace")
    got = case.client.decode([i])
    if got == expected:
        return None
    special = i in case.reference.model.whole_token_ids.values()
    case.known_ids.append((i,))
    shown = str(got) if isinstance(got, Refusal) else expression(got)
    return CheckVerdict(
        status="failed",
        stage="special tokens" if special else "decode",
        reason=f"the {'special ' if special else ''}id {i} decodes to {shown}",
        counterexample=FailingInput.of(ids=[i], expected=expression(expected), got=shown),
        n_failed=1,
    )


def _wrong_together(case: Case, ids: Sequence[int]) -> CheckVerdict | None:
    """Return the failure of ids right alone but not together, by the shortest wrong prefix; None without a line end."""
    if case.reference.model.id_by_token.get(b"\n") is None:
        return None
    least, most = 1, len(ids)
    while least < most:
        middle = (least + most) // 2
        if _decode_apart(case, ids[:middle]):
            least = middle + 1
        else:
            most = middle
    line_end = case.reference.model.id_by_token[b"\n"]
    given = [part for i in ids[most - 1 : most] for part in (i, line_end)]
    by_id = case.reference.bytes_by_id
    got = case.client.decode(given)
    return CheckVerdict(
        status="failed",
        stage="decode",
        reason="each id decodes correctly alone, but not with a line end after it",
        counterexample=FailingInput.of(
            ids=given, expected=expression(b"".join(by_id[i] for i in given).decode("utf-8", "replace")), got=str(got)
        ),
        n_failed=1,
    )


def re_encode(case: Case) -> CheckVerdict:
    """Check that the text of every token encodes to that token; exceptions are those the reference splits as well."""
    id_by_text: dict[str, int] = {}
    special = set(case.reference.model.whole_token_ids.values())
    for i, token in case.reference.bytes_by_id.items():
        if i in special:
            continue
        try:
            id_by_text[token.decode()] = i
        except UnicodeDecodeError:
            continue  # part of a character: no text of its own

    def judge(text: str, answer: Answer) -> Judgement:
        if answer == [id_by_text.get(text)]:
            return "right"
        agreed = case.agrees(text, answer)
        return "excused" if agreed == "right" and text in id_by_text else agreed

    chosen = list(id_by_text)
    if not case.affordable(3 * sum(map(len, chosen))):
        chosen = chosen[:: max(1, len(chosen) // 5_000)]
    verdict = over_texts(case, chosen, judge)
    if verdict.status == "same as reference":
        n = verdict.reason.partition(" of ")[0].removeprefix("on ")
        verdict.reason = f"{n} tokens encode to others, as with the reference"
    return verdict


def offsets(case: Case) -> CheckVerdict:
    """Check that `decode_with_offsets` gives the text and the code point each token starts at.

    A token that begins inside a character may give that character's start or the next one's.
    """
    if not case.client.offers("decode_with_offsets"):
        return CheckVerdict(status="not offered", reason="it has no decode_with_offsets")
    texts = sorted(texts_for(case)[::4], key=len)[: 4 * _OFFSET_TEXTS : 4]
    n_inputs = 0
    for text in [*texts, *past_64k(case)[:1]]:
        ids = case.reference.ids(text)
        if isinstance(ids, Refusal):
            continue
        n_inputs += 1
        expected_text, expected = case.reference.tokenizer.decode_with_offsets(ids)
        answer = case.client.ask("decode_with_offsets", ids=ids)
        found = _text_and_starts(answer)
        if found is None or found[0] != expected_text or not _starts_agree(case, ids, expected, found[1]):
            got = str(answer) if found is None else f"{expression(found[0])}, starts {found[1]}"
            return CheckVerdict(
                status="failed",
                stage="offsets",
                reason="tokens do not start where it says",
                counterexample=FailingInput.of(
                    text, ids=ids, expected=f"{expression(expected_text)}, starts {expected}", got=got
                ),
                n_inputs=n_inputs,
                n_failed=1,
            )
        if case.out_of_time and n_inputs >= _LEAST_OFFSET_TEXTS:
            break
    return CheckVerdict(status="passed", n_inputs=n_inputs)


def _text_and_starts(answer: object) -> tuple[str, list[int]] | None:
    if isinstance(answer, list | tuple) and len(answer) == 2 and isinstance(answer[0], str):
        starts = answer[1]
        if isinstance(starts, list) and all(isinstance(start, int) for start in starts):
            return answer[0], starts
    return None


def _starts_agree(case: Case, ids: Sequence[int], expected: Sequence[int], got: Sequence[int]) -> bool:
    if len(expected) != len(got):
        return False
    by_id = case.reference.bytes_by_id
    for i, wanted, start in zip(ids, expected, got, strict=True):
        inside = by_id[i][:1] and by_id[i][0] & 0xC0 == 0x80
        if start != wanted and not (inside and start == wanted + 1):
            return False
    return True
