"""A model file as the library that it belongs to reads it: the column "as published".

Every other column runs our reading of a file, so all of them agree on a mistake in it. Here tokenizers reads a
tokenizer.json, sentencepiece a `.model`, and tiktoken a rank file, with its own pattern for the vocabularies that it
knows. Ids and their text are the library's, and of a tokenizer.json the offsets too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from unittest import mock

import numpy as np

import impls
from harness.data import load_model, model_file
from harness.targets.loading import load_tokenizer
from harness.targets.spec import PUBLISHED, library_of
from impls.core.errors import BPEError, Missing, Unsupported
from impls.core.text.stages import drops_text
from impls.core.text.text import repair_surrogates
from impls.formats.files import read_bytes


class _Library(NamedTuple):
    encode: Callable[[str, bool], list[int]]
    """A text, and whether special tokens are recognised -> its ids."""
    decode: Callable[[list[int]], str]
    offsets: Callable[[str, bool], list[tuple[int, int]]] | None = None
    """The start and end of each of these ids, where the library counts them as we do."""


def library_of_model(name: str | Path) -> str | None:
    """Return the library that a model's file belongs to; None if it is of another format, or not available."""
    with suppress(BPEError):
        path = published_file(name)
        return None if path is None else library_of(read_bytes(path))
    return None


def load_column(name: str, model: str | impls.Model) -> impls.Tokenizer:
    """Load an implementation or target over a model or the model of a name, or that file "as published"."""
    if name == PUBLISHED:
        return published(str(model))
    return load_tokenizer(name, load_model(model) if isinstance(model, str) else model)


def published_file(name: str | Path) -> Path | None:
    """Return the file that "as published" reads; None if it is not available."""
    path = model_file(name)
    if path is not None and path.is_dir():
        path = path / "tokenizer.json"
    return path if path is not None and path.is_file() else None


def published(name: str | Path) -> impls.Tokenizer:
    """Return the file of a model as its library reads it. Raises `Unsupported`, `Missing`, and what loading raises."""
    model, library, path = load_model(name), library_of_model(name), published_file(name)
    if library is None or path is None:
        raise Unsupported(PUBLISHED, "this is not a file of tokenizers, sentencepiece or tiktoken")
    try:
        return AsPublished(model, _READERS[library](path, str(name), model))
    except ModuleNotFoundError:
        raise Missing(PUBLISHED, library) from None
    except BPEError:
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Unsupported(PUBLISHED, f"{library} does not read the file: {str(error)[:200]}") from None


class AsPublished(impls.Tokenizer):
    """A library's reading of a file."""

    name: ClassVar[str] = PUBLISHED
    summary: ClassVar[str] = "the file, read by the library it belongs to"

    def __init__(self, model: impls.Model, library: _Library) -> None:
        super().__init__(model)
        self._library = library

    def encode(self, text: str, *, allowed_special: Any = (), disallowed_special: Any = "all") -> list[int]:
        """Return the library's ids; special tokens are recognised if any are allowed."""
        return self._library.encode(repair_surrogates(text), bool(allowed_special))

    def encode_array(self, text: str, **specials: Any) -> np.ndarray:
        """Return the ids as an array."""
        return np.array(self.encode(text, **specials), np.uint32)

    def encode_with_offsets(
        self, text: str, *, allowed_special: Any = (), disallowed_special: Any = "all", unit: Any = "codepoint"
    ) -> tuple[list[int], np.ndarray]:
        """Return the library's ids and offsets; raise `Unsupported` for a library that counts others than we do."""
        if self._library.offsets is None or unit != "codepoint":
            raise Unsupported(self.name, "its library has no such offsets")
        text = repair_surrogates(text)
        spans = np.array(self._library.offsets(text, bool(allowed_special)), np.int64).reshape(-1, 2)
        return self.encode(text, allowed_special=allowed_special), spans

    def encode_batch(self, texts: Sequence[str], threads: int | None = None, **specials: Any) -> list[list[int]]:
        """Return the ids of each text."""
        return [self.encode(text, **specials) for text in texts]

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """Return the library's text of the ids; for other `errors` the model's."""
        return self._library.decode(list(map(int, ids))) if errors == "replace" else super().decode(ids, errors)


def _by_tokenizers(path: Path, name: str, model: impls.Model) -> _Library:
    import tokenizers

    library = tokenizers.Tokenizer.from_str(path.read_text("utf-8-sig"))
    library.no_truncation()
    library.no_padding()
    library.post_processor = None  # it would trim offsets; the tokens that it adds are left out anyway

    def encoding(text: str, special: bool) -> tokenizers.Encoding:
        library.encode_special_tokens = not special
        return library.encode(text, add_special_tokens=False)

    return _Library(
        lambda text, special: encoding(text, special).ids,
        lambda ids: library.decode(ids, skip_special_tokens=False),
        lambda text, special: encoding(text, special).offsets,
    )


def _by_sentencepiece(path: Path, name: str, model: impls.Model) -> _Library:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return _Library(lambda text, special: processor.encode(text, out_type=int), processor.decode)


def _by_tiktoken(path: Path, name: str, model: impls.Model) -> _Library:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    openai_public = import_module("tiktoken_ext.openai_public")

    def ranks(*_: Any, **__: Any) -> dict[bytes, int]:
        with mock.patch.dict(os.environ, TIKTOKEN_CACHE_DIR=""):  # it would remember the file by its name
            return load_tiktoken_bpe(str(path))

    if name in openai_public.ENCODING_CONSTRUCTORS:
        readers: dict[str, Any] = dict.fromkeys(("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks"), ranks)
        with mock.patch.multiple(openai_public, **readers):  # both would download
            library = tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]())
    elif len(model.pattern) != 1 or drops_text(model.pattern):
        raise Unsupported(PUBLISHED, "tiktoken splits by one pattern and keeps the whole text")
    else:
        specials = dict(model.whole_token_ids)
        library = tiktoken.Encoding(name, pat_str=model.pattern[0], mergeable_ranks=ranks(), special_tokens=specials)

    def encode(text: str, special: bool) -> list[int]:
        if model.normalization is not None:  # the file does not say so, but the vocabulary's own library does it
            text = model.normalize(text)
        return library.encode(text, allowed_special="all" if special else set(), disallowed_special=())

    return _Library(encode, library.decode)


_READERS = {"tokenizers": _by_tokenizers, "sentencepiece": _by_sentencepiece, "tiktoken": _by_tiktoken}
