"""What to train: rows against vocabularies trained one by one, shares, doublings, and sizes out of reach."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest
from refusals import refused
from sweeps import swept, words, write_texts

import impls
from harness.data.documents import shared_documents
from harness.evaluate.intervals import Figure
from harness.evaluate.sizes import InvalidSizes, parse_shares, parse_sizes, sample
from harness.evaluate.sweep import SweepPlan, SweepRow, sweep
from harness.evaluate.sweep_output import against
from harness.evaluate.texts import CountedText
from harness.progress import Bar
from impls import TrainingSpec


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, str]:
    return write_texts(tmp_path)


def documents_of(file: str) -> list[str]:
    from harness.data import load_corpus

    return list(load_corpus(file).documents())


def sampled(documents: list[str], share: float) -> list[str]:
    return list(sample(lambda: iter(documents), share)())


# --- one training, many sizes ----------------------------------------------------------------------------------


def test_each_size_is_what_training_to_that_size_gives(bpebench: Any, texts: dict[str, str]) -> None:
    given = ["-c", texts["train"], "--held-out", texts["held"], "--vocab-sizes", "257,270..300"]
    result = swept(bpebench, *given, "--patterns", "gpt2,none", "--width", "10")
    assert [(row["pattern"], row["vocab_size"]) for row in result["rows"]] == [
        (pattern, size) for pattern in ("gpt2", "none") for size in (257, 270, 300)
    ]
    measured = documents_of(texts["held"])
    for row in result["rows"]:
        spec = TrainingSpec(vocab_size=row["vocab_size"], pattern=row["pattern"])
        tokenizer = impls.train("priority", documents_of(texts["train"]), spec)
        assert row["n_tokens"] == sum(map(tokenizer.count, measured))
        assert row["n_bytes"] == sum(len(text.encode()) for text in measured)
        assert row["bytes_per_token"] == row["n_bytes"] / row["n_tokens"]
        low, high = row["intervals"]["bytes_per_token"]
        assert low < row["bytes_per_token"] < high
        assert row["embedding_parameters"] == 10 * row["vocab_size"]


def test_a_size_that_saves_too_little_is_named(bpebench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.evaluate.sweep.LEAST_SAVED", 0.2)
    for name, seed in (("train", 1), ("held", 2)):
        rng, of_words = random.Random(seed), random.Random("words")
        known = ["".join(of_words.choices("abcdefgh", k=of_words.choice([2, 4, 6]))) for _ in range(400)]
        rarer = [1 / (1 + i) ** 1.5 for i in range(400)]
        (tmp_path / f"{name}.txt").write_text(
            "\n\n".join(" ".join(rng.choices(known, rarer, k=60)) for _ in range(150))
        )
    given = ["-c", str(tmp_path / "train.txt"), "--held-out", str(tmp_path / "held.txt"), "--vocab-sizes"]
    (doubling,) = swept(bpebench, *given, "260..750")["doublings"]
    few, many = (swept(bpebench, *given, str(size))["rows"][0]["n_tokens"] for size in (324, 648))
    assert doubling["vocab_size"] == 324
    assert doubling["too_little"]
    assert doubling["saved"] == pytest.approx(1 - many / few)
    assert doubling["low"] < doubling["saved"] < min(doubling["high"], 0.2)
    assert swept(bpebench, *given, "300,700")["doublings"] == [doubling]
    (last,) = swept(bpebench, *given, "260,600")["doublings"]
    assert (last["vocab_size"], last["too_little"]) == (297, False)
    assert last["saved"] > 0.2
    assert swept(bpebench, *given, "260,500")["doublings"] == []


def test_sizes_out_of_reach_are_said_and_left_out(bpebench: Any, texts: dict[str, str]) -> None:
    given = ["sweep", "-c", texts["train"], "--held-out", texts["held"], "--vocab-sizes", "300,2k,4k"]
    result = swept(bpebench, *given[1:])
    assert [row["vocab_size"] for row in result["rows"]] == [300]
    (missed,) = result["unreached"]
    assert missed["sizes"] == [2000, 4000]
    model = impls.train("priority", documents_of(texts["train"]), TrainingSpec(vocab_size=4000)).model
    assert missed["largest"] == model.vocab_size < 2000
    assert "it ran out of pairs" in missed["why"]
    assert f"not reached: 2,000, 4,000 ids; the text gives only {missed['largest']:,}: " in bpebench(*given).out
    ended = bpebench(*given, "--csv")
    assert "it ran out of pairs" in ended.err
    assert bpebench(*given[:-1], "4k", "--csv").out == ended.out.splitlines(keepends=True)[0]
    none = swept(bpebench, *given[1:5], "--vocab-sizes", "4k")
    assert (none["rows"], none["doublings"]) == ([], [])


def test_shares_of_the_documents_are_nested_and_about_as_large(bpebench: Any, texts: dict[str, str]) -> None:
    documents = words(7, "abcdef", 2000)
    some, more, every = (sampled(documents, share) for share in (0.1, 0.5, 1.0))
    assert set(some) < set(more) < set(every) == set(documents)
    assert (len(some), len(more)) == (pytest.approx(200, rel=0.25), pytest.approx(1000, rel=0.1))
    (one,) = sampled(documents[:3], 1e-9)
    assert one in documents[:3]
    given = ["-c", texts["train"], "--held-out", texts["held"], "--vocab-sizes", "270", "--fractions", "25%,100%"]
    rows = swept(bpebench, *given)["rows"]
    assert [row["text_share"] for row in rows] == [0.25, 1]
    chosen = sampled(documents_of(texts["train"]), 0.25)
    assert [row["n_trained_documents"] for row in rows] == [len(chosen), 80]
    assert rows[0]["n_trained_bytes"] == sum(len(text.encode()) for text in chosen)


def test_documents_are_not_kept(monkeypatch: pytest.MonkeyPatch, hand_made: Any, tmp_path: Path) -> None:
    hand_made("a+b", alphabet="bytes").save(tmp_path / "pairs.json")
    monkeypatch.setattr("harness.evaluate.texts._BATCH_CHARACTERS", 1 << 12)

    class Document(str):
        pass

    alive: WeakSet[Document] = WeakSet()
    most = 0

    def documents() -> Iterator[str]:
        nonlocal most
        for text in words(1, "abcd", 400):
            document = Document(text)
            alive.add(document)
            most = max(most, len(alive))
            yield document

    assert sum(map(len, documents())) > 3 << 12
    text = CountedText("made up", None, documents)
    models = [str(tmp_path / "pairs.json")]
    plan = SweepPlan([257, 258], ["gpt2"], documents, text, [0.5, 1.0], models)
    assert len(sweep(plan, Bar()).rows) == 2 * 2 + 1
    assert shared_documents(documents(), documents()) == (400, 400)
    assert 1 < most < 150


# --- against published vocabularies ----------------------------------------------------------------------------


def test_published_models_are_compared(bpebench: Any, texts: dict[str, str], hand_made: Any, tmp_path: Path) -> None:
    lossy, pairs = str(tmp_path / "lossy.json"), str(tmp_path / "pairs.json")
    impls.Model(tokens=(b"[UNK]",), unknown="[UNK]", unknown_id=0, alphabet="chars").save(lossy)
    hand_made("a+b", alphabet="bytes").save(pairs)
    given = ["-c", texts["train"], "--held-out", texts["held"], "--vocab-sizes", "258..320", "--price", "3"]
    given += ["-m", pairs, "-m", lossy]
    result = swept(bpebench, *given)
    published = [row for row in result["rows"] if row["model"]]
    assert [(row["model"], row["round_trip"]) for row in published] == [(pairs, "exact"), (lossy, "lossy")]
    tokenizer = impls.load("priority", hand_made("a+b", alphabet="bytes"))
    n_tokens = sum(map(tokenizer.count, documents_of(texts["held"])))
    assert (published[0]["n_tokens"], published[0]["relative_tokens"]) == (n_tokens, 1)
    for row in result["rows"]:
        assert row["relative_tokens"] == row["n_tokens"] / n_tokens
        assert row["cost_per_megabyte"] == pytest.approx(3 / row["bytes_per_token"])
    shown = bpebench("sweep", *given).out
    assert f"{lossy} (lossy)" in shown
    largest = max(result["rows"], key=lambda row: (row["model"] is None, row["vocab_size"]))
    assert f"trained here, gpt2: 258 ids and more take fewer tokens than {pairs}" in shown
    assert f"{largest['relative_tokens']:.3f} times as many (95 % " in shown


FEWER, MORE = Figure(0.9, 0.8, 0.95), Figure(1.2, 1.1, 1.3)


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        (
            [MORE, Figure(0.97, 0.9, 1.05), FEWER, Figure(0.8, 0.7, 0.85)],
            "302 ids and more take fewer tokens than gpt2 on text: 0.900 times as many (95 % 0.800–0.950) at 302, "
            "0.800 times as many (95 % 0.700–0.850) at 303; smaller ones do not",
        ),
        ([FEWER], "300 ids take fewer tokens than gpt2 on text: 0.900 times as many (95 % 0.800–0.950) at 300"),
        ([MORE, Figure(0.97, 0.9, 1.0)], "no size here certainly takes fewer tokens than gpt2 on text: 0.970"),
        ([MORE], "no size here takes fewer tokens than gpt2 on text: 1.200 times as many (95 % 1.100–1.300)"),
        ([Figure(0.9)], "a single document does not show which size takes fewer tokens than gpt2 on text: 0.900"),
    ],
)
def test_fewer_tokens_are_claimed_only_where_the_interval_excludes_1(figures: list[Figure], message: str) -> None:
    rows = [
        SweepRow(
            pattern="gpt2", n_trained_bytes=5, held_out="text", vocab_size=300 + i,
            embedding_parameters=1, n_documents=9, n_bytes=9, n_tokens=9, round_trip="exact",
            bytes_per_token=Figure(1.0), relative_tokens=figure,
        )
        for i, figure in enumerate(figures)
    ]  # fmt: skip
    assert f"trained here, gpt2: {message}" in against(rows, "gpt2")


# --- the text measured on --------------------------------------------------------------------------------------


def test_no_document_is_both_learned_from_and_measured_on(bpebench: Any, texts: dict[str, str]) -> None:
    from harness.commands.sweep import all_documents, corpus_parts

    for names in ((texts["train"],), ("parallel/tr", "samples/tr")):
        learned, measured = (set(all_documents(part)) for part in corpus_parts(names, (), None))
        assert learned
        assert measured
        assert not learned & measured
    assert "are also in the training text" not in bpebench("sweep", "-c", texts["train"], "--vocab-sizes", "260").err
    same = bpebench("sweep", "-c", texts["train"], "--held-out", texts["train"], "--vocab-sizes", "260")
    assert f"80 of the 80 documents of {texts['train']} are also in the training text" in same.err


# --- the verb --------------------------------------------------------------------------------------------------


def test_sizes_are_numbers_or_ranges_that_double_and_shares_are_percentages() -> None:
    for text, sizes in (
        ("1k,2k,4k", [1000, 2000, 4000]),
        ("1k..5k", [1000, 2000, 4000, 5000]),
        ("32768, 1.5K", [1500, 32_768]),
        ("300..300", [300]),
    ):
        assert parse_sizes(text, 257) == sizes
    for text in ("", "k", "1k,", "1..2..3", "-1k", "1.0001k", "1e3", "9999999999", "1k...2k"):
        refused(InvalidSizes, None, parse_sizes, text, 1)
    assert parse_shares("100%,1%, 12.5 %") == [0.01, 0.125, 1]
    for text in ("", "10", "0%", "101%", "1%,", "x%", "-1%"):
        refused(InvalidSizes, None, parse_shares, text)
