"""Tasks of a checking worker: encode a corpus and decode every text again; compare two implementations on a text.

Every function here runs in a worker process and takes names, never objects, so that a library that crashes ends
only its worker.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice

import msgspec

import impls
from harness.check.shrink import smallest_text
from harness.data import load_corpus, load_model
from harness.data.documents import encoded, take_bytes
from harness.decoded import MISREAD, ModelDecoder, wrong_text
from harness.failures import describe, status_of
from harness.records import Counterexample, Status, Text
from harness.targets import load_tokenizer
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates

Key = tuple[int, int]
"""A text: the number of its document in the corpus, and how many of its first bytes."""


class CorpusOutcome(msgspec.Struct, kw_only=True):
    """The result of one implementation on one model and corpus."""

    status: Status
    reason: str = ""
    n_texts: int = 0
    n_bytes: int = 0
    n_tokens: int = 0
    digests: dict[Key, bytes] = msgspec.field(default_factory=dict)
    """An 8-byte digest of the ids of each text that did not fail."""
    counterexample: Counterexample | None = None
    round_trip: str = ""
    """`Model.round_trip` of the model."""


@lru_cache(maxsize=2)
def _tokenizer(implementation: str, model: str) -> impls.Tokenizer:
    return load_tokenizer(implementation, load_model(model))


def _texts(corpus: str, split: str | None, max_bytes: int, slices: Iterable[int] = ()) -> Iterator[tuple[Key, str]]:
    """Yield the documents within `max_bytes` of UTF-8, the last one cut; none is empty.

    A document in which one of the smaller `slices` ends is also yielded cut there, so that all encode what an
    implementation given less text encodes.
    """
    read = 0
    for number, document in enumerate(load_corpus(corpus, split=split).documents()):
        size = len(encoded(document))
        ends = {min(end - read, size) for end in (*slices, max_bytes) if read < end <= max_bytes}
        parts = {len(encoded(part)): part for end in sorted(ends) for part in take_bytes([document], end)}
        yield from (((number, n_bytes), part) for n_bytes, part in parts.items() if n_bytes)
        read += size
        if read >= max_bytes:
            return


def encode_corpus(
    implementation: str, model: str, corpus: str, split: str | None, max_bytes: int, slices: Iterable[int] = ()
) -> CorpusOutcome:
    """Encode every text, decode it again, and keep a digest of its ids; `slices` as in `_texts`."""
    try:
        tokenizer = _tokenizer(implementation, model)
    except impls.Missing as error:
        return CorpusOutcome(status="missing", reason=str(error))
    except impls.Unsupported as error:
        return CorpusOutcome(status="unsupported", reason=error.reason)
    except BaseException as error:  # whatever a foreign library raises while loading is a verdict
        return CorpusOutcome(status=status_of(error), reason=describe(error))
    outcome = CorpusOutcome(status="ok", round_trip=tokenizer.model.round_trip)
    decoder = ModelDecoder(tokenizer.model)
    n_lost, lost = 0, ""
    for key, text in _texts(corpus, split, max_bytes, slices):
        outcome.n_texts += 1
        outcome.n_bytes += key[1]
        try:
            ids = tokenizer.encode(text, disallowed_special=())
            outcome.digests[key] = _digest(ids)
            outcome.n_tokens += len(ids)
            back = tokenizer.decode(ids)
            wrong = wrong_text(tokenizer, decoder, text, ids, back)
        except BaseException as error:  # a Rust panic is not an Exception
            outcome.digests.pop(key, None)
            _note_failure(outcome, text, error)
            continue
        if outcome.status == "ok" and wrong:
            outcome.status, outcome.reason = "mismatch", wrong
            outcome.counterexample = _round_trip_counterexample(tokenizer, decoder, text)
        if outcome.round_trip == "lossy" and back != repair_surrogates(text):
            n_lost, lost = n_lost + 1, lost or text
    if outcome.status == "ok" and n_lost:
        outcome.reason = f"{n_lost:,} of {outcome.n_texts:,} texts do not come back"
        outcome.counterexample = _lost_counterexample(tokenizer, lost)
    return outcome


def _digest(ids: list[int]) -> bytes:
    return hashlib.blake2b(array("Q", ids).tobytes(), digest_size=8).digest()


def _note_failure(outcome: CorpusOutcome, text: str, error: BaseException) -> None:
    if outcome.status != "ok":
        return
    outcome.status, outcome.reason = status_of(error), describe(error)
    outcome.counterexample = Counterexample(Text.of(text[:10_000]), None, None, note="raised here, not shrunk")


def _round_trip_counterexample(tokenizer: impls.Tokenizer, decoder: ModelDecoder, text: str) -> Counterexample:
    def wrong(candidate: str) -> str:
        ids = tokenizer.encode(candidate, disallowed_special=())
        return wrong_text(tokenizer, decoder, candidate, ids, tokenizer.decode(ids))

    small = smallest_text(text, _safe(lambda candidate: bool(wrong(candidate))))
    reason = wrong(small)
    ids = tokenizer.encode(small, disallowed_special=())
    note = f"comes back as {tokenizer.decode(ids)!a}"
    if reason == MISREAD:
        other = decoder.reordered(ids)
        note = f"{other} comes back as {tokenizer.decode(other)!a}"
    return Counterexample(Text.of(small), None, ids, note=note)


def _lost_counterexample(tokenizer: impls.Tokenizer, text: str) -> Counterexample:
    """Return the smallest text within `text` that a lossy model does not restore, which is not a fault."""

    def back(candidate: str) -> str:
        return tokenizer.decode(tokenizer.encode(candidate, disallowed_special=()))

    small = smallest_text(text, _safe(lambda candidate: back(candidate) != repair_surrogates(candidate)))
    return Counterexample(
        Text.of(small), None, tokenizer.encode(small, disallowed_special=()), note=f"comes back as {back(small)!a}"
    )


def irregularities_of(model: str) -> tuple[str, ...]:
    """Return the model's irregularities (costly for large rank files, so computed in a worker)."""
    return load_model(model).irregularities


def has_sentencepiece_rules(model: str) -> bool:
    """Whether the model is one of SentencePiece."""
    return load_model(model).sentencepiece is not None


def differing_text(a: str, b: str, model: str, corpus: str, split: str | None, key: Key) -> Counterexample:
    """Return the smallest text found within a text of the corpus that `a` and `b` encode differently."""
    number, n_bytes = key
    documents = load_corpus(corpus, split=split).documents()
    text = next(take_bytes(islice(documents, number, None), n_bytes))
    first, second = _tokenizer(a, model), _tokenizer(b, model)

    def differs(candidate: str) -> bool:
        return _ids(first, candidate) != _ids(second, candidate)

    small = smallest_text(_smallest_part(text, _safe(differs), first.model), _safe(differs))
    return Counterexample(Text.of(small), _ids(first, small), _ids(second, small), reference=a)


def _safe(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    """Wrap `holds` to be False for a text on which an implementation fails: that would be another fault."""

    def safely(text: str) -> bool:
        try:
            return holds(text)
        except BaseException:
            return False

    return safely


def _smallest_part(text: str, differs: Callable[[str], bool], model: impls.Model) -> str:
    """Return a piece, or else a line, of `text` that differs on its own; `text` where there is none."""
    text = next(filter(differs, text.splitlines(keepends=True)), text)
    return next(filter(differs, Splitter(model.pattern).split(repair_surrogates(text))), text)


def _ids(tokenizer: impls.Tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, disallowed_special=())


def differing_piece_share(a: str, b: str, model: str, corpus: str, split: str | None, max_bytes: int) -> float | None:
    """Return the share of the corpus' pieces, weighted by occurrence, that `a` and `b` encode differently."""
    first, second = _tokenizer(a, model), _tokenizer(b, model)
    pieces: Counter[str] = Counter()
    for _, text in _texts(corpus, split, max_bytes):
        pieces.update(first.pieces(text))
    if not pieces:
        return None
    differing = sum(times for piece, times in pieces.items() if first.encode_piece(piece) != second.encode_piece(piece))
    return differing / pieces.total()
