"""What the library provides and `bpebench.hf` does not: each name raises `NotProvided`, saying what to do instead."""

from __future__ import annotations

from typing import Never

from impls.core.errors import BPEError

_CUSTOM = "parts are those that a tokenizer.json can hold, not Python code"
_INSTEAD = {
    "module": {
        "use the library's own, which are accepted here": "decoders models normalizers pre_tokenizers processors "
        "trainers Regex",
        _CUSTOM: "NormalizedString PreTokenizedString Token OffsetReferential OffsetType SplitDelimiterBehavior",
        "build it as Tokenizer(models.BPE()) and set its parts": "ByteLevelBPETokenizer CharBPETokenizer "
        "SentencePieceBPETokenizer implementations",
        "this is byte pair encoding only": "BertWordPieceTokenizer SentencePieceUnigramTokenizer",
        "it is a type alias of the library": "EncodeInput InputSequence PreTokenizedEncodeInput "
        "PreTokenizedInputSequence Offsets TextEncodeInput TextInputSequence",
    },
    "Tokenizer": {
        f"await asyncio.to_thread(tokenizer.{name}, …)": f"async_{name}"
        for name in ("encode", "encode_batch", "encode_batch_fast", "decode_batch")
    },
    "Encoding": {"word_ids is the same": "words"},
    "BPE": {
        "tokenizer.encode encodes": "tokenize",
        "tokenizer.token_to_id is the same": "token_to_id",
        "tokenizer.id_to_token is the same": "id_to_token",
        "bpebench.train trains": "get_trainer",
        "tokenizer.save writes a tokenizer.json": "save",
        "bpebench.load_model reads the folder of vocab.json and merges.txt": "from_file read_file",
    },
    "Normalizer": {"normalize_str takes and returns a str": "normalize", _CUSTOM: "custom"},
    "PreTokenizer": {"pre_tokenize_str takes a str and returns its pieces": "pre_tokenize", _CUSTOM: "custom"},
    "Decoder": {_CUSTOM: "custom"},
}
NOT_PROVIDED = {
    kind: {name: instead for instead, names in given.items() for name in names.split()}
    for kind, given in _INSTEAD.items()
}
"""Class -> name -> what to do instead."""


class NotProvided(BPEError, AttributeError):
    """A name of the library that `bpebench.hf` does not provide."""

    def __init__(self, name: str, instead: str) -> None:
        self.name, self.instead = name, instead
        super().__init__(f"bpebench.hf: {name} is not provided; {instead}")


def refuse(of: str, name: str) -> Never:
    """Raise `NotProvided` if the class `of` has `name` in the library but not here, else AttributeError."""
    if instead := NOT_PROVIDED[of].get(name):
        raise NotProvided(name if of == "module" else f"{of}.{name}", instead)
    raise AttributeError(f"bpebench.hf: the {of} has no attribute {name!r}")


def no_items(part: object, index: object) -> Never:
    """Raise `NotProvided`: the method `__getitem__` of a part, whose steps are items in the library."""
    raise NotProvided(
        f"{type(part).__name__}[{index!r}]", "set the part to another one; tokenizer.to_str() shows its steps"
    )
