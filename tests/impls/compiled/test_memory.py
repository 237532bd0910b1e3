"""Memory safety: the checked build, which checks every access against the declared regions, finds none outside."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from child import run
from refusals import refused

from impls import TrainingSpec
from impls.compiled import Compiled
from impls.compiled.codegen.build import is_checked
from impls.compiled.codegen.native import native
from impls.compiled.cpython import plain
from impls.compiled.layout import MOST_TEXT_BYTES, NO_MEMORY
from impls.core.errors import Unsupported
from impls.core.model.model import Model
from impls.core.text.patterns import NAMED
from impls.priority import Priority

EVERY_WAY = ("cl100k", "o200k", "gpt2", "turkish", r"\p{N}{1,3}|\P{N}+", r"a++ab|\S+|\s+")
"""Patterns of every splitter; the last two are the first of two stages, and `regex` runs the last."""
KINDS = ["ab", "the cat's hat ", " \n\t", "0123", "日本語テキ", "éüſK", "a'LL", "\U0001f389\u0301", "!?-", "абвГ"]


@pytest.mark.parametrize("pattern", EVERY_WAY)
def test_every_way_reads_no_more_than_its_text(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if pattern == "o200k":
        monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
    stages = (pattern, NAMED["gpt2"][0]) if "p{N}" in pattern else (pattern, r"\S+|\s+") if "++" in pattern else ()
    spec = TrainingSpec(vocab_size=330, pattern="cl100k" if stages else pattern)
    model = Priority.train_model(["the cat's hat  sat; kedi üstünde 日本語日本語 12345\n\n x"] * 3, spec)
    model = model.with_(pattern=stages) if stages else model
    fast, reference, rng = Compiled(model), Priority(model), random.Random(3)

    def text() -> str:
        some = rng.choices(KINDS, k=rng.randrange(1, 12))
        return "".join("".join(rng.choices(kind, k=rng.choice([1, 2, 5, 17, 40, 70]))) for kind in some)

    for n in range(20):
        texts = [text() for _ in range(rng.randrange(1, 5))] + (["ab" * 2500 + "日" * 500] if n == 7 else [])
        if n > 7:  # ASCII that is not copied: nothing may be read behind its last piece, which no cache holds
            texts.append("the cat " * 130 + "".join(rng.choices("aeht", k=3 * n)))
        expected = [reference.encode(each) for each in texts]
        for each, ids in zip(texts, expected, strict=True):
            assert fast.encode(each) == fast.encode_ordinary(each) == ids, each
        bad = [each.encode() + b"\xff" + each.encode()[:100] for each in texts]
        assert list(map(fast.encode_bytes, bad)) == list(map(reference.encode_bytes, bad))
        assert [fast.encode_array(each).tolist() for each in texts] == expected
        assert [fast.count(each) for each in texts] == list(map(len, expected))
        assert fast.encode_batch(texts, threads=1) == expected
        assert fast.encode_ragged(texts, threads=1)[0].tolist() == [i for ids in expected for i in ids]
        assert [fast.decode(ids) for ids in expected] == texts


WILD = """
from impls import Model
from impls.compiled import Compiled
from impls.compiled.codegen.native import faults

fast = Compiled(Model(tokens=tuple(bytes([b]) for b in range(256)), pattern="gpt2"))
fast.encode("the cat")
assert faults()[0] == 0
for context in (fast._own, *fast._pool.free):
    context["entries"] += 1 << 40
fast.encode("the cat")
print(faults()[0] > 0)
"""


def test_the_checked_build_notices_a_wild_address() -> None:
    done = run(WILD, BPEBENCH_COMPILED_BUILD="checked")
    assert done.stdout == "True\n", done.stderr[-2000:]


CHECKED = """
test_memory.py::test_every_way_reads_no_more_than_its_text
test_segments.py::test_ids_are_those_of_whole_pieces
test_borders.py::test_the_automaton_of_a_sentencepiece_model_gives_the_ids_of_priority
test_growth.py::test_tables_of_a_few_slots_grow[1-gpt2]
test_specials.py::test_ids_and_refusals_are_those_of_priority[fast-of_several_bytes]
test_characters.py::test_ids_and_unknown_characters_are_those_of_priority[</w>-None]
test_parts.py::test_ids_are_those_of_a_batch_where_memory_is_short
test_training.py::test_every_rule_and_alphabet_at_once_and_continued[bytes-first]
test_training.py::test_every_rule_and_alphabet_at_once_and_continued[chars-shortest]
test_training.py::test_threads_growing_tables_and_cut_texts[3-gpt2]
"""
"""Tests that run with the checked build besides: every kernel of encoding, decoding, batches and training."""
OPTIONS = ("-qx", "-n0", "--timeout=0", "-p", "no:cacheprovider")


@pytest.mark.timeout(900)
@pytest.mark.skipif(is_checked(), reason="it starts a process that is checked")
def test_no_access_lies_outside_what_may_be_reached() -> None:
    """`tests/conftest.py` fails each test after which the build has seen such an access."""
    tests = [f"{Path(__file__).parent}/{test}" for test in CHECKED.split()]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *tests],
        cwd=Path(__file__).parents[3], env=os.environ | {"BPEBENCH_COMPILED_BUILD": "checked"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.fail(done.stdout[-3000:] + done.stderr[-1000:])


FORK = """
import os, threading, time
import impls
model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
texts, going, over = ["abc " * 500_000, "ab"], [], threading.Event()

def keep_encoding(encode):
    while not over.is_set():
        going.append(encode())

threads = [
    threading.Thread(target=keep_encoding, args=(encode,))
    for encode in (lambda: len(tokenizer.encode_array(texts[0])), lambda: len(tokenizer.encode_batch(texts, threads=2)))
]
for thread in threads:
    thread.start()
seen = set()
for _ in range({rounds}):
    n_before = len(going)
    while len(going) < n_before + 2:
        time.sleep(0.001)
    own = tokenizer._own
    child = os.fork()
    if child == 0:
        right = tokenizer.encode("abc") == [256, 99]
        right = right and tokenizer.encode_batch(["abc"] * 9, threads=2) == [[256, 99]] * 9
        kept = tokenizer._own is own
        busy = tokenizer._own["busy"] or (kept and own["busy"])
        os._exit(1 if not right or busy else 2 if kept else 3)
    seen.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
for thread in threads:
    thread.join()
print(seen <= {2, 3}, 3 in seen)
"""


def test_a_forked_child_uses_no_context_of_a_thread_that_is_gone() -> None:
    done = run(FORK.replace("{rounds}", str(20 * int(os.environ.get("BPEBENCH_FUZZ", "1")))))
    assert done.stdout == "True True\n", done.stderr[-2000:]


def test_a_context_says_which_thread_uses_it_while_the_interpreter_lock_is_released() -> None:
    """A child that is forked meanwhile must replace it."""
    tokenizer, over = Compiled(Model(tokens=tuple(bytes([byte]) for byte in range(256)))), threading.Event()

    def keep_encoding() -> None:
        while not over.is_set():
            tokenizer.encode("abc " * 12_000)

    thread = threading.Thread(target=keep_encoding)
    thread.start()
    try:
        seen = {tokenizer._own["busy"] for _ in range(20_000)}
    finally:
        over.set()
        thread.join()
    assert seen <= {0, thread.ident}


FORK_WHILE_LOADING = """
import os, signal, threading, time
import impls
from impls.compiled.codegen import build
from impls.compiled.codegen.loading import _load_by_llvm
from llvmlite.binding import ffi

model = impls.Model(tokens=tuple(bytes([b]) for b in range(256)) + (b"ab",), merges=((97, 98),), pattern="gpt2")
tokenizer = impls.load("compiled", model)
assert tokenizer.encode("abc") == [256, 99]
begun = threading.Event()

def slow(*arguments):
    # As long as LLVM is at work its library holds this lock.
    with ffi.lib._lock:
        begun.set()
        time.sleep(0.5)
        return _load_by_llvm(*arguments)

build.load = slow
thread = threading.Thread(target=lambda: tokenizer.encode_batch(["ab", "c"]))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if tokenizer.encode_batch(["ab", "c"]) == [[256], [99]] else 1)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_forked_while_kernels_are_loaded_can_load_them() -> None:
    assert run(FORK_WHILE_LOADING).stdout == "0\n"


GROWTH = """
import random, resource, sys
import impls
from impls.compiled import Compiled, context

context._MOST_CACHE_BITS = 14
context._ARENA_IDS = 1 << 16
context._OUT_IDS, context._TEXT_BYTES = 1 << 14, 1 << 12

spec = impls.TrainingSpec(vocab_size=300, pattern="gpt2")
tokenizer = Compiled(impls.get("priority").train_model(["the cat sat on the mat"], spec))
rng = random.Random(1)

def distinct(n_pieces, length):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(rng.choices(letters, k=length)) for _ in range(n_pieces))

def step():
    for text in (distinct(40_000, 6), distinct(8_000, 20), distinct(2_000, 100), "ab" * 40_000, "üstü\u015f " * 50_000):
        assert tokenizer.decode_bytes(tokenizer.encode_array(text)) == text.encode()
        tokenizer.count(text)

step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reserved = sum(array.nbytes for array in tokenizer._own.arrays)
for _ in range(8):
    step()
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(grown <= reserved < 4_000_000 or (grown, reserved), len(tokenizer._pool.free))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in the unit Linux gives it in")
def test_neither_pieces_that_never_come_again_nor_large_texts_make_memory_grow() -> None:
    assert run(GROWTH).stdout == "True 0\n"


def test_a_text_that_is_too_long_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
    tokenizer = Compiled(Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern="gpt2"))
    context, too_many = tokenizer._own, MOST_TEXT_BYTES + 1
    assert native.encode(context.address, 0, too_many, 0) == NO_MEMORY
    monkeypatch.setattr(plain, "MOST_TEXT_BYTES", 20)
    assert len(tokenizer.encode("ü" * 10)) == 20
    for call in (tokenizer.encode, tokenizer.count, lambda text: tokenizer.encode_batch([text])):
        refused(Unsupported, r"22 bytes in one call; the limit is 20: cut it at a line", call, "ü" * 11)
