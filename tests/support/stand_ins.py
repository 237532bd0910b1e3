"""Stand-ins for the peers' libraries: the calls an adapter makes, answered by `priority` over what it handed over.

A stand-in reads the rank file or tokenizer.json by our own formats, and refuses texts and ids the way its library does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from stand_in_engine import Engine, SentencePieceEngine, arrays, awkward, panicking, raising_type_error
from stand_in_trainers import ffbpe_trainer, gigabpe_trainer, gigatoken_trainer, trained

from impls import Model
from impls.core.text.byte_alphabet import from_printable
from impls.core.text.patterns import NAMED
from impls.formats.tiktoken_ranks import write_tiktoken_ranks


def gigatoken(_: Model) -> SimpleNamespace:
    def tokenizer(engine: Engine) -> SimpleNamespace:
        def ids(given: str | bytes) -> np.ndarray:
            found = engine.ids_of_bytes(given) if isinstance(given, bytes) else engine.ids(given)
            return np.array(found, np.uint32)

        backend = SimpleNamespace(
            encode=raising_type_error(ids),
            encode_batch_list=lambda texts, parallel: raising_type_error(engine.batch)(texts),
            encode_batch=lambda texts, parallel: awkward(*raising_type_error(engine.flat)(texts)),
            decode=panicking(engine.data),
        )
        return SimpleNamespace(backend=backend)

    def from_tiktoken(path: str, pretokenizer: str, special_tokens: dict[str, int]) -> SimpleNamespace:
        assert not special_tokens
        pattern = {"gpt2": "gpt2", "gpt4": "cl100k", "o200k": "o200k"}[pretokenizer]
        return tokenizer(Engine.of_file(path, NAMED[pattern][0]))

    def from_json(content: bytes) -> SimpleNamespace:
        engine = Engine(content)
        if engine.model.pattern not in [NAMED[name] for name in ("gpt2", "cl100k", "o200k")]:
            raise RuntimeError("Unknown pre_tokenizer\n\nLocation:")
        return tokenizer(engine)

    def from_sentencepiece(content: bytes) -> SimpleNamespace:
        return tokenizer(SentencePieceEngine(content))

    forms = SimpleNamespace(from_tiktoken=from_tiktoken, from_json=from_json, from_sentencepiece=from_sentencepiece)
    return SimpleNamespace(Tokenizer=forms, **gigatoken_trainer())


def fastokens(_: Model) -> SimpleNamespace:
    def tokenizer(engine: Engine) -> SimpleNamespace:
        return SimpleNamespace(
            encode_ordinary=engine.encoding,
            encode_batch=engine.encodings,
            encode_batch_flat=engine.flat,
        )

    return SimpleNamespace(
        Tokenizer=SimpleNamespace(
            from_tiktoken=lambda path, pattern, special_tokens: tokenizer(Engine.of_file(path, pattern)),
            from_json_str=lambda text: tokenizer(Engine(text.encode())),
        )
    )


def splintr(_: Model) -> SimpleNamespace:
    def tokenizer(content: bytes, pattern: str | None = None) -> SimpleNamespace:
        engine = Engine(content, pattern)
        return SimpleNamespace(
            encode_ordinary=engine.ids,
            encode_flat=engine.buffer,
            encode_batch=lambda texts: engine.batch(list(texts)),
            encode_batch_flat=lambda texts: engine.flat(list(texts)),
            decode_bytes=engine.data,
        )

    return SimpleNamespace(Tokenizer=SimpleNamespace(from_bytes=tokenizer), from_json_bytes=tokenizer)


def kitoken(_: Model) -> SimpleNamespace:
    def tokenizer(engine: Engine) -> SimpleNamespace:
        return SimpleNamespace(encode=engine.ids, encode_all=engine.batch, decode=lambda ids, _: engine.data(ids))

    return SimpleNamespace(
        Kitoken=SimpleNamespace(
            from_tiktoken=lambda content: tokenizer(Engine(content)),
            from_tokenizers=lambda content: tokenizer(Engine(content)),
            from_sentencepiece=lambda content: tokenizer(SentencePieceEngine(content)),
        )
    )


def tokie(_: Model) -> SimpleNamespace:
    def from_json(path: str) -> SimpleNamespace:
        engine = Engine.of_file(path)
        return SimpleNamespace(
            encode=engine.encoding,
            encode_batch=engine.encodings,
            encode_bytes=engine.ids_of_bytes,
            count_tokens=engine.count,
            decode_bytes=panicking(engine.data),
        )

    return SimpleNamespace(Tokenizer=SimpleNamespace(from_json=from_json), TokieError=KeyError)


def iree(_: Model) -> SimpleNamespace:
    def from_buffer(content: bytes) -> SimpleNamespace:
        engine = Engine(content)
        return SimpleNamespace(
            encode=raising_type_error(engine.ids),
            encode_to_array=raising_type_error(lambda text: np.array(engine.ids(text), np.int32)),
            encode_batch=raising_type_error(lambda texts: engine.batch(list(texts))),
            decode=lambda ids: engine.careless_text(ids) or "\ufffd",
        )

    return SimpleNamespace(Tokenizer=SimpleNamespace(from_buffer=from_buffer))


def ffbpe(_: Model) -> SimpleNamespace:
    def encoder(unit: str, merges: list[Any], vocab: dict[bytes, int], pat_str: str) -> SimpleNamespace:
        engine = Engine(write_tiktoken_ranks(vocab), pat_str)
        assert unit == "byte"
        assert len(merges) == len(vocab) - 256
        return SimpleNamespace(
            encode=engine.ids,
            encode_to_numpy=lambda text: np.array(engine.ids(text), np.uint32),
            decode=lambda ids: engine.data(ids).decode(),
        )

    return SimpleNamespace(BpeEncoder=encoder, **ffbpe_trainer())


def wordchipper(model: Model) -> SimpleNamespace:
    def from_pretrained(name: str) -> SimpleNamespace:
        file = Path(os.environ["WORDCHIPPER_CACHE_DIR"]) / "openai" / name / f"{name}.tiktoken"
        engine = Engine(file.read_bytes(), model.pattern[0])
        return SimpleNamespace(
            specials=dict(model.special_tokens),
            encode=lambda text, _: engine.ids(text),
            encode_batch=lambda texts, _: engine.batch(texts),
            decode_bytes=engine.data,
        )

    return SimpleNamespace(
        Tokenizer=SimpleNamespace(from_pretrained=from_pretrained),
        SpecialFilter=SimpleNamespace(include_none=lambda: None),
    )


def rs_bpe(model: Model) -> SimpleNamespace:
    def cl100k_base() -> SimpleNamespace:
        engine = Engine.built_in(model)
        return SimpleNamespace(
            encode=engine.ids,
            count=engine.count,
            encode_batch_parallel=lambda texts, options: (engine.batch(texts), 0, 0.0, options["max_threads"]),
            decode=engine.careless_text,
        )

    return SimpleNamespace(openai=SimpleNamespace(cl100k_base=cl100k_base, ParallelOptions=dict))


def bpe_openai(model: Model) -> SimpleNamespace:
    def get_encoding(_: str) -> SimpleNamespace:
        engine = Engine.built_in(model)

        def encode_ordinary(text: str) -> list[int]:
            if len(text) >= 1_000_000:
                raise ValueError("Input too long to encode safely")
            return engine.ids(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))

        return SimpleNamespace(
            encode_ordinary=encode_ordinary,
            _encode_bytes=engine.ids_of_bytes,
            encode_ordinary_batch=lambda texts, num_threads: [encode_ordinary(text) for text in texts],
        )

    return SimpleNamespace(get_encoding=get_encoding, TokenLimitError=KeyError)


def snaptokens(_: Model) -> SimpleNamespace:
    def from_json_str(text: str) -> SimpleNamespace:
        engine = Engine(text.encode())
        return SimpleNamespace(encode=engine.encoding, encode_batch_flat=engine.flat)

    return SimpleNamespace(Tokenizer=SimpleNamespace(from_json_str=from_json_str))


def tuetoken(_: Model) -> SimpleNamespace:
    def tokenizer(path: str) -> SimpleNamespace:
        engine = Engine.of_file(path)

        def to_buffer(texts: list[str], threads: int) -> dict[str, Any]:
            ids, offsets = arrays(engine.flat(texts))
            return {"data": ids, "offsets": offsets}

        return SimpleNamespace(
            encode_ordinary=engine.ids,
            encode_to_bytes=engine.buffer,
            encode_ordinary_batch=lambda texts, threads: engine.batch(texts),
            encode_ordinary_to_buffer=to_buffer,
            count_tokens=engine.count,
        )

    return SimpleNamespace(Tokenizer=tokenizer)


def riptoken(_: Model) -> SimpleNamespace:
    def core(ranks: dict[bytes, int], specials: dict[str, int], pattern: str) -> SimpleNamespace:
        assert not specials
        engine = Engine(write_tiktoken_ranks(ranks), pattern)
        return SimpleNamespace(
            encode_ordinary=engine.ids, encode_ordinary_batch=engine.batch, decode_bytes=engine.careless_bytes
        )

    return SimpleNamespace(CoreBPE=core)


def morpheme(_: Model) -> SimpleNamespace:
    def from_str(text: str) -> SimpleNamespace:
        engine = Engine(text.encode())
        return SimpleNamespace(
            encode=engine.encoding,
            encode_batch=engine.encodings,
            count=engine.count,
        )

    return SimpleNamespace(Tokenizer=SimpleNamespace(from_str=from_str))


def omnitoken(_: Model) -> SimpleNamespace:
    return SimpleNamespace(Tokenizer=lambda path: SimpleNamespace(encode=Engine.of_file(path).ids))


def bpe_qwen(_: Model) -> SimpleNamespace:
    def tokenizer(folder: str) -> SimpleNamespace:
        vocab = json.loads(Path(folder, "vocab.json").read_text())
        assert Path(folder, "merges.txt").read_text().startswith("#version: 0.2\n")
        ranks = {from_printable(token): i for token, i in vocab.items()}
        engine = Engine(write_tiktoken_ranks(ranks), NAMED["qwen"][0])
        return SimpleNamespace(
            encode=engine.ids,
            encode_bytes=engine.buffer,
            encode_batch_parallel=lambda texts, workers: engine.batch(texts),
            count_tokens=engine.count,
        )

    return SimpleNamespace(QwenTokenizer=tokenizer)


def toktok(model: Model) -> SimpleNamespace:
    def encoding(_: str) -> SimpleNamespace:
        engine = Engine.built_in(model)

        def to_buffer(text: str, disallowed_special: tuple[str, ...]) -> bytes:
            assert disallowed_special == ()
            return engine.buffer(text)

        return SimpleNamespace(
            encode_ordinary=engine.ids,
            encode_to_buffer=to_buffer,
            encode_batch_to_numpy=lambda texts, threads: arrays(engine.flat(texts)),
            count=engine.count,
            decode_bytes=engine.careless_bytes,
        )

    return SimpleNamespace(_encoding=encoding)


def quicktok(model: Model) -> SimpleNamespace:
    def tokenizer(_: str) -> SimpleNamespace:
        engine = Engine.built_in(model)
        return SimpleNamespace(
            encode_ordinary=raising_type_error(engine.ids),
            encode_batch=raising_type_error(lambda texts, threads: arrays(engine.flat(texts))),
            count=raising_type_error(engine.count),
            decode_bytes=engine.data,
        )

    return SimpleNamespace(Tokenizer=tokenizer)


def bpeasy(_: Model | None) -> SimpleNamespace:
    def train_bpe(texts: Iterator[str], pattern: str, max_length: int, vocab_size: int) -> dict[bytes, int]:
        longest = max(2, max_length - 1)
        read: list[str] = []
        with suppress(Exception):
            read.extend(texts)
        model = trained(read, vocab_size, pattern, max_token_bytes=longest)
        return dict(reversed(model.id_by_token.items()))

    return SimpleNamespace(train_bpe=train_bpe)


MODULES: dict[str, tuple[str, Callable[[Any], SimpleNamespace]]] = {
    "bpe-openai": ("bpe_openai", bpe_openai),
    "bpe-qwen": ("bpe_qwen.bpe_qwen", bpe_qwen),
    "bpeasy": ("bpeasy", bpeasy),
    "fastokens": ("fastokens", fastokens),
    "ffbpe": ("ffbpe", ffbpe),
    "gigabpe": ("gigabpe", lambda _: SimpleNamespace(**gigabpe_trainer())),
    "gigatoken": ("gigatoken", gigatoken),
    "iree-tokenizer": ("iree.tokenizer", iree),
    "kitoken": ("kitoken", kitoken),
    "morpheme": ("morpheme", morpheme),
    "omnitoken": ("omnitoken", omnitoken),
    "quicktok": ("quicktok", quicktok),
    "riptoken": ("riptoken", riptoken),
    "rs-bpe": ("rs_bpe.bpe", rs_bpe),
    "snaptokens": ("snaptokens", snaptokens),
    "splintr": ("splintr", splintr),
    "tokie": ("tokie", tokie),
    "toktok": ("toktok", toktok),
    "tuetoken": ("tuetoken", tuetoken),
    "wordchipper": ("wordchipper", wordchipper),
}
"""Implementation -> the module it imports, and what makes a stand-in for that, given the model of a built-in one."""
