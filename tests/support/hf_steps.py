"""Steps of programs written for Hugging Face's library: each takes a module, the library or `bpebench.hf`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from hf_calls import shown
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

WORDS = ["my", "name", "is", "john", "pair"]
LINES = ["a plain line of text", "another line, the other text", "lines of plain texts!"] * 3


def of_words(m: Any) -> Any:
    """An untrained tokenizer that knows some words as added tokens."""
    t = m.Tokenizer(models.BPE())
    t.add_tokens(WORDS)
    return t


def of_bytes(m: Any) -> Any:
    """A small byte-level tokenizer."""
    t = m.Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=True), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    t.train_from_iterator(LINES, trainer)
    return t


def tokens(m: Any) -> Any:
    """What added tokens of each flag say of themselves."""
    names = ("rstrip", "lstrip", "single_word", "normalized", "special")
    made = [m.AddedToken(), *(m.AddedToken("<m>", **{name: value}) for name in names for value in (False, True))]
    return [(repr(t), str(t), t.__getstate__(), repr(pickle.loads(pickle.dumps(t)))) for t in made]


def changed(m: Any) -> Any:
    added = m.AddedToken("<mask>")
    added.content, added.special = "<MASK>", True
    twice = {added, m.AddedToken("<MASK>")}
    return [repr(added), len(twice), added == m.AddedToken("<MASK>", special=True, normalized=True)]


def adding(m: Any, method: str) -> Any:
    t = m.Tokenizer(models.BPE())
    tokens = [m.AddedToken("the"), m.AddedToken("quick", normalized=method == "add_special_tokens"), m.AddedToken()]
    first, second = getattr(t, method)(["my", "name", "name"]), getattr(t, method)(tokens)
    return [first, second, [(a.content, a.normalized, a.special) for a in tokens], t.get_vocab(), t.get_vocab_size()]


def part(m: Any, call: Callable[[Any], Any]) -> Any:
    """What is asked of the encoding of a pair."""
    t = of_bytes(m)
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return call(t.encode("a plain line", "of texts"))


def cut(e: Any, *given: Any, **options: Any) -> Any:
    e.truncate(*given, **options)
    return shown(e)


def filled(e: Any, *given: Any, **options: Any) -> Any:
    e.pad(*given, **options)
    return shown(e)


def decoded(m: Any, decoder: Any, *names: str) -> Any:
    t = of_words(m)
    t.add_tokens(list(names))
    t.decoder = decoder
    ids = [t.token_to_id(name) for name in names]
    answers = [t.decode(ids), t.decode(ids + ids), t.decode_batch([ids, ids[:1], []])]
    return [*answers, None if decoder is None else t.decoder.decode(list(names))]


def formats(m: Any) -> Any:
    t, lists = of_words(m), [["my", "name"], ["is", "john"]]
    pairs: list[Any] = [("my name", "pair"), ("is", "john")]
    given: list[tuple[Any, bool]] = [(pairs, False), (tuple(pairs), False), ([list(pair) for pair in pairs], False)]
    given += [
        (np.array(["my name", "is"]), False),
        (np.array(pairs), False),
        (lists, True),
        (np.array(lists, dtype=object), True),
    ]
    given += [([(["my"], ["pair"]), (["is", "john"], ["name"])], True), (tuple(map(tuple, lists)), True)]
    given += [(np.array([[["my", "name"], ["pair"]], [["is"], ["john", "my"]]], dtype=object), True), ([], False)]
    return [[shown(e) for e in t.encode_batch(batch, is_pretokenized=words)] for batch, words in given]


def merged(m: Any) -> Any:
    t = of_words(m)
    parts = [t.encode("my name"), t.encode("is"), t.encode("john pair")]
    return [shown(m.Encoding.merge(parts, growing_offsets=grows)) for grows in (True, False)]
