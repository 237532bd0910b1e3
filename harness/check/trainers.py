"""Compare what trainers learn: every pair, by each rule that both follow, must learn the same merges in the same order.

All trainers count overlapping pairs and replace from left to right. They differ in which of several equally frequent
pairs they merge, so merges can only be compared under one declared rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import msgspec

import impls
from harness.check.agreement import Checked
from harness.check.tasks import status_and_reason
from harness.common_prefix import common_prefix_length
from harness.data import load_corpus
from harness.data.documents import encoded, take_bytes
from harness.outcome import Outcome
from harness.process.pool import run_tasks
from harness.process.session import Failed
from harness.records import FirstDifference, NotCompared, Text, TrainerAgreement, Verdict

MAX_MERGES = 256
END_OF_WORD = "</w>"
_MOST_CHARACTERS = 0x110000
_UNKNOWN = "<unk>"

RULES: Mapping[str, Mapping[str, Any]] = {
    "smallest, gpt2 order": {"ties": "smallest", "base_order": "gpt2"},
    "smallest, raw order": {"ties": "smallest"},
    "first met": {"ties": "first"},
    "shortest": {"ties": "shortest"},
    "shortest, characters": {"ties": "shortest", "alphabet": "chars", "unknown": _UNKNOWN},
    "largest": {"ties": "largest"},
    "largest, words": {
        "ties": "largest", "alphabet": "chars", "end_of_word": END_OF_WORD, "pattern": r"\S+|\s", "unknown": _UNKNOWN,
    },
}  # fmt: skip
"""Name -> fields of the `TrainingSpec`: Hugging Face's, rustbpe's, minbpe's and tiktoken's, sentencepiece's over bytes
and over characters, subword-nmt's over bytes and in its original form."""

DEFAULT_TRAINERS = (
    "naive", "wordcount", "priority", "bytelevel", "compiled", "tiktoken", "tokenizers", "rustbpe",
    "sentencepiece", "subword-nmt",
)  # fmt: skip
"""The trainers compared by default."""

Merge = tuple[bytes, bytes]
TrainerResult = Checked[TrainerAgreement]


class TrainerOutcome(msgspec.Struct):
    """The merges one trainer learned from one corpus by one rule."""

    verdict: Verdict
    merges: list[Merge] = msgspec.field(default_factory=list)
    """In the order learned, as the bytes of their parts."""


@dataclass(frozen=True, slots=True)
class TrainerPlan:
    """Which trainers learn from which corpora."""

    trainers: Sequence[str]
    corpora: Sequence[str]
    max_bytes: int
    """UTF-8 bytes of each corpus to train on."""
    split: str | None = None

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Return (trainer, rule, corpus) of every training."""
        return [(t, rule, c) for c in self.corpora for t in self.trainers for rule in RULES]


def check_trainers(plan: TrainerPlan, progress: Callable[[str], None] = lambda what: None) -> TrainerResult:
    """Train, and compare every pair; a fault is a difference, a trainer that fails, or no comparable pair at all."""
    cells = plan.cells
    tasks = [(*cell, plan.max_bytes, plan.split) for cell in cells]
    answers = run_tasks(train, tasks, lambda index: progress(" · ".join(cells[index])))
    outcomes = {
        cell: TrainerOutcome(_verdict(*cell, answer.outcome, answer.reason)) if isinstance(answer, Failed) else answer
        for cell, answer in zip(cells, answers, strict=True)
    }
    compared = [found for corpus in plan.corpora for found in _compared(plan.trainers, corpus, outcomes)]
    agreements = [found for found in compared if isinstance(found, TrainerAgreement)]
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    faults = [_describe(found) for found in agreements if found.first_difference is not None]
    faults += [
        f"{v.implementation} ({v.model}) on {v.corpus}: {v.status}: {v.reason}"
        for v in verdicts
        if v.status is not Outcome.RIGHT and not v.status.did_not_run
    ]
    if not agreements:
        faults.append("nothing was compared: no two trainers learned a merge from the same text")
    return TrainerResult(verdicts, agreements, [found for found in compared if isinstance(found, NotCompared)], faults)


def spec_of(rule: str) -> impls.TrainingSpec:
    """Return the specification of a rule, limited by merges: the base vocabulary differs in size between rules."""
    fields = {"pattern": "gpt2"} | dict(RULES[rule])
    return impls.TrainingSpec(vocab_size=_MOST_CHARACTERS + MAX_MERGES + 2, max_merges=MAX_MERGES, **fields)


def texts_of(corpus: str, max_bytes: int, split: str | None = None) -> list[str]:
    """Return the texts to train on, without those that hold the end-of-word mark: joined to a word, it is ambiguous."""
    documents = load_corpus(corpus, split=split).documents()
    return list(take_bytes((text for text in documents if END_OF_WORD not in text), max_bytes))


def train(trainer: str, rule: str, corpus: str, max_bytes: int, split: str | None) -> TrainerOutcome:
    """Train on a corpus, in a worker, which a library may crash; any exception becomes a verdict."""
    texts = texts_of(corpus, max_bytes, split)
    nothing = f"no text to learn from; documents with {END_OF_WORD} are left out"
    outcome = TrainerOutcome(_verdict(trainer, rule, corpus, Outcome.REFUSED, nothing))
    verdict = outcome.verdict
    verdict.n_texts, verdict.n_bytes = len(texts), sum(map(len, map(encoded, texts)))
    if not verdict.n_bytes:
        return outcome
    try:
        model = impls.get(trainer).train_model(texts, spec_of(rule))
        outcome.merges = [(model.tokens[left], model.tokens[right]) for left, right in model.merges]  # type: ignore[misc]
        verdict.status, verdict.reason = Outcome.RIGHT, ""
    except impls.InvalidSpec as error:  # this rule cannot learn from this corpus
        verdict.reason = str(error)
    except BaseException as error:  # whatever a foreign library raises is a verdict
        verdict.status, verdict.reason = status_and_reason(error)
    return outcome


def _verdict(trainer: str, rule: str, corpus: str, status: Outcome, reason: str) -> Verdict:
    return Verdict(implementation=trainer, model=rule, corpus=corpus, check="train", status=status, reason=reason)


def _compared(
    trainers: Sequence[str], corpus: str, outcomes: Mapping[tuple[str, str, str], TrainerOutcome]
) -> Iterator[TrainerAgreement | NotCompared]:
    followed = {
        trainer: [rule for rule in RULES if outcomes[trainer, rule, corpus].verdict.status == Outcome.RIGHT]
        for trainer in trainers
    }
    for a, b in combinations(trainers, 2):
        rules = [rule for rule in followed[a] if rule in followed[b]]
        if not rules:
            idle = next((f"{name} learned nothing from this text" for name in (a, b) if not followed[name]), "")
            yield NotCompared(a=a, b=b, model="", corpus=corpus, reason=idle or "no rule that both follow")
        for rule in rules:
            x, y = outcomes[a, rule, corpus], outcomes[b, rule, corpus]
            if not (x.merges or y.merges):
                yield NotCompared(a=a, b=b, model=rule, corpus=corpus, reason="neither learned a merge")
                continue
            yield TrainerAgreement(
                a=a, b=b, rule=rule, corpus=corpus, n_bytes=x.verdict.n_bytes, n_merges_a=len(x.merges),
                n_merges_b=len(y.merges), first_difference=_first_difference(x.merges, y.merges),
            )  # fmt: skip


def _first_difference(a: Sequence[Merge], b: Sequence[Merge]) -> FirstDifference | None:
    step = common_prefix_length(a, b)
    return None if a == b else FirstDifference(step + 1, _parts(a[step : step + 1]), _parts(b[step : step + 1]))


def _parts(merges: Sequence[Merge]) -> list[Text]:
    return [Text.of(part.decode("utf-8", "backslashreplace")) for merge in merges for part in merge]


def _describe(found: TrainerAgreement) -> str:
    first = found.first_difference
    assert first is not None
    a, b = ("+".join(f"'{part.escaped}'" for part in merge) or "the end" for merge in (first.a, first.b))
    return (
        f"{found.a} and {found.b} on {found.corpus}: they differ under one rule, '{found.rule}', "
        f"first at merge {first.step}: {a} and {b}"
    )
