"""What a tokenizer prints goes to standard error; standard output is one document."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import impls

_PRINTS = """
import os
import impls
print("imported")

class Prints:
    def __init__(self, model):
        os.write(1, b"made\\n")
        self.inner = impls.load("priority", model)

    def encode(self, text):
        print("asked")
        return self.inner.encode(text)

    def decode(self, ids):
        os.write(1, b"decoded\\n")
        return self.inner.decode(ids)
"""
_POINT = "[bpebench.implementations]\nprints = prints:Prints\n"


_ASK = """
import sys
from harness.cli import main

for verb in ("explain priority prints.py:Prints abc", "encode -e prints --pieces abc", "decode -e prints 97"):
    sys.argv = ["bpebench", *verb.split(), "-m", "m.json", "--json"]
    try:
        main()
    except SystemExit:
        print("--- end ---", flush=True)
        print("--- end ---", file=sys.stderr, flush=True)
"""


def test_what_a_tokenizer_prints_is_no_part_of_the_output(tmp_path: Path) -> None:
    (tmp_path / "prints.py").write_text(_PRINTS)
    (tmp_path / "prints-1.dist-info").mkdir()
    (tmp_path / "prints-1.dist-info" / "entry_points.txt").write_text(_POINT)
    (tmp_path / "prints-1.dist-info" / "METADATA").write_text("Name: prints\nVersion: 1\n")
    impls.train("priority", ["abc abc"], impls.TrainingSpec(vocab_size=258)).model.save(tmp_path / "m.json")
    done = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, text=True, cwd=tmp_path)
    outputs, errors = (stream.split("--- end ---\n")[:-1] for stream in (done.stdout, done.stderr))
    assert [isinstance(json.loads(output), dict) for output in outputs] == [True] * 3
    assert all("made" in error for error in errors)
    assert "imported" in errors[0]
