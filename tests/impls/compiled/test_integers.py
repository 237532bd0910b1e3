"""The ints in lists of ids are like any others, and outlive the lists, the tokenizer, forks and the interpreter."""

from __future__ import annotations

import ctypes
import json
import pickle
import sys

import pytest
from child import run
from random_models import BYTES

import impls
from impls.compiled import Compiled
from impls.compiled.cpython import interpreter
from impls.compiled.cpython.interpreter import MOST_INTS, interpreter_layout, shared_integers
from impls.compiled.layout import INT_BYTES
from impls.core.model.model import Model
from impls.priority import Priority

only_fast = pytest.mark.skipif(interpreter_layout() is None, reason="this interpreter has only the plain boundary")


@pytest.fixture(scope="module")
def model() -> Model:
    return Priority.train_model(["the cat sat on the mat"] * 2, impls.TrainingSpec(vocab_size=264))


@only_fast
@pytest.mark.parametrize("numbers", [range(300), range(32_760, 32_780), range(MOST_INTS - 40, MOST_INTS)])
def test_every_int_is_the_number_it_stands_for(numbers: range) -> None:
    address = shared_integers(numbers[-1] + 1)
    ints = [ctypes.cast(address + INT_BYTES * n, ctypes.py_object).value for n in numbers]
    expected = list(numbers)
    assert {type(n) for n in ints} == {int}
    assert ints == expected
    assert [list(map(of, ints)) for of in (hash, repr, bool)] == [list(map(of, expected)) for of in (hash, repr, bool)]
    assert [(n + 1, n - 1, -n, n * n, n // 7, n % 7, n << 40, n & 5, ~n, n / 3) for n in ints] == [
        (n + 1, n - 1, -n, n * n, n // 7, n % 7, n << 40, n & 5, ~n, n / 3) for n in expected
    ]
    assert dict.fromkeys(ints) == dict.fromkeys(expected)
    assert pickle.loads(pickle.dumps(ints)) == expected
    assert json.loads(json.dumps(ints)) == expected
    assert [sys.getsizeof(n) for n in ints if n] == [sys.getsizeof(n) for n in expected if n]


@only_fast
def test_lists_made_and_freed_leave_no_object_and_no_int_behind(model: Model) -> None:
    tokenizer = Compiled(model)
    text = "the cat \0 sat"
    expected = Priority(model).encode(text)
    kept = tokenizer.encode(text)
    # Reading a count only says whether it is far from zero: lists do not add to it.
    least = min(map(sys.getrefcount, kept))
    before = sys.getallocatedblocks()
    for _ in range(5_000):
        assert tokenizer.encode(text) == expected
    assert abs(sys.getallocatedblocks() - before) < 50
    assert min(map(sys.getrefcount, kept)) >= least - 5_000 * len(expected)
    assert least > 1 << 30
    assert kept == expected


@only_fast
def test_tokenizers_share_ints_until_a_vocabulary_needs_more(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    first, text = Compiled(model), "the cat"
    before = first.encode(text)
    assert all(a is b for a, b in zip(Compiled(model).encode(text), before, strict=True))
    rows, n_ints = interpreter._ints
    assert shared_integers(n_ints + 1) == shared_integers(1)
    shared_integers(len(rows) + 1)
    for tokenizer in (first, Compiled(model)):
        assert tokenizer.encode(text) == before == Priority(model).encode(text)
    assert interpreter._ints[0] is not rows


@only_fast
def test_there_is_an_int_for_every_id_where_merges_are_not_in_order_of_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "_ints", (interpreter._ints[0][:0], 0))
    tokenizer = Compiled(Model(tokens=(*BYTES, *[None] * 100, b"bc", b"ab"), merges=((97, 98), (98, 99))))
    assert tokenizer.encode("a") == [97]
    assert interpreter._ints[1] == 358
    assert tokenizer.encode("abbc") == [357, 356]


@only_fast
def test_too_many_ids_and_other_ints_are_of_the_plain_boundary(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_fast() -> bool:
        tokenizer = Compiled(model)
        assert tokenizer.encode("the cat") == Priority(model).encode("the cat")
        return tokenizer._own.builtins is not None

    for most, expected in ((model.vocab_size, True), (model.vocab_size - 1, False)):
        with monkeypatch.context() as patch:
            patch.setattr("impls.compiled.context.MOST_INTS", most)
            assert is_fast() == expected
    monkeypatch.setattr(interpreter, "int_words", lambda: None)
    monkeypatch.setattr("impls.compiled.context.interpreter_layout", interpreter._interpreter_layout.__wrapped__)
    assert not is_fast()


SCRIPT = """
import atexit, gc, os, sys, threading
import impls
from impls.compiled import Compiled
from impls.compiled.cpython import interpreter
from impls.priority import Priority

texts = ["the cat sat on the mat"]
model = Priority.train_model(texts * 2, impls.TrainingSpec(vocab_size=264))
tokenizer, ids = Compiled(model), Priority(model).encode(texts[0])
assert tokenizer._own.builtins is not None
lists = [tokenizer.encode(texts[0]) for _ in range(100)]

# forked
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        right = all(each == ids for each in lists)
        del lists
        right &= all(tokenizer.encode(texts[0]) == ids for _ in range(100)) and Compiled(model).encode(texts[0]) == ids
        gc.collect()
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0

# another interpreter
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
interpreters.run_string(other, f"got = {lists[0]!r}; assert sum(got) == {sum(ids)}; del got; import gc; gc.collect()")
try:
    # NumPy may refuse to be imported a second time; nothing may break in either case.
    interpreters.run_string(other, "import impls; from impls.compiled import Compiled")
except Exception:
    pass
interpreters.destroy(other)
assert all(each == ids for each in lists)
del lists
assert tokenizer.encode(texts[0]) == ids

# the end: lists that are freed last, by a finalizer, at exit, and beside a thread that still encodes
sys.kept = [interpreter, tokenizer.encode(texts[0])]

class Last:
    def __init__(self, mine):
        self.mine, self.me = mine, self

    def __del__(self):
        assert sum(self.mine) == total and self.mine == same

total, same = sum(ids), list(ids)
cycle = Last(tokenizer.encode(texts[0]))
atexit.register(lambda held=tokenizer.encode(texts[0]): print(held == same))
begun = threading.Event()

def work():
    while True:
        begun.set()
        tokenizer.encode(texts[0])[:]

threading.Thread(target=work, daemon=True).start()
begun.wait()
print("done")
"""


@only_fast
@pytest.mark.parametrize("allocator", ["default", "debug"])
def test_lists_outlive_exits_forks_and_other_interpreters(allocator: str) -> None:
    done = run(SCRIPT, PYTHONMALLOC=allocator)
    # Newer interpreters may warn of forks and of NumPy in another interpreter.
    assert (done.stdout, done.returncode) == ("done\nTrue\n", 0), done.stderr[-2000:]
