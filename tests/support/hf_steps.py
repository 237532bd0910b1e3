"""Steps of programs written for Hugging Face's library: each takes a module, the library or `bpebench.hf`."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from hf_calls import shown
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = ["my", "name", "is", "john", "pair"]
LINES = ["a plain line of text", "another line, the other text", "lines of plain texts!"] * 3


def of_words(m: Any, **settings: Any) -> Any:
    """An untrained tokenizer that knows some words as added tokens."""
    t = m.Tokenizer(models.BPE())
    t.add_tokens(WORDS)
    for name, value in settings.items():
        setattr(t, name, value)
    return t


def of_bytes(m: Any, **settings: Any) -> Any:
    """A small byte-level tokenizer."""
    t = m.Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=True), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    t.train_from_iterator(LINES, trainer)
    for name, value in settings.items():
        setattr(t, name, value)
    return t


def token(m: Any, *given: Any, **flags: Any) -> Any:
    added = m.AddedToken(*given, **flags)
    return [repr(added), str(added), added.__getstate__(), repr(pickle.loads(pickle.dumps(added)))]


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


def toured(m: Any) -> Any:
    """What the library's tour does: train, look at an encoding, set a template, pad, decode."""
    t = m.Tokenizer(models.BPE(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    t.train_from_iterator(iter(LINES), trainers.BpeTrainer(special_tokens=special, show_progress=False))
    answers = [shown(t.encode(text)) for text in ("thé lines, 42 😁 !", "a\n[SEP] line")]
    around = [(name, t.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    t.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", around)
    t.enable_padding(pad_id=3, pad_token="[PAD]")
    batch = t.encode_batch([["a line", "of text 😁"], ["plain", "the other lines"]])
    return [
        *answers,
        [shown(e) for e in batch],
        t.decode(batch[1].ids),
        t.decode(batch[1].ids, skip_special_tokens=False),
    ]


def while_parts_change(m: Any) -> Any:
    """Whether encoding in some threads fails, or mixes, while others set parts."""
    t = of_bytes(m)
    wanted = [t.encode(line).ids for line in LINES]

    def set_parts() -> bool:
        for _ in range(20):
            t.post_processor, t.decoder = processors.ByteLevel(trim_offsets=True), decoders.ByteLevel()
        return True

    with ThreadPoolExecutor(4) as threads:
        done = [
            threads.submit(set_parts),
            *(threads.submit(lambda: [t.encode(line).ids for line in LINES]) for _ in range(6)),
        ]
        return [one.result() in (True, wanted) for one in done]


def decoded(m: Any, decoder: Any, *names: str) -> Any:
    t = of_words(m)
    t.add_tokens(list(names))
    t.decoder = decoder
    ids = [t.token_to_id(name) for name in names]
    answers = [t.decode(ids), t.decode(ids + ids), t.decode_batch([ids, ids[:1], []])]
    return [*answers, None if decoder is None else t.decoder.decode(list(names))]


def saved(m: Any, tmp_path: Path) -> Any:
    t = of_bytes(m)
    t.enable_padding(length=6)
    path = str(tmp_path / f"{m.__name__}.json")
    t.save(path)
    content = Path(path).read_bytes()
    again = [m.Tokenizer.from_file(path), m.Tokenizer.from_str(t.to_str()), m.Tokenizer.from_buffer(content)]
    again += [pickle.loads(pickle.dumps(t)), copy.deepcopy(t)]
    return [[shown(other.encode("a line")), other.to_str() == t.to_str(), other.padding] for other in again]


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


def at_once(m: Any) -> Any:
    t = of_bytes(m)
    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(lambda line: shown(t.encode(line)), LINES * 4))


def untrained(m: Any) -> Any:
    t = m.Tokenizer(models.BPE())
    nothing = [
        len(e) for e in (t.encode("a b"), t.encode("a", "b"), *t.encode_batch(["a", "b"]), *t.encode_batch_fast(["a"]))
    ]
    parts = [t.normalizer, t.pre_tokenizer, t.post_processor, t.decoder, t.truncation, t.padding]
    return [
        nothing,
        parts,
        t.get_vocab(),
        t.num_special_tokens_to_add(False),
        pickle.loads(pickle.dumps(t)).get_vocab_size(),
    ]


def merged(m: Any) -> Any:
    t = of_words(m)
    parts = [t.encode("my name"), t.encode("is"), t.encode("john pair")]
    return [shown(m.Encoding.merge(parts, growing_offsets=grows)) for grows in (True, False)]
