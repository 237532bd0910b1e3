"""Streaming decode: the text of `decode`, each character when no further ids can change it, and no sooner."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from os.path import commonprefix
from typing import Any

import pytest
from foreign import foreign
from refusals import refused
from sentencepiece_models import pieces_model

import impls
from impls import Model, TrainingSpec
from impls.core.text.decoder_steps import MARKS, STRIP
from impls.interface import Tokenizer
from impls.plugin import wrap

BYTES = impls.train(
    "naive", ["çay 日本 😀 çay 日本 \ufffd<s>"] * 3, TrainingSpec(vocab_size=276, special_tokens=("<s>",))
).model
END_OF_WORD = impls.train(
    "naive",
    ["low lower çay"] * 3,
    TrainingSpec(vocab_size=20, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s+"),
).model


def pieces(**fields: Any) -> Model:
    """A SentencePiece model: marks, letters, and byte tokens."""
    return pieces_model("▁ ▁a ▁▁a a b ç ▁▁", "", **fields)


FEW = {"byte_tokens": (*range(0x84), *range(0xC0, 256))}
FAMILIES = {
    "bytes": BYTES,
    "bytes with unknown": BYTES.with_(unknown="<unk>", unknown_id=400, added_tokens={"[ç]": 401}),
    "end of word": END_OF_WORD,
    "sentencepiece": pieces(),
    "sentencepiece, extra spaces": pieces(remove_extra_spaces=True),
    "runs of bytes": pieces().with_(decoder=f"{MARKS}+byte-fallback+fuse+{STRIP}"),
    "runs of few bytes": pieces(**FEW).with_(decoder="byte-fallback+fuse"),
    "no decoder": pieces().with_(decoder="spaces"),
    "ends of words": END_OF_WORD.with_(decoder='suffix("</w>")'),
    "sentencepiece, no prefix": pieces(dummy_prefix="never"),
    "sentencepiece, few bytes": pieces(**FEW),
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def tokenizer_of(model: Model, name: str = "priority") -> Tokenizer:
    return impls.load(name, model)


def bytes_id(model: Model, byte: int) -> int:
    """The id of a byte, or -1."""
    if model.sentencepiece is not None:
        return model.sentencepiece.byte_ids[byte]
    return model.id_by_token[bytes([byte])] if model.alphabet == "bytes" else -1


def interesting_ids(model: Model) -> list[int]:
    """Whole tokens of every kind, and bytes that begin, continue or break a character in every way."""
    ids = [i for i in model.bytes_by_id() if i >= 256][:20] if model.alphabet == "bytes" else []
    if model.alphabet == "chars":
        ids += list(model.id_by_token.values())
    ids += [*model.whole_token_ids.values(), *([] if model.unknown_id is None else [model.unknown_id])]
    some = (0x41, 0x20, 0x80, 0x90, 0xA0, 0xBF, 0xBD, 0xC3, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF4, 0xFF)
    ids += [i for byte in some if (i := bytes_id(model, byte)) != -1]
    return list(dict.fromkeys(ids))


def certain_text(tokenizer: Tokenizer, ids: Sequence[int], following: Sequence[Sequence[int]]) -> str:
    """The definition, by trying: what `decode` begins with whatever follows."""
    return commonprefix([tokenizer.decode([*ids, *more]) for more in ((), *following)])  # noqa: RUF071


def continuations(model: Model) -> list[tuple[int, ...]]:
    """All that may follow, as far as it matters: any one token, and any bytes that complete a character."""
    every = list(model.bytes_by_id())
    inner = [i for byte in (0x80, 0x83, 0x90, 0xA0, 0xBF) if (i := bytes_id(model, byte)) != -1]
    return [(i,) for i in every] + [more for n in (2, 3) for more in product(inner, repeat=n)]


def check_stream(
    tokenizer: Tokenizer, decoder: Any, pushes: Sequence[Sequence[int]], following: Sequence[Sequence[int]]
) -> None:
    """Assert that after each push all certain text, and no other, was returned, and in the end all of it."""
    ids: list[int] = []
    text = ""
    for pushed in pushes:
        ids += pushed
        text += decoder.push(pushed)
        assert text == certain_text(tokenizer, ids, following), ids
    text += decoder.finish()
    assert text == tokenizer.decode(ids), ids


def streams(model: Model, n: int, seed: int) -> Iterator[list[list[int]]]:
    """Random streams, cut into pushes of none, one and several ids."""
    rng = random.Random(seed)
    ids = interesting_ids(model)
    for _ in range(n):
        yield [rng.choices(ids, k=rng.choice((0, 1, 1, 1, 2, 3))) for _ in range(rng.randint(1, 5))]


def byte_streams(model: Model) -> Iterator[list[list[int]]]:
    """Three bytes, one a push: a byte that begins a character, and two that continue or break it."""
    others = (0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xED, 0xF0)
    for data in product((0xC2, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4), others, others):
        yield [[bytes_id(model, byte)] for byte in data]


@every_family
def test_each_character_is_returned_as_soon_as_no_ids_can_change_it(family: str, fuzz: int) -> None:
    model = FAMILIES[family]
    tokenizer, following = tokenizer_of(model), continuations(model)
    for pushes in streams(model, 60 * fuzz, 1):
        check_stream(tokenizer, tokenizer.decoder(), pushes, following)


def test_a_begun_character_is_kept_back_exactly_as_long_as_it_can_be_completed() -> None:
    model = BYTES
    tokenizer = tokenizer_of(model)
    following = [more for more in continuations(model) if len(more) > 1]
    following += [(bytes_id(model, byte),) for byte in (0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF)]
    for pushes in byte_streams(model):
        check_stream(tokenizer, tokenizer.decoder(), pushes, following)


@every_family
def test_the_whole_is_the_text_of_decode_whatever_other_decoders_of_the_tokenizer_read(family: str, fuzz: int) -> None:
    model = FAMILIES[family]
    tokenizer, rng = tokenizer_of(model), random.Random(5)
    special = set(model.special_tokens.values())
    ids_of_model = [*interesting_ids(model), *model.bytes_by_id()]
    for _ in range(300 * fuzz):
        errors = rng.choice(("replace", "ignore", "surrogatepass", "surrogateescape", "backslashreplace"))
        skip_special, ids = rng.random() < 0.5, rng.choices(ids_of_model, k=12)
        kept = [i for i in ids if not (skip_special and i in special)]
        try:
            expected = tokenizer.decode(kept, errors)
        except UnicodeDecodeError:  # some bytes are no surrogate either
            continue
        decoder = tokenizer.decoder(errors, skip_special)
        size = rng.choice((1, 1, 3))
        pushed = "".join([decoder.push(rng.choice((list, tuple))(ids[at : at + size])) for at in range(0, 12, size)])
        assert pushed + decoder.finish() == expected, (errors, skip_special, ids)


def test_a_token_that_only_one_handler_reads_is_read_anew_by_each_decoder() -> None:
    tokens = (*BYTES.tokens[:256], b"\xed\xa0", b"\xed\xa0\x80")
    tokenizer = tokenizer_of(Model(tokens=tokens, merges=((0xED, 0xA0), (256, 0x80))))
    decoders = [tokenizer.decoder(errors) for errors in ("surrogatepass", "surrogatepass", "replace", "ignore")]
    assert [decoder.push([257]) for decoder in decoders] == ["\ud800", "\ud800", "\ufffd" * 3, ""]


# --- errors ------------------------------------------------------------------------------------------------------


def test_an_unknown_id_is_named_by_its_place_in_the_stream_and_nothing_of_the_push_is_kept() -> None:
    decoder = tokenizer_of(BYTES).decoder()
    assert decoder.push([0xE2, 0x82]) == ""
    refused(impls.UnknownId, "unknown token id 5000 at position 3", decoder.push, [0x41, 5000])
    refused(TypeError, "ids", decoder.push, ["1"])
    assert decoder.push([0xAC, 0x41]) == "€A"
    assert decoder.finish() == ""


def test_strict_raises_as_soon_as_it_is_certain_and_leaves_the_decoder_as_it_was() -> None:
    decoder = tokenizer_of(BYTES).decoder("strict")
    assert decoder.push([0x41, 0xED]) == "A"
    refused(UnicodeDecodeError, None, decoder.push, [0xA0])
    assert decoder.push([0x9F, 0xBF]) == "\ud7ff"
    assert decoder.push([0xC3]) == ""
    refused(UnicodeDecodeError, None, decoder.finish)


def test_a_finished_decoder_takes_no_more_ids() -> None:
    decoder = tokenizer_of(BYTES).decoder()
    assert decoder.push([0xC3]) == ""
    assert (decoder.finish(), decoder.finish()) == ("\ufffd", "")
    refused(ValueError, "finished", decoder.push, [65])


def test_wrong_arguments_are_refused() -> None:
    tokenizer = tokenizer_of(BYTES)
    refused(LookupError, "unheard", tokenizer.decoder, "unheard")
    refused(TypeError, "errors must be a str", tokenizer.decoder, None)
    refused(TypeError, "stop must be several texts, not one str", tokenizer.decoder, stop="a")
    refused(TypeError, r"stop\[1\] must be a str", tokenizer.decoder, stop=["a", 1])
    refused(ValueError, r"stop\[0\] is empty", tokenizer.decoder, stop=[""])


def test_what_does_not_decode_by_its_model_says_so() -> None:
    reverses = foreign(decode=lambda ids: bytes(ids[::-1]).decode())
    refused(impls.Unsupported, "reversed: it decodes by its own rule", wrap("reversed", reverses)(BYTES).decoder)
