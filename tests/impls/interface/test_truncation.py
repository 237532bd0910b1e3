"""Counting up to a limit and truncating: what the whole text's ids say, from a head of it, in every implementation."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

import pytest
import regex
from refusals import refused
from sentencepiece_models import pieces_model

import impls
from impls import Model, TrainingSpec
from impls.core.text.text import repair_surrogates
from impls.interface import Tokenizer
from impls.operations.truncation import Side, Whole, ids_of_part

LEARNED = ["I'll don't hello  world 日本語 çay 😀\r\n\n  x = 12345; <s>\t\t\t\t\t\t"] * 3
SIDES: tuple[Side, ...] = ("right", "left")
WHOLES: tuple[Whole, ...] = ("token", "character", "word")
FRAGMENTS = [
    " ", "  ", " " * 40, "\n", "\r\n", " \n \n", "\t", "a", "I'll", "'LL", "don't", "hello", " world", "12345", "çay",
    "日本語", "e\u0301", "\u0301" * 3, "😀", "👩\u200d👧", "🇹🇷", "<s>", "[x]", "x\ny", ";;;///", "\u3000", "3.14",
    "ABCdef", "\ud83d", "▁", "ﬁ",
]  # fmt: skip


def of_pattern(pattern: str) -> Model:
    spec = TrainingSpec(vocab_size=300, pattern=pattern, special_tokens=("<s>",))
    return impls.train("naive", LEARNED, spec).model


def sentencepiece_model(**rules: Any) -> Model:
    """Merges of a few letters and marks, and byte tokens for everything else."""
    return pieces_model("▁ a h e l o w 日 本 ▁h el ▁a lo 日本 ▁▁", "▁+h e+l ▁+a l+o 日+本 ▁+▁", **rules)


WORDS = TrainingSpec(vocab_size=60, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s+", unknown="<unk>")
MODELS: dict[str, Callable[[], Model]] = {
    **{name: (lambda name=name: of_pattern(name)) for name in ("gpt2", "cl100k", "o200k", "deepseek", "turkish")},
    "none": lambda: of_pattern("none"),
    "pattern of a file": lambda: of_pattern(r"\s+(?!\S)|\s+|\S{1,7}"),
    "added": lambda: of_pattern("gpt2").with_(added_tokens={"[x]": 400, "x\ny": 401}),
    "nfc and prefix": lambda: of_pattern("gpt2").with_(normalization="nfc+prefix-space"),
    "end of word": lambda: impls.train("naive", LEARNED, WORDS).model,
    "sentencepiece": sentencepiece_model,
    "sentencepiece, extra spaces": lambda: sentencepiece_model(remove_extra_spaces=True),
}
every_model = pytest.mark.parametrize("model", MODELS)
every_implementation = pytest.mark.parametrize("name", impls.default_names())


@cache
def loaded(name: str, model: str) -> Tokenizer:
    return impls.load(name, MODELS[model]())


_AS_LONG = " worldçayx\ny \n \n \n \nx\ny \n \n"
"""The end of word adds as many spaces to it as there are characters without a token."""


def random_texts(n: int, n_fragments: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    texts = []
    for _ in range(n):
        some = rng.sample(FRAGMENTS, rng.randint(1, 8))
        texts.append("".join(rng.choices(some, k=rng.randint(1, n_fragments))))
    return texts


def by_definition(tokenizer: Tokenizer, text: str, n_tokens: int, side: Side, whole: Whole) -> str:
    """Try all places of the whole text, from the one that keeps most."""
    ids = tokenizer.encode(text, disallowed_special=())
    if len(ids) <= n_tokens:
        return text
    full = repair_surrogates(text) if tokenizer.model.round_trip == "exact" else tokenizer.decode(ids)
    sizes = [len(tokenizer.decode_bytes(ids[:k] if side == "right" else ids[len(ids) - k :])) for k in range(len(ids))]
    cuts = {found.start() for found in regex.finditer(r"(?w)\b", full)}
    for n in range(len(full), 0, -1):
        kept, place = (full[:n], n) if side == "right" else (full[len(full) - n :], len(full) - n)
        size = len(kept.encode())
        allowed = {"token": size in sizes[: n_tokens + 1], "character": True, "word": place in cuts}[whole]
        if size <= sizes[n_tokens] and allowed and len(tokenizer.encode(kept, disallowed_special=())) <= n_tokens:
            return kept
    return ""


def check_truncation(tokenizer: Tokenizer, texts: Sequence[str], limits: Sequence[int]) -> None:
    exact, lossy = tokenizer.model.round_trip == "exact", tokenizer.model.round_trip == "lossy"
    for text in texts:
        for n_tokens in limits:
            for side in SIDES:
                for whole in WHOLES:
                    cut = tokenizer.truncate(text, n_tokens, side=side, whole=whole)
                    longest = by_definition(tokenizer, text, n_tokens, side, whole)
                    if lossy:  # not every place is tried
                        longest = longest[: len(cut)] if side == "right" else longest[len(longest) - len(cut) :]
                    assert cut == longest, (text, n_tokens, side, whole)
                    assert tokenizer.fits(cut, n_tokens)
                    assert not exact or cut in (text, repair_surrogates(text)[: len(cut)]) or side == "left"


def some_over(model: str) -> Iterator[Tokenizer]:
    """Yield `compiled` and two others over a model: all of them in turn, over one model after the other."""
    names, number = impls.default_names(), list(MODELS).index(model)
    for name in dict.fromkeys(("compiled", *(names[(2 * number + k) % len(names)] for k in range(2)))):
        with suppress(impls.Unsupported):
            yield impls.load(name, MODELS[model]())


@pytest.mark.parametrize("least", [1_000, 0])
@every_model
def test_truncating_keeps_what_the_ids_of_the_whole_text_say(
    model: str, least: int, fuzz: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("cut_piece", "truncation"):
        monkeypatch.setattr(f"impls.operations.{module}.LEAST", least)
    for tokenizer in some_over(model):
        check_truncation(tokenizer, [_AS_LONG, *random_texts(6 * fuzz, 12, 1)], (0, 1, 2, 5, 9))


def check_first_ids(tokenizer: Tokenizer, texts: Sequence[str], limits: Sequence[int]) -> None:
    """Assert that a head of the text gives its first ids, the end its last ones, and a count up to a limit."""
    for text in texts:
        ids = tokenizer.encode(text, disallowed_special=())
        assert tokenizer.count(text) == len(ids)
        for limit in limits:
            first, last = (ids_of_part(tokenizer, text, limit, begins=begins) or ids for begins in (True, False))
            assert first == ids[: len(first)], (text, limit)
            assert last == ids[len(ids) - len(last) :], (text, limit)
            assert min(len(first), len(last)) >= min(len(ids), limit + 1), (text, limit)
            assert tokenizer.count(text, at_most=limit) == min(len(ids), limit + 1)
            assert tokenizer.fits(text, limit) == (len(ids) <= limit)


@every_model
def test_a_head_of_a_long_text_gives_its_first_ids(model: str, fuzz: int) -> None:
    for tokenizer in some_over(model):
        if tokenizer.name not in ("naive", "bytelevel"):  # their time grows with the square of a piece
            check_first_ids(tokenizer, random_texts(3 * fuzz, 500, 2), (0, 3, 40))


def test_the_text_of_the_first_ids_alone_does_not_always_fit() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b"b\xc3", b"ab\xc3"]
    tokenizer = impls.load("priority", Model(tokens=tuple(tokens), merges=((98, 0xC3), (97, 256))))
    assert tokenizer.encode("abé") == [257, 0xA9]
    assert tokenizer.encode("ab") == [97, 98]
    assert tokenizer.truncate("abé", 1, whole="character") == "a"
    assert tokenizer.truncate("abé", 1) == ""


def recorded(tokenizer: Tokenizer, patch: pytest.MonkeyPatch) -> list[int]:
    """Return the list to which the sizes of all texts are added that it encodes or counts from now on."""
    given: list[int] = []
    inside: list[str] = []
    for method in ("encode", "encode_array", "encode_normalized", "count"):
        real = getattr(tokenizer, method)

        def recording(text: str, *limit: int, real: Any = real, **options: Any) -> Any:
            if limit or "at_most" in options:  # it counts parts of the text
                return real(text, *limit, **options)
            given.extend([] if inside else [len(text)])
            inside.append(text)
            try:
                return real(text, **options)
            finally:
                inside.pop()

        patch.setattr(tokenizer, method, recording, raising=False)
    return given


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("naive", "gpt2"), ("bytelevel", "cl100k"), ("tiktoken", "o200k"), ("tokenizers", "deepseek"),
        ("sentencepiece", "gpt2"), ("naive", "sentencepiece"),
        *(("compiled", model) for model in ("gpt2", "cl100k", "o200k", "deepseek", "sentencepiece")),
    ],
)  # fmt: skip
def test_of_a_long_text_only_a_head_is_encoded(name: str, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = loaded(name, model)
    given = recorded(tokenizer, monkeypatch)
    for text in ("hello world 日本 " * 50_000, "hello\nworld 日本 " * 50_000):
        assert tokenizer.count(text, at_most=100) == 101
        assert not tokenizer.fits(text, 100)
        for whole in WHOLES:
            assert text.startswith(tokenizer.truncate(text, 100, whole=whole).strip() or "no")
        assert sum(given) < 60_000, given
        given.clear()


LETTERS = random.Random(7).choices("abcdefghijklmnopqrstuvwxyz", k=1_000_000)
LONG_PIECES = {
    "one letter": "x" * 1_000_000,
    "blanks": " " * 1_000_000,
    "random letters": "".join(LETTERS),
    "Thai": "".join(map(chr, random.Random(8).choices(range(0x0E01, 0x0E2F), k=1_000_000))),
}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("model", "kind", "most"),
    [
        *(("cl100k_base", kind, 1) for kind in LONG_PIECES),
        ("mistral-v1", "one letter", 3),  # the space before an end shifts all tokens after it
        ("deepseek", "one letter", 2),  # by its pattern, what is near a cut does not tell
    ],
)
def test_a_call_with_a_limit_encodes_hardly_more_than_the_text(
    model: str, kind: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.data import load_model

    tokenizer = impls.load("compiled", load_model(model))
    tokenizer.truncate("hello world " * 1_000, 1)  # prepares the certain places
    tokenizer.truncate(LONG_PIECES[kind][:60_000], 5_000)  # and the states of the pattern's automaton
    for n_characters in (120_000, *([1_000_000] if kind == "random letters" else [])):
        text = LONG_PIECES[kind][:n_characters]
        n_ids = len(tokenizer.encode(text, disallowed_special=()))
        given = recorded(tokenizer, monkeypatch)
        calls: list[Callable[[int], object]] = [
            partial(tokenizer.count, text),
            partial(tokenizer.fits, text),
            *(partial(tokenizer.truncate, text, side=side, whole=whole) for side in SIDES for whole in WHOLES),
        ]
        for call in calls:
            for limit in (0, 1, 1_000, n_ids // 2, n_ids - 1, n_ids):
                call(limit)
                assert sum(given) <= 1.01 * n_characters * most, (call, limit)
                given.clear()


def test_a_text_that_a_model_loses_is_not_encoded_once_for_each_place(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, counted = impls.load("priority", MODELS["end of word"]()), list[str]()
    encode = type(tokenizer).encode
    monkeypatch.setattr(
        type(tokenizer), "encode", lambda self, text, **how: counted.append(text) or encode(self, text, **how)
    )
    for side in SIDES:
        for whole in WHOLES:
            counted.clear()
            kept = tokenizer.truncate("\u4e00" * 500, 400, side=side, whole=whole)
            assert len(kept) >= 50
            assert len(encode(tokenizer, kept, disallowed_special=())) <= 400
            assert len(counted) < 25


def test_what_is_cut_where() -> None:
    tokenizer = impls.load("priority", Model(tokens=tuple(bytes([byte]) for byte in range(256))))
    text = "naïve café"  # each byte is a token
    assert tokenizer.truncate(text, 3) == tokenizer.truncate(text, 3, whole="character") == "na"
    assert tokenizer.truncate(text, 4) == "naï"
    assert tokenizer.truncate(text, 7, whole="word") == "naïve "
    assert tokenizer.truncate(text, 5, whole="word") == ""
    assert tokenizer.truncate(text, 1, side="left") == ""
    assert tokenizer.truncate(text, 4, side="left") == "afé"
    assert tokenizer.truncate(text, 5, side="left", whole="word") == "café"


def test_wrong_arguments_are_refused() -> None:
    tokenizer = loaded("priority", "gpt2")
    refused(ValueError, "side must be one of right, left, not 'top'", tokenizer.truncate, "a", 1, side="top")
    with pytest.raises(ValueError, match="whole must be one of token, character, word, not 'line'"):
        tokenizer.truncate("a", 1, whole="line")  # type: ignore[arg-type]
    refused(ValueError, "at_most must be at least 0, not -1", tokenizer.count, "a", at_most=-1)
    refused(TypeError, "n_tokens must be a whole number, not None", tokenizer.fits, "a", None)
    refused(TypeError, "text must be a str, not None", tokenizer.fits, None, 3)
