"""A made-up run with a bit of everything, and a hostile one: what the page and its charts are tested on."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import browser, open_page
from command_line import bpebench
from records_by_hand import pair, timed, weighed

from harness.outcome import Outcome
from harness.records import (
    MACHINE_FILE,
    AnyRecord,
    Compression,
    Counterexample,
    FirstDifference,
    Measurement,
    Pass,
    RecordWriter,
    Text,
    Trained,
    TrainerAgreement,
    Verdict,
)
from harness.report.page.runs import render_page

__all__ = ["bpebench", "browser", "open_page"]

MODELS = {"turkish-10k": 10_000, "o200k_base": 200_000, "cl100k_base": 100_256, "r50k_base": 50_257}
EXACT = ["naive", "wordcount", "priority", "bytelevel", "backtracking", "tiktoken", "tokenizers", "sentencepiece"]
MB_PER_SECOND = {
    "naive": 0.03, "greedy": 1.9, "wordcount": 0.4, "priority": 0.9, "bytelevel": 0.7, "backtracking": 1.3,
    "tiktoken": 11.8, "tokenizers": 4.6, "sentencepiece": 2.2, "fastokens": 14.1, "gigatoken": 95.0,
    "kitoken": 11.85, "rs-bpe": 11.9,
}  # fmt: skip
HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>\x1b[31m\u202e\ud800"
MACHINE = {
    "command": "bpebench run --profile default --out results/made-up",
    "profile": "default",
    "cpu": "Example CPU @ 3.00 GHz",
    "cores": 2,
    "memory_bytes": 8_000_000_000,
    "packages": {"tiktoken": "0.14.0", "tokenizers": "0.23.3"},
    "unicode": {"tiktoken": "16", "tokenizers": "16"},
    "warnings": ["the load was 1.2 before the run; stop other work and run again"],
}


def _compression() -> Iterator[AnyRecord]:
    per_token = {"turkish-10k": 4.21, "o200k_base": 3.64, "cl100k_base": 2.67, "r50k_base": 2.02}
    for corpus, n_bytes in (("turkish-paragraph", 1042), ("turkish/held-out", 705_112), ("english", 500_000)):
        for model, reach in per_token.items():
            yield weighed(model, int(n_bytes / reach), corpus, n_bytes, vocab_size=MODELS[model])
        missing = {"n_texts": 0, "status": Outcome.MISSING, "reason": "unavailable offline"}
        yield weighed("hf:Trendyol/Trendyol-LLM", 0, corpus, 0, **missing)


def _agreements() -> Iterator[AnyRecord]:
    names = [*EXACT[:5], "greedy", *EXACT[5:7]]
    for model in ("cl100k_base", "turkish-10k"):
        for name in [*names, "sentencepiece"]:
            refused = name == "sentencepiece" and model == "cl100k_base"
            more: dict[str, Any] = {"check": "round-trip", "status": Outcome.RIGHT, "n_texts": 240, "n_bytes": 51_000}
            if refused:
                reason = "needs a model it can express; pattern of two stages"
                more = {"check": "load", "status": Outcome.REFUSED, "reason": reason}
            yield Verdict(implementation=name, model=model, corpus="samples", **more)
        for b in names:
            for a in names[: names.index(b)]:
                example = Counterexample(Text.of("aab"), [64, 370], [5418, 65], reference=a)
                if "greedy" in (a, b):
                    share = {"differing_piece_share": 0.0123, "counterexample": example}
                    yield pair(a, b, 31, "expected to differ", model=model, **share)
                else:
                    is_conditional = {a, b} & {"tiktoken", "tokenizers"}
                    yield pair(a, b, 0, "equal under conditions" if is_conditional else "provably equal", model=model)


def _measurements(rng: random.Random) -> Iterator[AnyRecord]:
    workloads = [
        ("encode", "encode/cl100k_base/turkish", "cl100k_base", "turkish", 1, 1.0),
        ("encode", "encode/cl100k_base/english", "cl100k_base", "english", 1, 1.6),
        ("encode", "encode/o200k_base/turkish", "o200k_base", "turkish", 1, 0.8),
        ("encode", "encode/turkish-10k/turkish", "turkish-10k", "turkish", 1, 0.9),
        ("encode-array", "encode-array/cl100k_base/turkish", "cl100k_base", "turkish", 1, 1.1),
        ("encode-batch", "encode-batch-1/cl100k_base/turkish", "cl100k_base", "turkish", 1, 1.0),
        ("encode-batch", "encode-batch-2/cl100k_base/turkish", "cl100k_base", "turkish", 2, 1.7),
        ("encode", "short/cl100k_base/turkish", "cl100k_base", "turkish", 1, 0.6),
        ("decode", "decode/cl100k_base/turkish", "cl100k_base", "turkish", 1, 5.0),
        ("load", "load/cl100k_base", "cl100k_base", "", 1, 1.0),
        ("train", "train/gpt2-4000/turkish", "gpt2-4000", "turkish", 1, 0.4),
    ]
    for task, workload, model, corpus, threads, factor in workloads:
        for name, speed in MB_PER_SECOND.items():
            status, reason, example = "right", "", None
            if name == "rs-bpe":
                status, reason = "missing", "the package 'rs_bpe' is not installed; pip install rs_bpe"
            elif name == "fastokens" and task == "encode-array":
                status, reason = "mismatch", "ids differ from those of tiktoken at token 17"
                example = Counterexample(
                    Text.of("12½34"), [717, 27154, 1958], [717, 27154, 1958, 0], reference="tiktoken"
                )
            elif name == "tiktoken" and task == "train":
                status, reason = "refused", "does not train"
            elif name == "naive" and task == "decode":
                status, reason = "panic", "PanicException: index out of bounds"
            n_bytes = 20_000 if name == "naive" else 400_000
            n_calls = 8000 if workload.startswith("short") else 1
            more = {"task": task, "model": model, "corpus": corpus, "threads": threads, "reason": reason}
            if status != "right":
                yield from timed(name, [[]], workload, status, counterexample=example, **more)
                continue
            for copy in (0, 1) if name == "tiktoken" else (0,):
                for number in range(3):
                    seconds = n_bytes / (speed * factor * 1e6) * rng.gauss(1, 0.01)
                    times = [seconds * rng.gauss(1, 0.008) for _ in range(5)]
                    memory = int(rng.uniform(3e6, 2e8))
                    yield Measurement(
                        workload=workload, implementation=name, copy=copy, outcome=Outcome.RIGHT, opening=number,
                        passes=[Pass(i, False, n_bytes, [n_calls], [t], [t]) for i, t in enumerate(times)],
                        peak_memory_bytes=memory, n_calls=n_calls, n_tokens=n_bytes // 3, exact=name != "greedy",
                        **more,
                    )  # fmt: skip


def _growth(rng: random.Random) -> Iterator[AnyRecord]:
    for family in ("letters", "spaces"):
        for name, exponent in (("naive", 2.0), ("priority", 1.08), ("tiktoken", 1.0), ("tokenizers", 1.3)):
            for size in (1024 << step for step in range(11)):
                seconds = 1e-8 / MB_PER_SECOND[name] * size**exponent * rng.gauss(1, 0.03)
                yield Measurement(
                    workload=f"scale/cl100k_base/gen/{family}:{size}", implementation=name, task="encode", state="cold",
                    model="cl100k_base", corpus=f"gen/{family}:{size}", round_trip="exact",
                    outcome=Outcome.TIMEOUT if seconds > 3 else Outcome.RIGHT,
                    reason="did not end within 3 s" if seconds > 3 else "",
                    passes=[Pass(0, False, size, [1], [seconds], [seconds])] if seconds <= 3 else [],
                )  # fmt: skip
                if seconds > 3:
                    break


def trainer_pair(a: str, b: str, step: int | None = None, text: str = "v\n") -> TrainerAgreement:
    """Two trainers that agree by one rule, or that part at `step`."""
    first = (
        None if step is None else FirstDifference(step, [Text.of(" b"), Text.of("ir")], [Text.of(" b"), Text.of("v\n")])
    )
    return TrainerAgreement(a, b, "first met", "turkish", 50_000, 256, 256, first)


def _trainers() -> Iterator[AnyRecord]:
    for name, rule in (("priority", "first met"), ("tiktoken", "first met"), ("sentencepiece", "shortest")):
        yield Verdict(implementation=name, model=rule, corpus="turkish", check="train", status=Outcome.RIGHT, n_texts=9)
    where: dict[str, Any] = {"model": "first met", "corpus": "turkish", "check": "train"}
    yield Verdict(implementation="rustbpe", status=Outcome.MISSING, reason="no", **where)
    yield trainer_pair("priority", "tiktoken")
    yield trainer_pair("tiktoken", "sentencepiece", 27)


def synthetic_records(seed: int = 3) -> list[AnyRecord]:
    """Records as a `default` run would leave them; the same ones each time."""
    counts = [int(90_000 / (1 + i) ** 0.9) for i in range(9_744)]
    trained = Trained(
        model="turkish-10k", implementation="priority", corpus="turkish", vocab_size=10_000, n_merges=9_744,
        n_bytes=6_300_000, seconds=9.31, digest="0" * 64, merge_counts=counts,
        first_tokens=[Text.of(token) for token in ("ar", " k", "in", "er", "ı\n", "en", " b")],
    )  # fmt: skip
    return [
        *_compression(),
        *_agreements(),
        *_measurements(random.Random(seed)),
        *_growth(random.Random(5)),
        trained,
        *_trainers(),
    ]


def hostile_records() -> list[AnyRecord]:
    """Records whose every free text tries to break out of where it is shown."""
    return [
        Trained(
            model=HOSTILE[:-1], implementation="priority", corpus="turkish", vocab_size=300,
            n_merges=1, n_bytes=10, seconds=0.1, digest="", merge_counts=[3], first_tokens=[Text.of(HOSTILE)],
        ),
        trainer_pair(HOSTILE[:-1], "b", 1, HOSTILE),
        Verdict(
            implementation=HOSTILE[:-1], model="r", corpus=HOSTILE[:-1], check="train", status=Outcome.CRASH,
            reason=HOSTILE[:-1],
        ),
        Verdict(
            implementation="</td><script>window.hacked=3</script>", model="m|`*_", corpus="c", check="load",
            status=Outcome.CRASH, reason=HOSTILE[:-1], counterexample=Counterexample(Text.of(HOSTILE), None, [1]),
        ),
        Measurement(
            workload="</script><script>window.hacked=4</script>", implementation="\"'><svg onload=window.hacked=5>",
            task="encode", model="m", corpus="c", outcome=Outcome.RIGHT,
            passes=[Pass(0, False, 1000, [1], [0.1], [0.1])],
        ),
        Measurement(
            workload="</script><script>window.hacked=4</script>", implementation="javascript:alert(1)", task="encode",
            model="m", corpus="c", outcome=Outcome.CRASH, reason="<!--<script>window.hacked=6</script>-->",
        ),
        Compression(
            model="<b>bold</b>", corpus="turkish", implementation="x", n_texts=1, n_bytes=10, n_characters=10,
            n_words=1, n_tokens=5, vocab_size=300,
        ),
    ]  # fmt: skip


def write_run(folder: Path, records: list[AnyRecord], **facts: Any) -> Path:
    """A run's folder holding `records` and a machine."""
    with RecordWriter(folder) as writer:
        writer.write(*records)
    (folder / MACHINE_FILE).write_text(json.dumps(MACHINE | facts))
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "made-up", synthetic_records())


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "hostile", hostile_records())


@pytest.fixture(scope="session")
def page_html(run_folder: Path) -> str:
    return render_page([run_folder])


@pytest.fixture(scope="session")
def several_html(run_folder: Path, hostile_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two runs of one machine, the later with other libraries, and the hostile one."""
    facts = {"date": "2026-02-02", "packages": {"tiktoken": "0.15.0", "tokenizers": "0.23.3"}}
    later = write_run(tmp_path_factory.mktemp("runs") / "later", synthetic_records(seed=4), **facts)
    return render_page([run_folder, hostile_folder, later])


@pytest.fixture(scope="session")
def hostile_html(hostile_folder: Path) -> str:
    return render_page([hostile_folder])


@pytest.fixture(scope="session")
def hostile_text() -> str:
    return HOSTILE
