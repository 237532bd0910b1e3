"""Fuzzing, end to end: planted faults are found, shrunk and classed; what must agree is found to agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path

import msgspec
import pytest
from refusals import refused

import impls
from harness.check.classes import Relation
from harness.check.fuzz import questions, side_process
from harness.check.fuzz.examine import examine
from harness.check.fuzz.findings import DifferingText, classify, record_of, shape
from harness.check.fuzz.questions import Question, same
from harness.check.fuzz.replay import CounterexampleFile, read_counterexamples, replay
from harness.check.fuzz.run import FuzzPlan, FuzzResult, FuzzRun
from harness.check.fuzz.source import TextSource, model_batch
from harness.data import DataError, load_corpus
from harness.generators.alphabets import is_newer
from harness.outcome import Outcome
from harness.process.session import Failed
from harness.records import Disagreement, encode_record

Fuzz = Callable[..., FuzzResult]
Here = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="module")
def model(saved: Callable[..., Path]) -> Path:
    documents = load_corpus("samples", max_bytes=20_000).documents()
    return saved(*documents, " zqxj" * 500, vocab_size=300, pattern="cl100k", special_tokens=("<|end|>",))


@pytest.fixture(scope="module")
def fuzz(sides_here: Here, model: Path) -> Fuzz:
    def run(*sides: str, n_texts: int = 4_000, models: bool = False, stop_after: int = 1) -> FuzzResult:
        asked = () if models else (str(model),)
        plan = FuzzPlan(list(sides), asked, seconds=None, n_texts=n_texts, corpora=("samples",), stop_after=stop_after)
        with sides_here():
            return FuzzRun(plan).run()

    return run


def text_of(record: Disagreement) -> str:
    return record.counterexample.text.text


# --- what is made ---------------------------------------------------------------------------------------------


def test_batches_are_the_same_for_the_same_seed_and_hold_every_kind_of_text_and_call(model: Path) -> None:
    loaded = impls.Model.load(model)
    one, same, other = (TextSource("model", loaded, ["real text, and more of it"], seed) for seed in (3, 3, 4))
    batches = [one.batch(k) for k in range(16)]
    assert [same.batch(k) for k in range(16)] == batches
    assert other.batch(1).texts != batches[1].texts
    assert {batch.call for batch in batches} == {"encode", "encode_batch", "encode_array", "encode_threads", "decode"}
    assert any(batch.allow_special for batch in batches)
    texts = [text for batch in batches if batch.call != "decode" for text in batch.texts]
    assert len(texts) > 16_000, "one text in thousands may be wrong"
    assert max(len(text.encode("utf-8", "replace")) for text in texts) > 65_536
    for wanted in ("<|end|>", "\u200d", "'s", "\ud800", "\u200f", "\r\n", "zqxj"):
        assert any(wanted in text for text in texts), ascii(wanted)
    assert any(is_newer(character) for text in texts for character in text)
    assert any(len(set(text)) == 1 for text in texts if len(text) >= 64)


def test_random_models_are_the_same_for_the_same_seed_and_of_every_kind() -> None:
    batches = [model_batch(7, k) for k in range(4)]
    assert batches == [model_batch(7, k) for k in range(4)]
    models = [question.model for batch in batches for question in batch if isinstance(question.model, impls.Model)]
    irregularities = " ".join(line for model in models for line in model.irregularities)
    for irregular in ("duplicate merge", "several derivations", "rank before a merge", "no derivation"):
        assert irregular in irregularities
    assert any(not model.irregularities for model in models)
    assert {model.merge_rule for model in models} == {"pairs", "concatenation"}
    assert {model.alphabet for model in models} == {"bytes", "chars"}


# --- what is found --------------------------------------------------------------------------------------------


def test_implementations_that_must_agree_are_found_to_agree(fuzz: Fuzz) -> None:
    result = fuzz("priority", "backtracking", "tiktoken", "fuzz_targets:Right", n_texts=700)
    assert (result.findings, result.n_texts) == ([], 700)
    result = fuzz("priority", "naive", "wordcount", "backtracking", "greedy", models=True, n_texts=2_000)
    assert result.findings == []
    assert {name for name, n_texts in result.n_expected_texts.items() if n_texts} == {"greedy"}
    assert min(result.n_refused_models[name] for name in ("wordcount", "backtracking")) > 0


def test_a_planted_fault_is_found_and_shrunk_and_its_model_too(kept: Disagreement, fuzz: Fuzz) -> None:
    assert text_of(kept) == "i\u0307"
    assert kept.difference == "fault"
    assert kept.stage in ("normalisation", "merges")
    assert kept.own_model["merges"] == []
    (longest,) = fuzz("priority", "fuzz_targets:LongestFirst", models=True, n_texts=12_000).findings
    assert len(longest.own_model["merges"] or longest.own_model["tokens"]) <= 3
    assert len(text_of(longest)) <= 4


def test_the_same_seed_and_number_of_texts_find_the_same(fuzz: Fuzz) -> None:
    one, two = (fuzz("priority", "greedy", n_texts=300, stop_after=2) for _ in range(2))
    assert list(map(encode_record, one.findings)) == list(map(encode_record, two.findings))
    assert (one.n_bytes, one.n_differing_texts) == (two.n_bytes, two.n_differing_texts)
    assert [record.difference for record in one.findings] == ["expected to differ"] * 2
    assert all(len(text_of(record)) <= 12 for record in one.findings)


@pytest.mark.parametrize(
    ("target", "n_texts", "call", "stage"),
    [
        ("SwallowsSpace", 80_000, "encode", None), ("SharedText", 40_000, "encode_threads", None),
        ("DropsCutCharacter", 20_000, "decode", "decode"),
    ],
)  # fmt: skip
def test_a_fault_beside_the_ids_of_one_text_is_found_with_its_call(
    fuzz: Fuzz, sides_here: Here, target: str, n_texts: int, call: str, stage: str | None
) -> None:
    (record,) = fuzz("compiled", f"fuzz_targets:{target}", n_texts=n_texts).findings
    assert record.call == call
    assert stage in (None, record.stage)
    if call == "decode":
        assert len(record.counterexample.expected or ()) == 1
        with sides_here():
            assert [one.outcome for one in replay([record])] == ["holds"]


def test_a_side_that_dies_or_hangs_fails_on_that_text_alone(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, question = "fuzz_targets:DiesOrHangs", Question(str(model), ["a", "\x00a", "b"])
    with closing(side_process.SideProcess("priority")) as reference, closing(side_process.SideProcess(spec)) as dying:
        one, died, other = dying.ask(question)
        assert [one, other] == reference.ask(Question(str(model), ["a", "b"]))
        assert died == Failed(Outcome.CRASH, "the process ended with exit status 3")
        answers = (reference.ask_one(question, "\x00a"), died)
        case = DifferingText((reference.name, dying.name), question, "\x00a", answers, "")
        found = examine(reference, dying, case, None, 60.0)
        dying.ask_one(question, "a")  # started again, with the model
        monkeypatch.setattr(side_process, "_SECONDS", 1.0)
        hung = dying.ask_one(question, "\x01")
    assert isinstance(hung, Failed)
    assert (found.text, hung.kind) == ("\x00", "timeout")
    provable = Relation("provably equal", "")
    record = record_of(found, classify(found, provable, lambda text: True), provable, {})
    assert record.difference == "failure"
    assert record.failures == {"fuzz_targets:DiesOrHangs": "crash: the process ended with exit status 3"}


def test_wrong_ids_are_not_shrunk_to_an_error(model: Path, sides_here: Here) -> None:
    names = ("priority", "fuzz_targets:RefusesShortTexts")
    with sides_here():
        one, other = map(side_process.SideProcess, names)
        question, text = Question(str(model), []), "the xylophone of the end"
        case = DifferingText(names, question, text, (one.ask_one(question, text), other.ask_one(question, text)), "")
        found = examine(one, other, case, None, 60.0)
    assert (found.failed, len(found.text), "x" in found.text) == (False, 3, True)


def test_a_unicode_version_is_to_blame_only_where_every_older_character_agrees() -> None:
    case = DifferingText(("a", "b"), Question("m", []), "x\U00011de0", (b"", b"1"), "")
    kind, asked = Relation("provably equal", ""), list[str]()

    def agree_once(text: str) -> bool:
        asked.append(text)
        return len(asked) == 1

    assert classify(case, kind, lambda text: True) == "unicode version"
    assert classify(case, kind, agree_once) == "fault"
    assert not any(map(is_newer, "".join(asked)))


def test_who_dies_does_not_agree_with_who_refuses_and_a_shape_tells_classes_not_letters() -> None:
    refused, other = (Failed(Outcome.REFUSED, "", kind) for kind in ("ValueError", "IndexError"))
    died, hung = Failed(Outcome.CRASH, ""), Failed(Outcome.TIMEOUT, "")
    assert same(refused, other)
    assert same(died, Failed(Outcome.CRASH, "in another place"))
    assert not any(same(*pair) for pair in ((died, refused), (refused, hung), (died, hung), (died, b"")))
    assert shape("abc's 12") == shape("x's 7") == "L'L N"
    assert shape("\u0c5c's") == "n'L"
    assert shape("a1a1a1a1a1a1") == shape("1b1b1b1b1b1b1b1b1b") == "long: LN"


def test_a_batch_with_too_few_answers_is_a_failure_though_each_text_alone_is_right(model: Path) -> None:
    class Loses(impls.Tokenizer):
        name = "loses"

        def encode_piece(self, piece: str) -> list[int]:
            return list(piece.encode())

        def encode_batch(self, texts: Sequence[str], *args: object, **more: object) -> list[list[int]]:
            return [self.encode_piece(text) for text in set(texts)]

    loses = Loses(impls.Model.load(model))
    answers = questions._batch(loses, Question(str(model), ["a", "b", "a"], "encode_batch"))
    assert list(map(str, answers)) == ["NotIds: 2 answers for 3 texts"] * 3
    assert questions._batch(loses, Question(str(model), ["a", "b"], "encode_batch")) != answers[:2]


def test_what_is_not_seen_again_is_reported_as_such(fuzz: Fuzz) -> None:
    result = fuzz("priority", "fuzz_targets:Forgetful", n_texts=300)
    assert [record.difference for record in result.findings] == ["not repeatable"]


def test_a_side_that_cannot_run_the_model_is_refused_with_the_reason(fuzz: Fuzz) -> None:
    refused(DataError, "refuses: only models of a certain kind", fuzz, "priority", "fuzz_targets:Refuses")


# --- what is kept ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(fuzz: Fuzz) -> Disagreement:
    (record,) = fuzz("priority", "fuzz_targets:SwapsBehindDottedI").findings
    return record


def test_a_kind_is_kept_once_even_on_ctrl_c(kept: Disagreement, model: Path, tmp_path: Path, sides_here: Here) -> None:
    for _ in range(2):
        counterexamples = CounterexampleFile(tmp_path / "kept.jsonl")
        counterexamples.add(kept)
    assert (counterexamples.n_new, counterexamples.n_known) == (0, 1)
    assert read_counterexamples(tmp_path / "kept.jsonl") == [kept]

    def interrupt(result: FuzzResult) -> None:
        if result.findings:
            raise KeyboardInterrupt

    plan = FuzzPlan(["priority", "fuzz_targets:SwapsBehindDottedI"], (str(model),), seconds=None, corpora=("samples",))
    found = CounterexampleFile(tmp_path / "interrupted.jsonl")
    with sides_here():
        result = FuzzRun(plan, found.add, interrupt).run()
    assert result.interrupted
    assert len(read_counterexamples(tmp_path / "interrupted.jsonl")) == len(result.findings) > 0


def test_replay_tells_what_holds_what_does_not_and_what_cannot_be_asked(kept: Disagreement, sides_here: Here) -> None:
    def changed(**fields: object) -> Disagreement:
        return msgspec.structs.replace(kept, **fields)

    other_ids = msgspec.structs.replace(kept.counterexample, got=[1, 2, 3])
    records = [
        kept,
        changed(b="fuzz_targets:Right"),
        changed(b="fuzz_targets:Right", holds="agrees"),
        changed(holds="agrees"),
        changed(counterexample=other_ids),
        changed(b="no_such_module:Thing"),
        changed(a="fuzz_targets:RefusesTexts", b="fuzz_targets:RefusesTexts", holds="agrees"),
    ]
    with sides_here():
        replayed = replay(records)
    assert [one.outcome for one in replayed] == [
        "holds", "does not hold", "holds", "does not hold", "does not hold", "not replayed", "not replayed",
    ]  # fmt: skip
    assert replayed[1].reason == "they agree now"
    assert replayed[6].reason.startswith("neither answers now: ValueError")
    assert "no_such_module" in replayed[5].reason
