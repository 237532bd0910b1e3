"""Fuzzing, end to end: planted faults are found, shrunk and classed; what must agree is found to agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

import impls
from harness.check.classes import Relation
from harness.check.fuzz import questions, side_process
from harness.check.fuzz.examine import examine
from harness.check.fuzz.findings import DifferingText, classify, record_of, shape
from harness.check.fuzz.questions import Question
from harness.check.fuzz.replay import CounterexampleFile, read_counterexamples, replay
from harness.check.fuzz.run import FuzzPlan, FuzzResult, FuzzRun
from harness.check.fuzz.side_process import ensure_known
from harness.check.fuzz.source import TextSource, model_batch
from harness.data import DataError, load_corpus
from harness.generators.alphabets import is_newer
from harness.outcome import Outcome
from harness.process.session import Failed
from harness.records import Disagreement, encode_record

Fuzz = Callable[..., FuzzResult]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.json"
    spec = impls.TrainingSpec(vocab_size=300, pattern="cl100k", special_tokens=("<|end|>",))
    impls.train("priority", load_corpus("samples", max_bytes=20_000).documents(), spec).model.save(path)
    return path


@pytest.fixture(scope="module")
def fuzz(sides_here: Callable[[], AbstractContextManager[None]], model: Path) -> Fuzz:
    def run(*sides: str, n_texts: int = 4_000, random_models: bool = False, **more: object) -> FuzzResult:
        plan = FuzzPlan(
            list(sides),
            () if random_models else (str(model),),
            seconds=None,
            n_texts=n_texts,
            corpora=("samples",),
            **more,  # type: ignore[arg-type]
        )
        with sides_here():
            return FuzzRun(plan).run()

    return run


def text_of(record: Disagreement) -> str:
    return record.counterexample.text.text


# --- what is made ---------------------------------------------------------------------------------------------


def test_a_batch_is_the_same_for_the_same_seed_and_no_other(model: Path) -> None:
    loaded = impls.Model.load(model)
    one, same, other = (TextSource("model", loaded, ["real text, and more of it"], seed) for seed in (3, 3, 4))
    assert [one.batch(k) for k in (0, 1, 9)] == [same.batch(k) for k in (0, 1, 9)]
    assert one.batch(1).texts != other.batch(1).texts
    assert one.batch(0).texts != other.batch(0).texts
    assert {one.batch(k).call for k in (0, 1, 5)} == {"encode", "encode_batch", "encode_array"}
    assert any(one.batch(k).allow_special for k in range(5))


def test_texts_hold_specials_newer_characters_runs_and_joined_emoji(model: Path) -> None:
    source = TextSource("model", impls.Model.load(model), ["real text"], 0)
    texts = [text for k in range(6) for text in source.batch(k).texts]
    for wanted in ("<|end|>", "\u200d", "'s", "\ud800", "\u200f", "\r\n"):
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


def test_a_shape_tells_classes_and_not_letters() -> None:
    assert shape("abc's 12") == shape("x's 7") == "L'L N"
    assert shape("\u0c5c's") == "n'L"
    assert shape("a1a1a1a1a1a1") == shape("1b1b1b1b1b1b1b1b1b") == "long: LN"


# --- what is found --------------------------------------------------------------------------------------------


def test_implementations_that_must_agree_are_found_to_agree(fuzz: Fuzz) -> None:
    result = fuzz("priority", "backtracking", "tiktoken", "fuzz_targets:Right", n_texts=700)
    assert result.findings == []
    assert result.n_texts == 700


def test_a_planted_fault_is_found_and_shrunk_and_its_model_too(kept: Disagreement) -> None:
    assert text_of(kept) == "i\u0307"
    assert kept.difference == "fault"
    assert kept.stage in ("normalisation", "merges")
    assert kept.own_model is not None
    assert kept.own_model["merges"] == []


def test_the_same_seed_and_number_of_texts_find_the_same(fuzz: Fuzz) -> None:
    one, two = (fuzz("priority", "greedy", n_texts=300, stop_after=2) for _ in range(2))
    assert list(map(encode_record, one.findings)) == list(map(encode_record, two.findings))
    assert (one.n_bytes, one.n_differing_texts) == (two.n_bytes, two.n_differing_texts)
    assert [record.difference for record in one.findings] == ["expected to differ"] * 2
    assert all(len(text_of(record)) <= 12 for record in one.findings)


def test_another_unicode_version_is_classed_as_such(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    spec = impls.TrainingSpec(vocab_size=262, pattern="gpt2")
    impls.train("priority", ["'s", "'s", "12", "12", ".a", ".a", "a1"], spec).model.save(path)
    sides = ["priority", "fuzz_targets:KnowsNewLetters"]
    result = FuzzRun(FuzzPlan(sides, (str(path),), seconds=None, n_texts=10_000, corpora=(), stop_after=1)).run()
    (record,) = result.findings
    assert record.difference == "unicode version"
    assert any(map(is_newer, text_of(record)))
    assert len(text_of(record)) <= 4


def test_a_side_that_dies_fails_on_the_text_that_kills_it_and_answers_the_others(model: Path) -> None:
    spec = "fuzz_targets:DiesOfNul"
    with side_process.SideProcess("priority") as reference, side_process.SideProcess(spec) as dying:
        question = Question(str(model), ["a", "\x00a", "b"])
        one, died, other = dying.ask(question)
        assert [one, other] == reference.ask(Question(str(model), ["a", "b"]))
        assert died == Failed(Outcome.CRASH, "the process ended with exit status 3")
        answers = (reference.ask_one(question, "\x00a"), died)
        case = DifferingText((reference.name, dying.name), question, "\x00a", answers, "")
        provable = Relation("provably equal", "")
        found = examine(reference, dying, case, None, 60.0)
    assert found.text == "\x00"
    record = record_of(found, classify(found, provable, lambda text: True), provable, {})
    assert record.difference == "failure"
    assert record.failures == {"fuzz_targets:DiesOfNul": "crash: the process ended with exit status 3"}


def test_wrong_ids_are_not_shrunk_to_an_error(
    model: Path, sides_here: Callable[[], AbstractContextManager[None]]
) -> None:
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


def test_a_side_that_hangs_is_ended(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_process, "_SECONDS_TO_ANSWER", 1.0)
    with side_process.SideProcess("fuzz_targets:Hangs") as side:
        answer = side.ask_one(Question(str(model), []), "\x00")
    assert isinstance(answer, Failed)
    assert answer.kind == "timeout"


def test_a_side_that_dies_or_hangs_does_not_agree_with_one_that_refuses() -> None:
    refused, other = (Failed(Outcome.REFUSED, "", kind) for kind in ("ValueError", "IndexError"))
    died, hung = Failed(Outcome.CRASH, ""), Failed(Outcome.TIMEOUT, "")
    assert questions.same(refused, other)
    assert questions.same(died, Failed(Outcome.CRASH, "in another place"))
    assert not any(questions.same(*pair) for pair in ((died, refused), (refused, hung), (died, hung), (died, b"")))


def test_a_batch_with_too_few_answers_is_a_failure_though_each_text_alone_is_right(model: Path) -> None:
    class Loses(impls.Tokenizer):
        name = "loses"

        def encode_piece(self, piece: str) -> list[int]:
            return list(piece.encode())

        def encode_batch(self, texts: Sequence[str], *args: object, **more: object) -> list[list[int]]:
            return [self.encode_piece(text) for text in set(texts)]

    loses = Loses(impls.Model.load(model))
    answers = questions._batch(loses, Question(str(model), ["a", "b", "a"], "encode_batch"))
    assert list(map(str, answers)) == ["batch: 2 answers for 3 texts"] * 3
    assert questions._batch(loses, Question(str(model), ["a", "b"], "encode_batch")) != answers[:2]


def test_what_is_not_seen_again_is_reported_as_such(fuzz: Fuzz) -> None:
    result = fuzz("priority", "fuzz_targets:Forgetful", n_texts=300)
    assert [record.difference for record in result.findings] == ["not repeatable"]


def test_random_models_tell_replay_from_the_rest_by_two_merges(fuzz: Fuzz) -> None:
    def n_merges(record: Disagreement) -> int:
        assert record.own_model is not None
        return len(record.own_model["merges"] or record.own_model["tokens"])

    result = fuzz("priority", "fuzz_targets:Replays", random_models=True, n_texts=12_000, stop_after=3)
    smallest = min(result.findings, key=n_merges)  # some need more merges: none of them can be left out
    assert n_merges(smallest) <= 3
    assert len(text_of(smallest)) <= 4


def test_on_random_models_own_implementations_agree_or_refuse(fuzz: Fuzz) -> None:
    result = fuzz("priority", "naive", "wordcount", "backtracking", "greedy", random_models=True, n_texts=2_000)
    assert result.findings == []
    assert {name for name, n_texts in result.n_expected_texts.items() if n_texts} == {"greedy"}
    assert min(result.n_refused_models[name] for name in ("wordcount", "backtracking")) > 0
    (record,) = fuzz("priority", "greedy", random_models=True, n_texts=6_000, expected=True, stop_after=1).findings
    assert record.difference == "expected to differ"


def test_ctrl_c_keeps_what_was_found(model: Path, tmp_path: Path) -> None:
    counterexamples = CounterexampleFile(tmp_path / "kept.jsonl")

    def interrupt(result: FuzzResult) -> None:
        if result.findings:
            raise KeyboardInterrupt

    sides = ["priority", "fuzz_targets:SwapsBehindDottedI"]
    result = FuzzRun(
        FuzzPlan(sides, (str(model),), seconds=None, n_texts=10**9, corpora=()), counterexamples.add, interrupt
    ).run()
    assert result.interrupted
    assert len(read_counterexamples(tmp_path / "kept.jsonl")) == len(result.findings) > 0


def test_a_side_that_cannot_run_the_model_is_refused_with_the_reason(fuzz: Fuzz) -> None:
    with pytest.raises(DataError, match="refuses: only models of a certain kind"):
        fuzz("priority", "fuzz_targets:Refuses")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(impls.UnknownName, match=r"unknown implementation 'nobody@1\.0'"):
        ensure_known("nobody@1.0")


# --- what is kept ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(fuzz: Fuzz) -> Disagreement:
    (record,) = fuzz("priority", "fuzz_targets:SwapsBehindDottedI", stop_after=1).findings
    return record


def test_a_kind_of_difference_is_kept_once(kept: Disagreement, tmp_path: Path) -> None:
    for _ in range(2):
        counterexamples = CounterexampleFile(tmp_path / "kept.jsonl")
        counterexamples.add(kept)
    assert (counterexamples.n_new, counterexamples.n_known) == (0, 1)
    assert read_counterexamples(tmp_path / "kept.jsonl") == [kept]


def test_replay_tells_what_holds_what_does_not_and_what_cannot_be_asked(kept: Disagreement) -> None:
    import msgspec

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
    replayed = replay(records)
    assert [one.outcome for one in replayed] == [
        "holds", "does not hold", "holds", "does not hold", "does not hold", "not replayed",
        "not replayed",
    ]  # fmt: skip
    assert replayed[1].reason == "they agree now"
    assert replayed[6].reason.startswith("neither answers now: ValueError")
    assert "no_such_module" in replayed[5].reason
