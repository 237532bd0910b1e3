"""The hooks an implementation overrides; each has a default in terms of the others.

`Tokenizer` calls a hook with a text, or a piece of one, that is ready to be encoded: it contains no special token, is
in the model's normal form, and has no surrogate (but see `Tokenizer.surrogate_errors`). An implementation that works
piece by piece overrides `encode_piece`, one that takes whole texts `_encode_text`, and other hooks for which its
library has a call of its own. One that trains overrides `train_model`, and `extend_model` if it can continue from a
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from impls.core.arguments import SpecialSet
from impls.core.dropout import Dropout
from impls.core.errors import UnknownSymbol, Unsupported
from impls.core.extension import ExtendedCorpus
from impls.core.model.cuts import Cuts
from impls.core.model.whole_tokens import WholeTokens
from impls.core.specification import TrainingSpec
from impls.core.text.patterns import Splitter
from impls.core.text.text import repair_surrogates
from impls.core.training import Corpus, Pair

if TYPE_CHECKING:
    import numpy as np

    from impls.core.counts import PieceCounts
    from impls.core.model import Model

Ids = TypeVar("Ids")


class Hooks:
    """The overridable part of a `Tokenizer`."""

    name: ClassVar[str]
    """The name it is registered under."""
    normalizes: bool = False
    """Whether the `_encode_text` hooks normalise texts themselves."""
    _model: Model
    _cuts: Cuts | None
    _whole_tokens: WholeTokens

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter(self._model.pattern)

    def encode_piece(self, piece: str) -> list[int]:
        """Return the ids that the symbols of one of `pieces` merge to: never empty, without special tokens and
        surrogates. A piece that is one token whatever its merges (`Model.whole_piece`) is not asked for.

        Exception: `encode_bytes` passes invalid UTF-8 as surrogates (`errors="surrogateescape"`) for a model over
        bytes; an implementation that cannot encode them may raise UnicodeEncodeError.
        """
        raise Unsupported(self.name, "does not encode single pieces")

    def _encode_text(self, text: str) -> list[int]:
        """Return the ids of a text without special tokens and surrogates."""
        return self._join_pieces(text, self.piece_ids)

    def piece_ids(self, piece: str) -> list[int]:
        """Return the ids of one of `pieces`: its token if the model takes it whole, else those of `encode_piece`."""
        whole = self._model.whole_piece(piece)
        return self.encode_piece(piece) if whole is None else [whole]

    def _ids_by_part(
        self,
        text: str,
        allowed_special: SpecialSet,
        encode: Callable[[str], list[int]],
        normalize: Callable[[str, bool], str] | None = None,
    ) -> Iterator[list[int]]:
        """Yield the ids of the parts of `text`: allowed special tokens, added tokens, and the text between, which is
        normalised and passed to `encode`."""
        parts = self._whole_tokens.parts(repair_surrogates(text), allowed_special, normalize or self._normalized)
        for part, i, offset in parts:
            try:
                yield encode(part) if i is None else [i]
            except UnknownSymbol as error:
                raise UnknownSymbol(error.character, offset + error.offset) from None

    def _normalized(self, text: str, first: bool = True) -> str:
        """Return a text without surrogates as the hooks take it; `first` says whether it begins the whole text."""
        return text if self.normalizes else self._model.normalize(text, first=first)

    def _cut_pieces(self, text: str) -> list[str]:
        """Return the pieces of a text in normal form: split by the pattern, then cut by SentencePiece's rules."""
        pieces, cuts = self._splitter.split(text), self._cuts
        return pieces if cuts is None else [part for piece in pieces for part in cuts.cut(piece)]

    def _join_pieces(self, text: str, encode_piece: Callable[[str], list[int]]) -> list[int]:
        """Return the ids of all pieces: user-defined ones get their id, unused tokens are replaced by their parts."""
        if self._cuts is not None:
            encode_piece = self._cuts.around_user_defined(encode_piece)
        ids: list[int] = []
        start = 0
        for piece in self._cut_pieces(text):
            try:
                ids += encode_piece(piece)
            except UnknownSymbol as error:
                offset = self._splitter.offset(text, start + error.offset)
                raise UnknownSymbol(error.character, offset) from None
            start += len(piece)
        parts = self._model.unused_parts
        return [whole for i in ids for whole in parts.get(i, (i,))] if parts else ids

    def _encode_text_and_bytes(self, text: str, bad: bytes) -> list[int]:
        """Return the ids of a text in normal form and of the bytes after it, the first of which is invalid UTF-8.

        Only for models over bytes. The last piece of the text may continue in the bytes, so they are encoded together;
        if it begins with a token of blanks (" ", line feed, tab), so are such tokens before it, which the pattern might
        have split differently. This is the rule of tiktoken's `_encode_bytes`.

            "be or not" + b"\\xff?"    ->    be,  or, then the piece b" not\\xff?"
        """
        ids, tokens = self._encode_text(text), self._model.tokens
        start = self._last_piece_start(text, ids)
        return ids[:start] + self._encode_byte_piece(b"".join([tokens[i] or b"" for i in ids[start:]]) + bad)

    def _last_piece_start(self, text: str, ids: Sequence[int]) -> int:
        """Return the index in `ids`, those of a text in normal form, at which its last piece begins.

        If it begins with a token of blanks, such tokens before it are included: how a pattern splits there may depend
        on what follows. For models over bytes only.
        """
        tokens = self._model.tokens
        pieces = self._splitter.split(text)
        rest = len(pieces[-1].encode()) if pieces else 0
        start = len(ids)
        while rest > 0 and start > 0:
            start -= 1
            rest -= len(tokens[ids[start]] or b"")
        if start < len(ids) and _is_blank(tokens[ids[start]]):
            while start > 0 and _is_blank(tokens[ids[start - 1]]):
                start -= 1
        return start

    def _encode_byte_piece(self, piece: bytes) -> list[int]:
        """Return the ids of one piece that is not valid UTF-8, by a model over bytes."""
        try:
            return self.piece_ids(piece.decode("utf-8", "surrogateescape"))
        except (Unsupported, UnicodeEncodeError):
            raise Unsupported(self.name, "takes texts only, and no bytes that are not UTF-8") from None

    def _encode_text_to_array(self, text: str) -> np.ndarray:
        """Return the ids of `_encode_text` as a uint32 array of shape (n_tokens,)."""
        import numpy as np

        return np.array(self._encode_text(text), dtype=np.uint32)

    def _encode_texts(self, texts: Sequence[str], threads: int) -> list[list[int]]:
        """Return `_encode_text` of each text, computed on up to `threads` threads."""
        return map_on_threads(self._encode_text, texts, threads)

    def _encode_texts_to_ragged(self, texts: Sequence[str], threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Return `encode_ragged` of texts without special tokens and surrogates.

        Built on `_encode_text_to_array` if an implementation overrides it, else on `_encode_texts`.
        """
        if type(self)._encode_text_to_array is Hooks._encode_text_to_array:
            return joined(self._encode_texts(texts, threads))
        return joined(map_on_threads(self._encode_text_to_array, texts, threads))

    def _encode_piece_with_dropout(self, piece: str, coins: Iterator[bool]) -> list[int]:
        """Return the ids of one piece; each coin decides whether one possible merge is dropped (`core.dropout`)."""
        raise Unsupported(self.name, "does not leave merges out (BPE-dropout)")

    def _encode_text_with_dropout(self, text: str, dropout: Dropout) -> list[int]:
        """Return the ids of `_encode_text`, with dropout."""
        return self._join_pieces(text, lambda piece: self._encode_piece_with_dropout(piece, dropout.next_piece()))

    # --- training ------------------------------------------------------------------------------------------

    @classmethod
    def learn(cls, corpus: Corpus) -> tuple[list[Pair], list[int]]:
        """Return up to `corpus.budget` merges and the count of each, after `Corpus.join` of each; raise `Unsupported`
        if this implementation does not train, or not by `corpus.spec`."""
        raise Unsupported(cls.name, "does not train")

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn a model; raise `Unsupported` if this implementation does not train, or not by `spec`."""
        if cls.learn.__func__ is Hooks.learn.__func__:  # type: ignore[attr-defined]
            raise Unsupported(cls.name, "does not train")
        corpus = Corpus(texts, spec)
        return corpus.model(*cls.learn(corpus))

    @classmethod
    def extends(cls) -> bool:
        """Return whether it can continue from a model."""
        defaults: dict[str, Any] = {"learn": Hooks.learn, "extend_model": Hooks.extend_model}
        return any(getattr(cls, name).__func__ is not default.__func__ for name, default in defaults.items())

    @classmethod
    def count_pieces(
        cls,
        texts: Iterable[str],
        spec: TrainingSpec,
        *,
        threads: int | None = None,
        memory_limit: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> PieceCounts:
        """Count the pieces to learn from, on `threads` threads.

        Tables that would take more than `memory_limit` bytes go to disk. `progress` is called with the bytes of each
        part. Raise `Unsupported` if this is not implemented.
        """
        raise Unsupported(cls.name, "trains on one thread, in memory; threads, memory_limit, progress are compiled's")

    @classmethod
    def extend_model(cls, model: Model, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Keep the merges of `model` and learn more, up to `spec.vocab_size`, from texts as it encodes them.

        `core.extension` defines what is kept. Raise `Unsupported` if this implementation does not learn from symbols,
        or no implementation can continue from this model.
        """
        if not cls.extends():
            raise Unsupported(cls.name, "does not go on from a given model; naive, priority, wordcount and compiled do")
        make: Callable[[Model], Any] = cls
        corpus = ExtendedCorpus(cls.name, lambda begun: make(begun).encode_piece, model, texts, spec)
        return corpus.model(*cls.learn(corpus))


def _is_blank(token: bytes | None) -> bool:
    return token is not None and not token.strip(b" \n\t")


def map_on_threads(encode: Callable[[str], Ids], texts: Sequence[str], threads: int) -> list[Ids]:
    """Return `encode(text)` of each text, in order."""
    if threads == 1 or len(texts) < 2:
        return [encode(text) for text in texts]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(encode, texts))


def joined(rows: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists or arrays of ids concatenated (uint32), and their offsets (int64 of shape (len(rows) + 1,))."""
    import numpy as np

    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    if rows and not isinstance(rows[0], np.ndarray):
        rows = [np.array(row, dtype=np.uint32) for row in rows]
    return (np.concatenate(rows) if rows else np.zeros(0, np.uint32)), offsets
