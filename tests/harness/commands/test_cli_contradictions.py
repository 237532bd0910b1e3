"""Options of which one would win silently: refused, with one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.outcome import Outcome
from harness.records import Measurement, Pass, RecordWriter


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["encode", "a", "-m", "MODEL", "--allow-special", "--special-as-text"], "exclude each other; choose one"),
        (["encode", "a", "-m", "MODEL", "-m", "gpt2"], "-m: given 2 times"),
        (["report", "RUN", "--json", "--format", "csv"], "--json and --format csv exclude each other"),
        (["report", "RUN", "RUN"], "only --html takes several runs; name one"),
        (["train", "-c", "TEXT", "--weight", "TEXT=2", "--weight", "TEXT=3"], "has a weight already; give one"),
        (
            ["train", "--count-only", "-c", "TEXT", "--weight", "TEXT=2", "--weight", "TEXT=2"],
            "has a weight already; give one",
        ),
        (["vocab", "MODEL", "--max-bytes", "3"], "--max-bytes go with -c"),
    ],
)
def test_options_that_contradict_each_other_are_one_line(
    bpebench: Any, model_file: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    text, run = tmp_path / "text.txt", tmp_path / "run"
    text.write_text("low lower lowest")
    with RecordWriter(run) as writer:
        writer.write(
            Measurement(
                workload="encode/m/c", implementation="naive", task="encode", model="m", corpus="c",
                outcome=Outcome.RIGHT, passes=[Pass(0, False, 2, [1], [1.0], [1.0])],
            )
        )  # fmt: skip
    places = {"MODEL": str(model_file), "TEXT": str(text), "RUN": str(run)}
    for name, place in places.items():
        arguments = [part.replace(name, place) for part in arguments]
    ended = bpebench(*arguments)
    assert (ended.status, ended.out) == (2, "")
    assert said in ended.err.splitlines()[-1]


def test_one_of_them_alone_is_taken(bpebench: Any, model_file: Path) -> None:
    assert bpebench("encode", "a", "-m", str(model_file), "--special-as-text").status == 0
    assert bpebench("vocab", str(model_file), "-c", "samples/tr", "--max-bytes", "3000").status == 0
