"""Tasks of a checking worker: encode a corpus and decode it again; compare two implementations on a text.

Every function here runs in a worker process and takes names, never objects, so that a library that crashes ends only
its worker.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

import msgspec

import impls
from harness.data import load_corpus
from harness.data.documents import encoded, take_bytes
from harness.failures import describe, loading_status, status_of
from harness.judge import MISREAD, Encoded, judge, reordered
from harness.minimize import smallest_text
from harness.outcome import Outcome
from harness.records import Counterexample, Text, Verdict
from harness.targets import PUBLISHED
from harness.targets.published import load_column
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates

_MISPLACED = "its library places the tokens elsewhere in the text than our reading of the file"
_OF_OFFSETS = "priority"
"""The implementation whose offsets are compared: they are computed from its ids as from those of any other."""
Key = tuple[int, int]
"""Identifies a text: the index of its document in the corpus, and how many of its first bytes."""


class CorpusOutcome(msgspec.Struct):
    """The result of one implementation on one model and corpus."""

    verdict: Verdict
    digests: dict[Key, bytes] = msgspec.field(default_factory=dict)
    """An 8-byte digest of the ids of each text that did not fail."""


_tokenizer = lru_cache(maxsize=2)(load_column)


def _texts(corpus: str, split: str | None, max_bytes: int) -> Iterator[tuple[Key, str]]:
    """Yield the non-empty documents within `max_bytes` of UTF-8, the last one truncated."""
    for number, text in enumerate(take_bytes(load_corpus(corpus, split=split).documents(), max_bytes)):
        if text:
            yield (number, len(encoded(text))), text


def encode_corpus(implementation: str, model: str, corpus: str, split: str | None, max_bytes: int) -> CorpusOutcome:
    """Encode every text, decode it again, and keep a digest of its ids."""
    verdict = Verdict(implementation=implementation, model=model, corpus=corpus, check="load", status=Outcome.RIGHT)
    outcome = CorpusOutcome(verdict)
    try:
        tokenizer = _tokenizer(implementation, model)
    except BaseException as error:  # whatever a foreign library raises while loading is a verdict
        verdict.status = loading_status(error)
        reason = error.reason if isinstance(error, impls.Unsupported) else str(error)
        verdict.reason = reason if verdict.status.did_not_run else describe(error)
        return outcome
    verdict.round_trip = tokenizer.model.round_trip
    lost: list[str] = []
    for key, text in _texts(corpus, split, max_bytes):
        verdict.check = "round-trip"
        verdict.n_texts += 1
        verdict.n_bytes += key[1]
        try:
            answer = _answer(tokenizer, text)
            wrong, _ = _wrong(answer, tokenizer, model)
            outcome.digests[key] = hashlib.blake2b(array("Q", answer.ids).tobytes(), digest_size=8).digest()
        except BaseException as error:  # a Rust panic is not an Exception
            if verdict.status == Outcome.RIGHT:
                verdict.status, verdict.reason = status_of(error), describe(error)
                shown = Text.of(text[:10_000])
                verdict.counterexample = Counterexample(shown, None, None, note="raised here, not shrunk")
            continue
        if verdict.status == Outcome.RIGHT and wrong:
            verdict.status, verdict.reason = Outcome.MISMATCH, wrong
            verdict.counterexample = _counterexample(
                tokenizer, text, lambda answer: _wrong(answer, tokenizer, model)[1]
            )
        if verdict.round_trip == "lossy" and _lost(answer):
            lost.append(text)
    if verdict.status == Outcome.RIGHT and lost:
        verdict.reason = f"{len(lost):,} of {verdict.n_texts:,} texts are not restored"
        verdict.counterexample = _counterexample(tokenizer, lost[0], _lost)
    return outcome


def _answer(tokenizer: impls.Tokenizer, text: str) -> Encoded:
    return Encoded.by(tokenizer, text, _ids(tokenizer, text))


def _lost(answer: Encoded) -> str:
    """Say to what else a text decodes, which is not a fault of a lossy model; "" if it is restored."""
    return "" if answer.back == repair_surrogates(answer.text) else f"decodes to {answer.back!a}"


def _wrong(answer: Encoded, tokenizer: impls.Tokenizer, model: str) -> tuple[str, str]:
    """Say what is wrong with a round trip, or with our offsets of a file, and how it shows; "" if nothing is."""
    judgement = judge([answer], None, tokenizer.model, exact=False)
    if judgement.outcome is Outcome.MISMATCH:
        if judgement.reason == MISREAD:
            return MISREAD, f"{reordered(tokenizer.model, answer.ids)} decodes to {answer.other!a}"
        return judgement.reason, f"decodes to {answer.back!a}"
    if tokenizer.name == PUBLISHED:
        theirs, ours = _spans(tokenizer, model, answer.text)
        if theirs != ours:
            return _MISPLACED, f"offsets {theirs}; as we read the file {ours}"
    return "", ""


def _spans(as_published: impls.Tokenizer, model: str, text: str) -> tuple[list[list[int]], list[list[int]]]:
    """Return the offsets of tokens by the file's library and by ours; both empty where one has none, or ids differ,
    which is another fault."""
    readers = as_published, _tokenizer(_OF_OFFSETS, model)
    try:
        both = [reader.encode_with_offsets(text, disallowed_special=()) for reader in readers]
    except impls.BPEError:
        return [], []
    (ids, theirs), (our_ids, ours) = both
    return (theirs.tolist(), ours.tolist()) if ids == our_ids else ([], [])


def _counterexample(tokenizer: impls.Tokenizer, text: str, fault_of: Callable[[Encoded], str]) -> Counterexample:
    """Return the smallest text within `text` whose answer has a fault, with its ids and how the fault shows."""
    small = _smallest(text, tokenizer.model, lambda candidate: bool(fault_of(_answer(tokenizer, candidate))))
    answer = _answer(tokenizer, small)
    return Counterexample(Text.of(small), None, answer.ids, note=fault_of(answer))


def differing_text(a: str, b: str, model: str, corpus: str, split: str | None, key: Key) -> Counterexample:
    """Return the smallest text found within a text of the corpus that `a` and `b` encode differently."""
    number, n_bytes = key
    text = next(take_bytes(islice(load_corpus(corpus, split=split).documents(), number, None), n_bytes))
    first, second = _tokenizer(a, model), _tokenizer(b, model)
    small = _smallest(text, first.model, lambda candidate: _ids(first, candidate) != _ids(second, candidate))
    return Counterexample(Text.of(small), _ids(first, small), _ids(second, small), reference=a)


def _smallest(text: str, model: impls.Model, differs: Callable[[str], bool]) -> str:
    """Return the smallest text found within `text` that differs; lines and pieces are tried first.

    A text on which an implementation fails does not count: that would be another fault.
    """

    def safely(candidate: str) -> bool:
        try:
            return differs(candidate)
        except BaseException:
            return False

    text = next(filter(safely, text.splitlines(keepends=True)), text)
    text = next(filter(safely, Splitter(model.pattern).split(repair_surrogates(text))), text)
    return smallest_text(text, safely)


def _ids(tokenizer: impls.Tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, disallowed_special=())
