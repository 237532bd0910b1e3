"""Encode a text into tokens with words and offsets; the ids are those of an implementation of the suite.

    "a déjà"  ->  pieces "a", " déjà"  ->  "a", " d" "éj" "à"  ->  offsets (0, 1), (1, 3) (3, 5) (5, 6)

A piece is a word, and so is an added token. The tokens of a piece are consecutive, so their bytes determine which of
its characters each of them covers, and `core.text.tracing` says where these are in the original text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from impls.core.errors import Unsupported
from impls.core.text.tracing import Traced
from impls.drop_in.hf.added_tokens import AddedTokens
from impls.drop_in.hf.encoding import Encoding, Span
from impls.drop_in.hf.parts import Normalizer, PreTokenizer
from impls.interface import Tokenizer
from impls.operations.offsets import spans_in_text

Row = tuple[int, str, Span, int]
"""The id of a token, its text, its start and end in the original text, and its word."""


@dataclass(frozen=True)
class TextEncoder:
    """Encodes single texts by `implementation`; `names` are the tokens of its ids, the parts those of its file.

    Without names, before training, only added tokens are tokens, and all other text is dropped, as in the library.
    """

    implementation: Tokenizer
    names: Mapping[int, str]
    normalizer: Normalizer | None
    pre_tokenizer: PreTokenizer | None

    def __post_init__(self) -> None:
        rules = self.implementation.model.sentencepiece
        if rules is not None and (rules.looks_up or rules.user_defined_ids):
            why = "its SentencePiece file normalises, or cuts pieces out, as no tokenizer.json does"
            raise Unsupported(self.implementation.name, why)

    def normal(self, text: str) -> str:
        """Return a text in the form in which normalized tokens are searched."""
        return text if self.normalizer is None else self.normalizer.normalize_str(text)

    def encode(self, text: str, added: AddedTokens, *, as_text: bool, type_id: int, word: int | None) -> Encoding:
        """Return the tokens of a text; `as_text` leaves special tokens in it, `word` is the word of all, if given."""
        rows: list[Row] = []
        n_dropped = 0
        for part, is_added, ids in self._parts(text, added, as_text):
            if not is_added and not self.names:
                n_dropped += sum(1 for _ in self.implementation.model.splitter.spans(part.text))
                continue
            n_words = (rows[-1][3] + 1 if rows else 0) + n_dropped
            n_dropped = 0
            if is_added:
                rows.append((ids[0], part.text, (part.starts[0], part.ends[-1]), n_words))
            else:
                rows += [
                    (i, self.names[i], (part.starts[start], part.ends[end - 1]), n_words + word)
                    for word, i, start, end in spans_in_text(self.implementation, part.text, ids)
                ]
        encoding = Encoding.of([row[0] for row in rows], type_id, [row[1] for row in rows], special=0, attention=1)
        encoding.offsets = [row[2] for row in rows]
        encoding.word_ids = [row[3] if word is None else word for row in rows]
        return encoding

    def ids(self, text: str, added: AddedTokens, *, as_text: bool) -> list[int]:
        """Return the ids of the tokens that `encode` returns."""
        return [i for _, _, ids in self._parts(text, added, as_text) for i in ids]

    def _parts(self, text: str, added: AddedTokens, as_text: bool) -> Iterator[tuple[Traced, bool, Sequence[int]]]:
        """Yield the parts of a text as they are encoded, whether each is an added token, and its ids."""
        for part, i, start in added.cut(text, normalized=False, as_text=as_text):
            original = Traced.of(text).part(start, start + len(part))
            if i is not None:
                yield original, True, (i,)
                continue
            normal = original if self.normalizer is None else self.normalizer.normal(original, first=start == 0)
            for inner, k, at in added.cut(normal.text, normalized=True, as_text=as_text):
                token = normal.part(at, at + len(inner))
                if k is not None:
                    yield token, True, (k,)
                    continue
                marked = self._marked(token)
                is_whole = len(inner) == len(normal.text)
                yield marked, False, self._ids(marked.text, part if is_whole else None) if self.names else ()

    def _marked(self, part: Traced) -> Traced:
        return part if self.pre_tokenizer is None else self.pre_tokenizer.marked(part, first=part.starts[0] == 0)

    def _ids(self, text: str, original: str | None) -> Sequence[int]:
        """Return the ids of a text without added tokens; `original` is the text before it was rewritten."""
        if not self.implementation.normalizes:
            return self.implementation.encode_normalized(text)
        if original is None:
            why = "rewrites texts itself, so tokens cannot be searched in rewritten text; take another implementation"
            raise Unsupported(self.implementation.name, why)
        return self.implementation.encode_normalized(original)
