"""Other Python code may run within a call: the call's ids stay its own until the last object exists."""

from __future__ import annotations

import gc
import os
import weakref

from child import run

from impls.compiled.cpython import interpreter

ATTACK = """
import gc
import numpy as np
import impls
from impls.compiled import Compiled
from impls.priority import Priority

spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k")
model = Priority.train_model(["the cat sat kedi üstünde 日本語 the cat üstünde"] * 2, spec)
tokenizer, reference = Compiled(model), Priority(model)
texts = ["the cat sat", "kedi üstünde 日本語", "", "x" * 40, "the cat üstünde " * 300, "日本語 kedi " * 9000]
other = "zzz qqq 1234 日本語"
other_ids = reference.encode(other)


def appended(text):
    grown = tokenizer.incremental()
    for at in range(0, len(text), 9):
        grown.append(text[at : at + 9])
    return grown.ids


class Attack:
    \"\"\"A finalizer that has the same tokenizer do other work, by way of every method in turn.\"\"\"

    turn = 0

    def __init__(self):
        self.me = self

    def __del__(self):
        ways = (
            lambda: tokenizer.encode(other) == other_ids,
            lambda: tokenizer.encode_array(other).tolist() == other_ids,
            lambda: tokenizer.encode_batch([other] * 3, threads=1) == [other_ids] * 3,
            lambda: tokenizer.encode_ragged([other], threads=1)[0].tolist() == other_ids,
            lambda: tokenizer.count(other) == len(other_ids),
            lambda: appended(other) == other_ids,
            lambda: tokenizer.decode(other_ids) == other,
            lambda: tokenizer.decode_bytes(other_ids) == other.encode(),
        )
        Attack.turn += 1
        outcomes.append(ways[Attack.turn % len(ways)]())


gc.collect()
gc.freeze()  # so that collecting looks only at what the calls make
outcomes, wrong, calls = [], 0, 0
for text in texts:
    ids = reference.encode(text)
    ways = (
        (lambda: tokenizer.encode(text), ids),
        (lambda: tokenizer.encode_array(text).tolist(), ids),
        (lambda: tokenizer.encode_batch([text, other], threads=1), [ids, other_ids]),
        (lambda: tokenizer.encode_ragged([text, other], threads=1)[0].tolist(), ids + other_ids),
        (lambda: tokenizer.count(text), len(ids)),
        (lambda: appended(text[:200]), reference.encode(text[:200])),
        (lambda: tokenizer.decode(ids), text),
        (lambda: tokenizer.decode_bytes(ids), text.encode()),
        (lambda: tokenizer.decode(np.array(ids, np.int64)), text),
        (lambda: tokenizer.decode([np.int64(one) for one in ids[:50]]), tokenizer.decode(ids[:50])),
    )
    for way, want in ways:
        for _ in range({rounds} if len(text) < 100 else 4):
            gc.disable()
            gc.collect()
            Attack()
            keep = [[] for _ in range(200)]
            gc.set_threshold(1)
            gc.enable()
            found = way()
            calls += 1
            wrong += found != want
gc.disable()
print(calls, wrong, len(outcomes) > 100, all(outcomes))
"""


def test_a_finalizer_that_encodes_changes_no_id(boundary: str) -> None:
    rounds = 20 * int(os.environ.get("BPEBENCH_FUZZ", "1"))
    done = run(ATTACK.replace("{rounds}", str(rounds)))
    calls, wrong, attacked, right = done.stdout.split() or ["0", done.stderr[-2000:], "", ""]
    assert int(calls) > 500, done.stderr[-2000:]
    assert (wrong, attacked, right) == ("0", "True", "True")


def test_what_built_ins_are_made_of_outlives_their_module() -> None:
    reference = weakref.ref(interpreter._definition("encode_to_list"))
    interpreter._definition.cache_clear()
    gc.collect()
    assert reference() is not None
