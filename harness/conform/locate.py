"""Locate the stage in which a wrong answer arises.

`harness.explain` finds differences between two tokenizers; this module adds those that only a process under test shows:
refusals, crashes, hangs, confusion of one piece with another, and faults of very long texts alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from harness.common_prefix import common_prefix_length
from harness.conform.client import TargetClient
from harness.conform.reference import Answer, Reference, value_of
from harness.conform.verdicts import Stage
from harness.explain import Side, explain, side_of
from harness.explain.text_stage import rewriting
from harness.outcome import Outcome
from harness.process.session import Failed
from impls.core.text.text import repair_surrogates

_EXPLAINED_CHARACTERS = 2_000
_MOST_DROPPED = 64  # bytes; more are a text cut off
WRAPPER_BLOCK, WRAPPER_RUN = 400_000, 25_000
"""Where the wrappers of Llama 3 and Qwen cut: texts, and runs of white space or of other characters."""
_RUN = re.compile(r"\s+|\S+")
_MOST_PIECES = 6
"""With more pieces, confusion of one with another is not tested, since each needs a fresh process."""


def locate(text: str, got: Answer, client: TargetClient, reference: Reference) -> tuple[Stage, str]:
    """Return the stage in which `got`, the target's answer for `text`, first differs from the reference's ids.

    `text` should be as small as possible. If the reference itself refuses, only the bytes of `got` are judged.
    """
    if isinstance(got, Failed):
        if got.outcome in (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY):
            return "resources", str(got)
        ends = got.outcome.ends_process
        return ("process", f"its process ends: {got}") if ends else ("refusal", f"refuses it: {got}")
    pieces = reference.pieces(text)
    if _confuses_pieces(pieces, got, client, reference):
        return "cache", "each piece alone is right; together one gets the ids of another"
    if len(text) > _EXPLAINED_CHARACTERS:
        return _locate_in_long_text(text, pieces, got, client, reference)
    target = Side(
        name="the target",
        encode=lambda text: value_of(client.ids(text)),
        decode=lambda ids: value_of(client.decode(ids)),
        whole_tokens=reference.model.whole_token_ids,
    )
    difference = explain(side_of(reference.tokenizer, reference.name), target, text)
    if difference.stage is None:
        return "determinism", "asked again, it gives the reference's ids"
    if difference.stage == "failure":
        return "refusal", difference.what
    if difference.stage == "pieces or merges":
        if _only_length_matters(text, pieces, client, reference):
            return "merges", f"{difference.what}; but shorter, the same letters are merged correctly"
        if len(pieces) > 1 and all(client.ids(piece) == reference.ids(piece) for piece in pieces):
            return "pieces", f"each piece alone is right, so it cuts the text differently; {difference.what}"
    return difference.stage, difference.what


def ids_afresh(client: TargetClient, text: str) -> Answer:
    """Return the target's ids of a text that is the first a fresh process encodes."""
    client.fresh()
    return client.ids(text)


def _only_length_matters(text: str, pieces: Sequence[str], client: TargetClient, reference: Reference) -> bool:
    """Return whether a single piece of letters of one kind is right at half its length: no pattern counts letters."""
    kinds = {unicodedata.category(character) for character in text}
    if len(pieces) != 1 or len(kinds) != 1 or not kinds.pop().startswith("L"):
        return False
    half = text[: len(text) // 2]
    answer = client.ids(half)
    return bool(half) and answer == reference.ids(half) and isinstance(answer, list) and len(answer) < len(half)


def _confuses_pieces(pieces: Sequence[str], got: list[int], client: TargetClient, reference: Reference) -> bool:
    """Return whether the answer has the ids of these pieces in wrong places, while each piece alone is right."""
    if not 1 < len(pieces) <= _MOST_PIECES:
        return False
    known = {piece: ids for piece in pieces if isinstance(ids := reference.ids(piece), list)}
    rest = got
    for _ in pieces:
        taken = next((ids for ids in known.values() if ids and rest[: len(ids)] == ids), None)
        if taken is None:
            return False
        rest = rest[len(taken) :]
    return not rest and all(ids_afresh(client, piece) == known.get(piece) for piece in dict.fromkeys(pieces))


def _locate_in_long_text(
    text: str, pieces: Sequence[str], got: list[int], client: TargetClient, reference: Reference
) -> tuple[Stage, str]:
    """Locate the fault on a text too long to be explained: are its pieces wrong, or only the whole?"""
    by_id = reference.bytes_by_id
    data = b"".join(by_id.get(i, b"") for i in got)
    given = repair_surrogates(text).encode()
    if data != given:
        back, lost = data.decode("utf-8", "replace"), len(given) - len(data)
        if lost > _MOST_DROPPED and (given.startswith(data) or given.endswith(data)):
            return "pieces", f"{lost:,} of {len(given):,} bytes are left out"
        if back.count("\ufffd") > text.count("\ufffd"):
            at = common_prefix_length(given, data)
            return "pieces", f"in so long a text a character is cut, at byte {at:,}"
        change = rewriting(repair_surrogates(text), back)
        return "normalisation", f"in a text of this length the target {change.what if change else 'loses bytes'}"
    if (cut := _cut_by_a_wrapper(text, got, reference)) is not None:
        return "pieces", cut
    if any(client.ids(piece) != reference.ids(piece) for piece in dict.fromkeys(pieces)):
        return "merges", "a piece of it is merged differently"
    expected = reference.ids(text)
    n_alike = common_prefix_length(got, expected if isinstance(expected, list) else [])
    at = sum(len(by_id.get(i, b"")) for i in got[: n_alike + 1])
    return "pieces", f"each piece alone is right; a text of this length is cut differently, before byte {at:,}"


def _cut_by_a_wrapper(text: str, got: list[int], reference: Reference) -> str | None:
    """Return how a vendor's wrapper cuts long texts before it encodes them, if the ids are those of such parts."""
    blocks = list(range(0, len(text), WRAPPER_BLOCK))
    runs = [cut for run in _RUN.finditer(text) for cut in range(run.start() + WRAPPER_RUN, run.end(), WRAPPER_RUN)]
    of_runs = sorted({*blocks, *runs})
    for starts, what in ((blocks, f"at {WRAPPER_BLOCK:,} characters"), (of_runs, f"in runs of {WRAPPER_RUN:,}")):
        parts = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
        answers = [reference.ids(part) for part in parts]
        if [i for ids in answers if isinstance(ids, list) for i in ids] == got:
            return f"its wrapper cuts a text {what} and encodes the parts; the vocabulary itself has no such limit"
    return None
