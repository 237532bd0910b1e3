"""Safety: the checked build, in which every access is compared with what may be reached, finds none outside."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from child import run

from impls.compiled import Compiled, plain
from impls.compiled.build import source_digest
from impls.compiled.layout import MOST_TEXT_BYTES, NO_MEMORY
from impls.compiled.native import Native
from impls.compiled.storage import cache_folder, read_checked, write_checked
from impls.errors import Unsupported
from impls.model import Model
from impls.patterns import NAMED

FUZZ = """
import random, sys
import impls
from impls.compiled import Compiled
from impls.compiled.native import faults
from impls.priority import Priority

rng = random.Random(3)
spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k" if "\\n" in sys.argv[1] else sys.argv[1])
model = Priority.train_model(["the cat's hat  sat; kedi üstünde 日本語日本語 12345\\n\\n x"] * 3, spec)
if "\\n" in sys.argv[1]:
    model = model.with_(pattern=tuple(sys.argv[1].splitlines()))
fast, reference, naive = Compiled(model), Priority(model), impls.load("naive", model)
kinds = ["ab", "the cat's hat ", " \\n\\t", "0123", "日本語テキ", "éüſK", "a'LL", "\\U0001f389\\u0301", "!?-", "абвГ"]

def text():
    parts = []
    for _ in range(rng.randrange(1, 12)):
        kind = rng.choice(kinds)
        parts.append("".join(rng.choice(kind) for _ in range(rng.choice([1, 2, 5, 17, 40, 70]))))
    return "".join(parts)

for round in range(20):
    texts = [text() for _ in range(rng.randrange(1, 5))] + (["ab" * 2500 + "日" * 500] if round == 7 else [])
    expected = [reference.encode(each) for each in texts]
    assert [fast.encode(each) for each in texts] == expected
    fewer = {"probability": 0.2, "seed": round}
    assert [fast.encode_with_dropout(each[:200], **fewer) for each in texts] == [
        naive.encode_with_dropout(each[:200], **fewer) for each in texts
    ]
    assert [fast.encode_array(each).tolist() for each in texts] == expected
    assert [fast.count(each) for each in texts] == list(map(len, expected))
    assert fast.encode_batch(texts, threads=1) == expected
    assert fast.encode_ragged(texts, threads=1)[0].tolist() == sum(expected, [])
    assert [array.tolist() for array in fast.encode_array_batch(texts, threads=1)] == expected
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


def test_no_access_lies_outside_what_may_be_reached() -> None:
    digits_apart = r"\p{N}{1,3}|\P{N}+" + "\n" + NAMED["gpt2"][0]
    for pattern, border in (
        ("cl100k", "fast"),
        ("o200k", "plain"),
        ("gpt2", "fast"),
        ("turkish", "fast"),
        (digits_apart, "fast"),
    ):
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


STAND_IN = """
import sys
from pathlib import Path
from impls.compiled import build

def compile_():
    with open(sys.argv[2], "a") as log:
        log.write("compiled\\n")
    print("compiling", flush=True)
    if sys.argv[3] == "wait":
        sys.stdin.readline()
    return Path(sys.argv[1]).read_bytes()

build._compile = compile_
build.LONGEST_WAIT_SECONDS = 0.0 if sys.argv[3] == "hurry" else 60.0
"""


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a process that uses the kernels with an empty cache, the compiler stood in for by their object file.

    `how`: "go" compiles at once, "wait" when it gets a line, "hurry" waits for no other process.
    """
    Native.load()
    kept = read_checked(cache_folder() / "kernels" / f"{source_digest()[:32]}.o")
    assert kept is not None
    (tmp_path / "image").write_bytes(kept)

    def process(how: str, cache: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", STAND_IN + USE, str(tmp_path / "image"), str(tmp_path / "log"), how],
            env=os.environ | {"BPEBENCH_CACHE": str(cache)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return process


def times_compiled(folder: Path) -> int:
    return len((folder / "log").read_text().splitlines())


def test_of_two_processes_that_start_at_once_one_compiles(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    with start("wait", tmp_path / "cache") as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "compiling\n"
        with start("go", tmp_path / "cache") as second:
            assert second.stderr is not None
            assert "another process is compiling" in second.stderr.readline()
            with start("hurry", tmp_path / "cache") as hurried:
                assert hurried.communicate(timeout=60)[0] == "compiling\ndone\n"
            # The one that hurried has left its result by now; who waits for the lock finds it once it is free.
            assert first.communicate("go on\n", timeout=60)[0] == "done\n"
            assert second.communicate(timeout=60)[0] == "done\n"
    assert times_compiled(tmp_path) == 2


def test_a_lock_is_free_again_when_its_holder_was_killed(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    with start("wait", tmp_path / "cache") as first:
        assert first.stdout is not None
        first.stdout.readline()
        first.kill()
    with start("go", tmp_path / "cache") as second:
        assert second.communicate(timeout=60) == ("compiling\ndone\n", "")


@pytest.mark.parametrize("damage", ["cut short", "empty", "one bit", "not there", "a folder"])
def test_a_damaged_object_file_is_compiled_again(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, damage: str
) -> None:
    with start("go", tmp_path / "cache") as first:
        assert first.communicate(timeout=60)[0] == "compiling\ndone\n"
    (path,) = (tmp_path / "cache").rglob("*.o")
    whole = path.read_bytes()
    if damage == "one bit":
        path.write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    elif damage in ("cut short", "empty"):
        path.write_bytes(whole[: len(whole) // 2] if damage == "cut short" else b"")
    else:
        path.unlink()
    if damage == "a folder":
        path.mkdir()
    with start("go", tmp_path / "cache") as again:
        assert again.communicate(timeout=60)[0] == "compiling\ndone\n"
    if damage != "a folder":
        assert path.read_bytes() == whole


def test_kernels_and_tables_are_made_anew_where_the_cache_cannot_be_written(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        with start("go", tmp_path / "file" / "cache") as process:
            assert process.communicate(timeout=60) == ("compiling\ndone\n", "")
    assert times_compiled(tmp_path) == 2


AT_ONCE = """
import threading
from impls.compiled.build import kernels

start = threading.Barrier(8)
loaded = []

def load():
    start.wait()
    loaded.append(kernels())

threads = [threading.Thread(target=load) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(loaded), len({id(each) for each in loaded}))
"""


def test_threads_that_need_the_kernels_at_the_same_time_load_them_once() -> None:
    assert run(AT_ONCE).stdout == "8 1\n"


HOSTILE = """
import random, resource, sys
import impls
from impls.compiled import Compiled, context

context._MOST_CACHE_BITS = 14
context._LEAST_MEDIUM_BITS, context._MOST_MEDIUM_BITS = 8, 10
context._LEAST_LONG_BITS, context._MOST_LONG_BITS = 8, 10
context._LONG_STORE_BYTES, context._ARENA_IDS = 1 << 18, 1 << 12
context._OUT_IDS, context._TEXT_BYTES = 1 << 14, 1 << 12

spec = impls.TrainingSpec(vocab_size=300, pattern="gpt2")
tokenizer = Compiled(impls.get("priority").train_model(["the cat sat on the mat"], spec))
rng = random.Random(1)

def distinct(n_pieces, length):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(rng.choices(letters, k=length)) for _ in range(n_pieces))

def step(seed):
    for text in (distinct(40_000, 6), distinct(8_000, 20), distinct(2_000, 100), "ab" * 40_000):
        assert tokenizer.decode_bytes(tokenizer.encode_array(text)) == text.encode()

step(0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
reserved = sum(array.nbytes for array in tokenizer._own.context.arrays)
for seed in range(1, 13):
    step(seed)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
print(grown <= reserved < 4_000_000 or (grown, reserved), len(tokenizer._pool._free))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read in the unit Linux gives it in")
def test_pieces_that_never_come_again_do_not_make_memory_grow() -> None:
    assert run(HOSTILE).stdout == "True 1\n"


def test_a_damaged_cache_entry_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "entry"
    assert read_checked(path) is None
    assert write_checked(path, b"content")
    kept = read_checked(path)
    assert kept is not None
    assert kept.tobytes() == b"content"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert read_checked(path) is None


def test_large_tables_begin_on_a_boundary_and_hold_zeros() -> None:
    from impls.compiled.pages import aligned_zeros, growing_zeros

    for make in (aligned_zeros, lambda n_bytes: growing_zeros(n_bytes, 1 << 18)):
        for n_bytes, boundary in ((1000, 64), (1 << 21, 4096), (5 << 20, 4096)):
            memory = make(n_bytes)
            assert memory.ctypes.data % boundary == 0
            assert memory.shape == (n_bytes,)
            assert not memory.any()
            memory[:] = 1


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not write_checked(tmp_path / "file" / "entry", b"content")


def test_importing_the_suite_imports_neither_numba_nor_llvmlite() -> None:
    done = run("import sys, impls; impls.names(); print('numba' in sys.modules, 'llvmlite' in sys.modules)")
    assert done.stdout == "False False\n"


def test_a_text_whose_places_no_int32_can_tell_is_refused_before_it_is_read() -> None:
    tokenizer = Compiled(Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern="gpt2"))
    context = tokenizer._own.context
    native, too_many = context.native, MOST_TEXT_BYTES + 1
    assert native.encode(context.address, 0, too_many, 0, 1) == NO_MEMORY
    assert native.split(context.address, 0, too_many, 0) == NO_MEMORY
    assert native.encode_pieces(context.address, 0, too_many, 0, 1, 0) == NO_MEMORY


def test_a_text_that_is_too_long_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPEBENCH_COMPILED_BORDER", "plain")
    monkeypatch.setattr(plain, "MOST_TEXT_BYTES", 20)
    tokenizer = Compiled(Model(tokens=tuple(bytes([byte]) for byte in range(256)), pattern="gpt2"))
    assert len(tokenizer.encode("ü" * 10)) == 20
    for call in (
        tokenizer.encode,
        tokenizer.encode_array,
        tokenizer.count,
        lambda text: tokenizer.encode_batch([text]),
    ):
        with pytest.raises(Unsupported, match=r"22 bytes in one call; it takes 20 at most: cut it .*encode_file"):
            call("ü" * 11)
