"""Long texts are encoded part by part: cut only where that changes no id, whatever the context."""

from __future__ import annotations

import gc
import random
import sys
import threading

import numpy as np
import pytest
from child import run
from refusals import refused

import impls
from impls.compiled import Compiled, context, layout
from impls.core.errors import SpecialToken
from impls.core.model.model import Model


def model(pattern: str, special: str) -> Model:
    spec = impls.TrainingSpec(vocab_size=330, pattern=pattern, special_tokens=(special,))
    return impls.get("priority").train_model(["the cat sat kedi üstünde 日本語 the cat üstünde"] * 2, spec)


LONG = layout.PART_CHARACTERS


def long_texts() -> dict[str, str]:
    rng = random.Random(3)
    words = ["kedi", "üstünde", "日本語", "🎉", "x1", "it'll", "...", "\n", "\n\n", "  ", "é", "l", "123456", "かな。"]
    return {
        "two bytes": "kedi üstünde " * (3 * LONG // 13),
        "three bytes": "日本語 text。\n" * (LONG // 4),
        "four bytes": "🎉 日本語 x" * (LONG // 3),
        "no place to cut": "ü" * (2 * LONG + 5),
        "few places to cut": ("ü" * (LONG + 77) + " ") * 2 + "x" * 9,
        "a cut at the very end of a part": "ü" + "x" * (LONG - 2) + " " + "ü y" * 50,
        "as long as a part": "ü" + "x" * (LONG - 1),
        "one more than a part": "ü" + "x" * (LONG - 1) + " ",
        "words": "".join(rng.choice(words) + rng.choice([" ", "", " "]) for _ in range(LONG)),
        "ever more ids a character": "the cat sat " * (LONG // 12) + "\u0378\U0001f389" * LONG,
        "ever fewer ids a character": "\u0378\U0001f389" * LONG + "the cat sat üstünde " * LONG,
        "ASCII": "the cat sat " * (LONG // 5),
        "a surrogate in the second part": "kedi üstünde " * (LONG // 9) + "\ud83d kedi",
        "a special token in the second part": "kedi üstünde " * (LONG // 9) + "a b|end kedi",
        "Latin-1": "caf\xe9 cr\xe8me, " * (LONG // 8),
    }


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_ids_are_those_of_a_batch(pattern: str) -> None:
    """Texts of a batch are never cut."""
    tokenizer = Compiled(model(pattern, "a b|end"))
    assert tokenizer._own["cuts"] != 0
    for name, text in long_texts().items():
        expected = tokenizer.encode_batch([text], allowed_special="all")[0]
        ids = tokenizer.encode(text, allowed_special="all")
        assert ids == expected, name
        ids.append(1)
        assert ids[-2:] == [*expected[-1:], 1]
        array = tokenizer.encode_array(text, allowed_special="all")
        assert (array.dtype, array.flags.owndata, array.tolist()) == (np.uint32, True, expected), name
        if "special" not in name:
            assert tokenizer.count(text) == len(expected), name
    assert tokenizer._own["large_text"] == 0


def test_ids_are_those_of_a_batch_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that do not fit, ids of which only the first fit."""
    monkeypatch.setattr(context, "_TEXT_BYTES", LONG)
    for out_ids in (1 << 10, LONG):
        monkeypatch.setattr(context, "_OUT_IDS", out_ids)
        tokenizer = Compiled(model("cl100k", "a b|end"))
        for name, text in long_texts().items():
            expected = tokenizer.encode_batch([text], allowed_special="all")[0]
            assert tokenizer.encode(text, allowed_special="all") == expected, name
            assert tokenizer.encode_array(text, allowed_special="all").tolist() == expected, name
        assert tokenizer._own["large_text"] == 0


@pytest.mark.parametrize("special", ["x y|end", "<|fim x y|>"])
def test_a_special_token_is_found_wherever_a_part_ends(special: str) -> None:
    tokenizer = Compiled(model("cl100k", special))
    token = tokenizer.model.special_tokens[special]
    for before in range(len(special) + 2):
        text = ("ü " * LONG)[: LONG - before] + special + " ü" * 20
        for way in (tokenizer.encode, tokenizer.encode_array):
            assert list(way(text, allowed_special="all")).count(token) == 1
            refused(SpecialToken, "x y", way, text)


def test_no_other_code_finds_a_list_before_it_is_filled() -> None:
    tokenizer, text = Compiled(model("cl100k", "a b|end")), "the cat sat üstünde " * 200_000
    expected, found, done = tokenizer.encode_batch([text])[0], [], threading.Event()

    def look() -> None:
        while not done.is_set():
            found.extend(
                one[-1]
                for one in gc.get_objects()
                if type(one) is list and len(one) >= len(expected) and one[:3] == expected[:3]
            )

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(5):
            assert tokenizer.encode(text) == expected
    finally:
        done.set()
        thread.join()
    assert set(found) <= {expected[-1]}


SHORT_OF_MEMORY = """
import resource
import impls
from impls.compiled import Compiled, layout
from impls.priority import Priority

spec = impls.TrainingSpec(vocab_size=330, pattern="cl100k")
tokenizer = Compiled(Priority.train_model(["the cat sat kedi üstünde 日本語 the cat üstünde"] * 2, spec))
text = "the cat sat " * 50_000 + "\\u0378\\U0001f389" * 200_000
expected = tokenizer.encode_batch([text])[0]
_, most = resource.getrlimit(resource.RLIMIT_AS)
outcomes = {}
for way in (tokenizer.encode, tokenizer.encode_array):
    for megabytes in (1, 17, 33, 60, 180):
        in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + megabytes * 2**20, most))
        try:
            ids = list(way(text))
        except MemoryError:
            ids = None
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        assert ids is None or ids == expected, megabytes
        outcomes.setdefault(way.__name__, set()).add(ids is None)
    assert list(way(text)) == expected
print({way: sorted(found) for way, found in outcomes.items()})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_without_memory_there_is_an_exception_or_the_right_ids() -> None:
    done = run(SHORT_OF_MEMORY)
    assert done.stdout == "{'encode': [False, True], 'encode_array': [False, True]}\n", done.stderr[-2000:]
