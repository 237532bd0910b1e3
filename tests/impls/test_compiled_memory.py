"""Safety: the checked build, in which every access is compared with what may be reached, finds none outside."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = """
import random, sys
import impls
from impls.compiled import Compiled
from impls.compiled.native import faults
from impls.priority import Priority

rng = random.Random(3)
spec = impls.TrainingSpec(vocab_size=330, pattern=sys.argv[1])
model = Priority.train_model(["the cat's hat  sat; kedi üstünde 日本語日本語 12345\\n\\n x"] * 3, spec)
fast, reference = Compiled(model), Priority(model)
kinds = ["ab", "the cat's hat ", " \\n\\t", "0123", "日本語テキ", "éüſK", "a'LL", "\\U0001f389\\u0301", "!?-", "абвГ"]

def text():
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.choice(kinds)
        parts.append("".join(rng.choice(kind) for _ in range(rng.choice([1, 2, 5, 17, 40, 70]))))
    return "".join(parts)

for round in range(20):
    texts = [text() for _ in range(rng.randrange(1, 5))] + (["ab" * 900 + "日" * 500] if round == 7 else [])
    expected = [reference.encode(each) for each in texts]
    assert [fast.encode(each) for each in texts] == expected
    assert [fast.encode_array(each).tolist() for each in texts] == expected
    assert [fast.count(each) for each in texts] == list(map(len, expected))
    assert fast.encode_batch(texts, threads=1) == expected
    assert fast.encode_ragged(texts, threads=1)[0].tolist() == sum(expected, [])
    assert [fast.decode(ids) for ids in expected] == texts
    assert [fast.encode_ordinary(each) for each in texts] == expected
assert faults()[0] == 0, faults()
from impls.compiled.layout import KEY_MASKS
for worker in (fast._own, *fast._pool._free):
    worker.context.slots[KEY_MASKS >> 3] += 1 << 40
fast.encode("the cat")
assert faults()[0] > 0, "a wild address went unnoticed"
print("checked")
"""


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )


def test_no_access_lies_outside_what_may_be_reached() -> None:
    for pattern, border in (("cl100k", "fast"), ("o200k", "plain"), ("gpt2", "fast"), ("turkish", "fast")):
        done = run(FUZZ, pattern, BPEBENCH_COMPILED_BUILD="checked", BPEBENCH_COMPILED_BORDER=border)
        assert done.stdout == "checked\n", (pattern, border, done.stderr[-2000:])


USE = """
import sys
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
assert impls.load("compiled", model).encode("abc") == [256, 99]
assert "numba" not in sys.modules
print("done")
"""


def test_kernels_are_loaded_from_the_cache_without_numba_and_without_a_word() -> None:
    assert run(USE).stdout == "done\n"
    again = run(USE)
    assert (again.stdout, again.stderr) == ("done\n", "")


FORK = """
import os
import impls
from impls.compiled.layout import BUSY
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
slots = tokenizer._own.context.slots
slots[BUSY >> 3] = 1
assert tokenizer.encode("abc") == [256, 99]
child = os.fork()
if child == 0:
    os._exit(0 if slots[BUSY >> 3] == 0 and tokenizer.encode("abc") == [256, 99] else 1)
print(os.waitpid(child, 0)[1], slots[BUSY >> 3])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_finds_no_context_in_use() -> None:
    assert run(FORK).stdout == "0 1\n"


def test_a_damaged_cache_entry_is_not_used(tmp_path: Path) -> None:
    from impls.compiled.storage import read_checked, write_checked

    path = tmp_path / "folder" / "entry"
    assert read_checked(path) is None
    assert write_checked(path, b"content")
    assert read_checked(path) == b"content"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert read_checked(path) is None


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    from impls.compiled.storage import write_checked

    (tmp_path / "file").touch()
    assert not write_checked(tmp_path / "file" / "entry", b"content")


def test_importing_the_suite_imports_neither_numba_nor_llvmlite() -> None:
    done = run("import sys, impls; impls.names(); print('numba' in sys.modules, 'llvmlite' in sys.modules)")
    assert done.stdout == "False False\n"
