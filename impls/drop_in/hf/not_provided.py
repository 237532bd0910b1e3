"""What the library provides and `bpebench.hf` does not: each name raises `NotProvided`, saying what to do instead."""

from __future__ import annotations

from typing import Never

from impls.core.errors import BPEError

_CUSTOM = "a part is what a tokenizer.json can hold, not Python code"
_MADE = "Tokenizer(models.BPE()) takes the parts that make it"
_GIVEN = "the library's own objects may be given and set"
_ALIAS = "it is a type alias of the library"
NOT_PROVIDED = {
    "module": {
        **dict.fromkeys(
            ("decoders", "models", "normalizers", "pre_tokenizers", "processors", "trainers", "Regex"), _GIVEN
        ),
        **dict.fromkeys(("NormalizedString", "PreTokenizedString", "Token"), _CUSTOM),
        **dict.fromkeys(("OffsetReferential", "OffsetType", "SplitDelimiterBehavior"), _CUSTOM),
        **dict.fromkeys(("ByteLevelBPETokenizer", "CharBPETokenizer", "SentencePieceBPETokenizer"), _MADE),
        **dict.fromkeys(("BertWordPieceTokenizer", "SentencePieceUnigramTokenizer"), "this is byte pair encoding only"),
        "implementations": _MADE,
        **dict.fromkeys(
            ("EncodeInput", "InputSequence", "PreTokenizedEncodeInput", "PreTokenizedInputSequence"), _ALIAS
        ),
        **dict.fromkeys(("Offsets", "TextEncodeInput", "TextInputSequence"), _ALIAS),
    },
    "Tokenizer": {
        f"async_{name}": f"await asyncio.to_thread(tokenizer.{name}, …)"
        for name in ("encode", "encode_batch", "encode_batch_fast", "decode_batch")
    },
    "Encoding": {"words": "word_ids is the same"},
    "BPE": {
        "tokenize": "tokenizer.encode encodes",
        "token_to_id": "tokenizer.token_to_id is the same",
        "id_to_token": "tokenizer.id_to_token is the same",
        "get_trainer": "bpebench.train trains",
        "save": "tokenizer.save writes a tokenizer.json",
        "from_file": "impls.formats.load reads vocab.json with merges.txt",
        "read_file": "impls.formats.load reads vocab.json with merges.txt",
    },
    "Normalizer": {"normalize": "normalize_str takes and returns a str", "custom": _CUSTOM},
    "PreTokenizer": {"pre_tokenize": "pre_tokenize_str takes a str and returns its pieces", "custom": _CUSTOM},
    "Decoder": {"custom": _CUSTOM},
}
"""Class -> name -> what to do instead."""


class NotProvided(BPEError, AttributeError):
    """A name of the library that `bpebench.hf` does not provide."""

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead
        super().__init__(f"bpebench.hf: {name} is not provided; {instead}")


def refuse(of: str, name: str) -> None:
    """Raise `NotProvided` if the class `of` has `name` in the library but not here."""
    if name in NOT_PROVIDED[of]:
        raise NotProvided(name if of == "module" else f"{of}.{name}", NOT_PROVIDED[of][name])


def no_items(part: object, index: object) -> Never:
    """Raise `NotProvided`: the method `__getitem__` of a part, whose steps are items in the library."""
    raise NotProvided(
        f"{type(part).__name__}[{index!r}]", "set the part to another one; tokenizer.to_str() shows its steps"
    )
