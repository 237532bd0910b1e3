"""Random files and calls, given to `bpebench.hf.Tokenizer` and to the library.

Each seed is one file, ten texts, ten lists of any ids, and fifty calls, of which some change both tokenizers.
"""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from random import Random
from typing import Any

import tokenizers
from hf_calls import Call, differs, outcome, shown
from tokenizer_files import file_texts, tokenizer_file
from tokenizers import processors

from harness.process.limits import Limits
from harness.process.session import Answer, functions
from impls.core.errors import InvalidFile, UnknownSymbol, Unsupported
from impls.drop_in import hf

N_TEXTS = 10
N_CALLS = 50
LIMITS = Limits(call_seconds=60, memory_bytes=6 << 30)
ALIKE, REFUSED = "alike", "refused"
LACKING = UnknownSymbol | Unsupported  # the library drops what has no token
PARTS = (
    *("a", "b", "the", " the", " ", "  ", "\r\n", "\n", "\t", "ç", "日本", "é", "e\u0301", "\u0301", "👍🏽", "İ", "12"),
    *("'s", ".", "<m>", "<n>", "<w>", "x<w>y", "\t\t", " <m> ", "🏽\u200d", "ﬁ", "\u00a0", "", "q"),
)  # fmt: skip


def verdict(seed: int, *, alone: bool = False) -> str:
    """Return how the two tokenizers of the file of `seed` differ first, or `ALIKE`, or `REFUSED` by either of them.

    `alone`: the library's tokenizer is in the place of ours too.
    """
    random = Random(f"hf campaign {seed}")
    document = tokenizer_file(random)
    written = json.dumps(document)
    by_us = partial(hf.Tokenizer.from_str, implementation=("priority", "compiled")[seed % 2])
    theirs: Any = outcome(tokenizers.Tokenizer.from_str, written)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours: Any = outcome(tokenizers.Tokenizer.from_str if alone else by_us, written)
    if isinstance(theirs, BaseException) or isinstance(ours, InvalidFile | Unsupported):
        return REFUSED
    if isinstance(ours, BaseException):
        return repr(ours)
    if _share_a_form(ours):  # the library finds any of them
        return REFUSED
    for text in file_texts(document, random, N_TEXTS):
        expected, got = (outcome(partial(_shown, text=text), tokenizer) for tokenizer in (theirs, ours))
        if _panicked(expected):
            theirs = tokenizers.Tokenizer.from_str(written)
        elif differs(got, expected) and not isinstance(got, LACKING):
            return f"{text!a}: {got!a}, the library {expected!a}"
    vocab = theirs.get_vocab(with_added_tokens=True)
    every, spelled = list(vocab.values()), [i for name, i in vocab.items() if name.startswith("<0x")]
    for _ in range(N_TEXTS):
        ids = [random.choice(random.choice((every, spelled or every))) for _ in range(random.choice((0, 1, 3, 9)))]
        got, expected = (tokenizer.decode(ids, skip_special_tokens=False) for tokenizer in (ours, theirs))
        if got != expected:
            return f"{ids}: {got!a}, the library {expected!a}"
    if random.random() < 0.4:
        copied = random.choice(COPIES)
        ours = ours if alone else copied(ours)
    for number in range(N_CALLS):
        call = random.choice(CALLS)(random)
        got = outcome(call, ours)
        if isinstance(got, LACKING):
            continue
        expected = outcome(call, theirs)
        if differs(got, expected):
            return f"call {number}: {got!a}, the library {expected!a}"
        if _panicked(expected) or _share_a_form(ours):
            break
    return ALIKE


def _panicked(answer: object) -> bool:
    """Whether the library's state is undefined from here."""
    return type(answer).__name__ == "PanicException"


def _shown(tokenizer: Any, text: str) -> dict[str, Any]:
    return shown(tokenizer.encode(text))


def _share_a_form(tokenizer: Any) -> bool:
    if isinstance(tokenizer, tokenizers.Tokenizer):
        return False
    added = tokenizer.pipeline.added
    forms = [added.names[i] for i, token in added.by_id.items() if token.normalized]
    return len(set(forms)) < len(forms) or "" in forms


def verdicts(seeds: Iterable[int]) -> dict[int, str]:
    """Return the verdict on each seed, found in another process: the library aborts its own on some texts."""
    verdict_of_seed: dict[int, str] = {}
    with functions(LIMITS) as session:
        for seed in seeds:
            answer = session.call(verdict, seed)
            if isinstance(answer, Answer):
                verdict_of_seed[seed] = answer.value
            else:
                alone = isinstance(session.call(partial(verdict, alone=True), seed), Answer)
                verdict_of_seed[seed] = f"{answer}, and not of the library alone" if alone else REFUSED
    return verdict_of_seed


# --- calls -------------------------------------------------------------------------------------------------------


def text(rng: Random, longest: int = 5) -> str:
    return "".join(rng.choices(PARTS, k=rng.randrange(longest)))


def words(rng: Random) -> list[str]:
    return [text(rng, 4) for _ in range(rng.randrange(4))]


def _settings(rng: Random) -> Call:
    kind = rng.randrange(8)
    side, strategy = rng.choice(("left", "right")), rng.choice(("longest_first", "only_first", "only_second"))
    if kind < 3:
        length, stride = rng.choice((0, 1, 6, 7, 8, 9, 12, 20)), rng.choice((0, 0, 1, 2))
        return lambda t: t.enable_truncation(length, stride=stride, strategy=strategy, direction=side)
    if kind < 5:
        options = {
            "direction": side,
            "length": rng.choice((None, None, 0, 3, 10)),
            "pad_to_multiple_of": rng.choice((None, None, 0, 4)),
            **rng.choice(({}, {"pad_id": 7, "pad_type_id": 3, "pad_token": "P"})),
        }
        return lambda t: t.enable_padding(**options)
    if kind == 5:
        return lambda t: t.no_truncation()
    if kind == 6:
        return lambda t: t.no_padding()
    as_text = rng.random() < 0.5
    return lambda t: setattr(t, "encode_special_tokens", as_text)


def _processing(rng: Random) -> Call:
    first, last = ("<m>", rng.randrange(800)), ("<n>", 501)
    trimming = processors.ByteLevel(trim_offsets=rng.random() < 0.8, add_prefix_space=rng.random() < 0.5)
    template = processors.TemplateProcessing(
        single=rng.choice(("<m> $A <n>", "$A", "$A:2 both:1", "<m> <n>:3 $A $A:1", "<m>")),
        pair=rng.choice(("<m> $A <n> $B:1 <n>:1", "$B $A:1", "$A both:1 $B", "$A $B:4 $A:1")),
        special_tokens=[first, last, {"id": "both", "ids": [first[1], 501], "tokens": ["<m>", "<n>"]}],
    )
    trims, prefix = rng.random() < 0.7, rng.random() < 0.5
    roberta = processors.RobertaProcessing(last, first, trim_offsets=trims, add_prefix_space=prefix)
    whole = rng.choice((template, roberta, processors.BertProcessing(last, first)))
    steps = rng.choice(([trimming, whole], [whole, trimming], [trimming, trimming], [template]))
    given = rng.choice((None, whole, trimming, processors.Sequence(steps)))
    return lambda t: setattr(t, "post_processor", given)


def _adding(rng: Random) -> Call:
    plain, flagged, special = rng.choice(PARTS), rng.choice(PARTS), rng.random() < 0.4
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    flags = {name: rng.random() < 0.5 for name in names if rng.random() < 0.4}

    def call(t: Any) -> Any:
        token = (hf if isinstance(t, hf.Tokenizer) else tokenizers).AddedToken(flagged, **flags)
        return (t.add_special_tokens if special else t.add_tokens)([plain, token])

    return call


def _encoding(rng: Random) -> Call:
    kind, adds = rng.randrange(4), rng.random() < 0.7
    if kind == 0:
        batch = [rng.choice((text(rng), (text(rng), text(rng)))) for _ in range(rng.randrange(4))]
        method = rng.choice(("encode_batch", "encode_batch_fast"))
        return lambda t: [shown(e) for e in getattr(t, method)(batch, add_special_tokens=adds)]
    if kind == 1:
        many, pair = words(rng), rng.choice((None, words(rng)))
        return lambda t: shown(t.encode(many, pair, is_pretokenized=True, add_special_tokens=adds))
    one, other = text(rng), rng.choice((None, text(rng)))
    if kind == 2:
        return lambda t: shown(t.post_process(t.encode(one, add_special_tokens=False), t.encode(other or "")))
    return lambda t: shown(t.encode(one, other, add_special_tokens=adds))


def _places(rng: Random) -> Call:
    one, other = text(rng), text(rng)
    token, word, character, of = rng.randrange(12), rng.randrange(6), rng.randrange(9), rng.randrange(3)

    def call(t: Any) -> Any:
        e = t.encode(one, other)
        answer = (e.char_to_token(character, of), e.char_to_word(character, of), e.token_to_chars(token))
        return (*answer, e.token_to_word(token), e.word_to_tokens(word, of), e.word_to_chars(word, of))

    return call


def _decoding(rng: Random) -> Call:
    ids, skips = [rng.randrange(800) for _ in range(rng.randrange(6))], rng.random() < 0.5
    return lambda t: (t.decode(ids, skip_special_tokens=skips), t.decode_batch([ids, ids[1:]]))


def _asking(rng: Random) -> Call:
    def call(t: Any) -> Any:
        written = json.loads(t.to_str())
        return (
            t.get_vocab(),
            t.get_vocab(with_added_tokens=False),
            t.get_vocab_size(),
            t.get_vocab_size(with_added_tokens=False),
            [
                None if part is None else part.num_special_tokens_to_add(is_pair)
                for part in (t, t.post_processor)
                for is_pair in (False, True)
            ],
            {i: (token.__getstate__(), repr(token)) for i, token in t.get_added_tokens_decoder().items()},
            (t.truncation, t.padding, t.encode_special_tokens),
            [t.id_to_token(i) for i in range(800)],
            [t.token_to_id(part) for part in PARTS],
            {name: written[name] for name in ("truncation", "padding", "added_tokens", "post_processor")},
        )

    return call


CALLS = (*[_settings] * 5, *[_processing] * 2, _adding, *[_encoding] * 9, *[_places] * 2, *[_decoding] * 3, _asking)
COPIES: tuple[Callable[[hf.Tokenizer], hf.Tokenizer], ...] = (
    copy.deepcopy,
    lambda t: pickle.loads(pickle.dumps(t)),
    lambda t: hf.Tokenizer.from_str(t.to_str(), implementation=t.implementation.name),
    lambda t: hf.Tokenizer.from_buffer(t.to_str().encode(), implementation=t.implementation.name),
)
