"""Agreement of token borders with morphs, over words with a gold segmentation.

A gold file is UTF-8, one word per line: the word, a tab, its morphs separated by spaces, and optionally a tab and a
note (in ours the number of the stem). The morphs joined are the word. Lines that begin with # say by which rule it was
made. Ours for Turkish, Hebrew and Russian are named `tr`, `he` and `ru`.

A word is encoded alone, and after itself and a space, as words occur in a text. Only borders inside the word count; a
border inside a character (of a vocabulary over bytes) counts too, and is never a morph border. A word that its ids do
not decode to (a lossy vocabulary, or one that changes letters) is left out and counted as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness.data import DataError, datasets_folder, load_model
from harness.evaluate.intervals import Figure, by_group, ratio
from harness.evaluate.parallel import plain_lines
from harness.measure.token_use import encode_each, fastest
from impls import Tokenizer

CONTEXTS = ("alone", "after a space")


class Word(NamedTuple):
    """A word and its morphs."""

    text: str
    morphs: tuple[str, ...]

    @property
    def borders(self) -> list[int]:
        """Return the borders between morphs, as offsets in UTF-8."""
        return list(accumulate(len(morph.encode()) for morph in self.morphs))[:-1]


def gold_files() -> dict[str, Path]:
    """Map language -> our own gold file."""
    return {file.stem: file for file in sorted((datasets_folder() / "samples" / "morphology").glob("*.tsv"))}


def read_gold(name: str) -> list[Word]:
    """Return the words of a gold file, named by language or path; raise `DataError` naming the invalid line."""
    file = gold_files().get(name, Path(name))
    if not file.is_file():
        raise DataError(f"{name}: no such file; built in: {', '.join(gold_files())}")
    words: dict[str, Word] = {}
    for number, line in enumerate(plain_lines(file), 1):
        where = f"{file}: line {number}"
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split("\t")
        if not 2 <= len(cells) <= 3:
            raise DataError(f"{where} has {len(cells)} cells; write word, tab, morphs, and optionally a tab and a note")
        text, morphs = cells[0], tuple(cells[1].split(" "))
        if not text or "".join(morphs) != text or not all(morphs):
            raise DataError(f"{where}: the morphs {cells[1]!r} do not spell the word {text!r}")
        if text in words:
            raise DataError(f"{where}: the word {text!r} occurs twice")
        words[text] = Word(text, morphs)
    if not words:
        raise DataError(f"{file}: contains no words")
    return list(words.values())


def agreement(tokenizer: Tokenizer, words: Sequence[Word], context: str) -> dict[str, Any]:
    """Return the agreement of a tokenizer's borders with the morphs of `words` in one of `CONTEXTS`.

    Over all words together (micro): precision, recall and F1 of token borders against morph borders. `morph_score` is
    that of Arnett and Bergen 2025 ("Why do language models perform worse for morphologically complex languages?"):
    of the words that are more than one token, the share with a token border after their first morph. `n_left_out` words
    do not decode to themselves.
    """
    cuts = token_borders(tokenizer, words, context)
    kept = [(word, borders) for word, borders in zip(words, cuts, strict=True) if borders is not None]
    gold = np.array([len(word.borders) for word, _ in kept], np.int64)
    cut = np.array([len(borders) for _, borders in kept], np.int64)
    shared = np.array([len(borders.intersection(word.borders)) for word, borders in kept], np.int64)
    inside = [any(word.text.encode()[at] & 0xC0 == 0x80 for at in borders) for word, borders in kept]
    each = np.ones(len(kept), np.int64)
    first = [(word.borders[0] in borders, 1) for word, borders in kept if borders and word.borders]
    hits, judged = np.array(first, np.int64).reshape(-1, 2).T
    return {
        "n_words": len(kept),
        "n_left_out": len(words) - len(kept),
        "n_morph_borders": int(gold.sum()),
        "n_token_borders": int(cut.sum()),
        "n_shared_borders": int(shared.sum()),
        "precision": _share(shared, cut),
        "recall": _share(shared, gold),
        "f1": _share(2 * shared, cut + gold),
        "morph_score": _share(hits, judged),
        "single_token_word_share": _share((cut == 0).astype(np.int64), each),
        "cut_character_word_share": _share(np.array(inside, np.int64), each),
    }


def compare_with_morphs(models: Sequence[str], files: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row of cells for each gold file, context and model; raise `DataError` for an invalid file."""
    words = {file: read_gold(file) for file in dict.fromkeys(files)}
    tokenizers = {name: fastest(load_model(name)) for name in dict.fromkeys(models)}
    rows = []
    for file, context, (name, tokenizer) in product(words, CONTEXTS, tokenizers.items()):
        row = {"model": name, "words": file, "context": context, "implementation": tokenizer.name}
        rows.append(row | {"round_trip": tokenizer.model.round_trip} | agreement(tokenizer, words[file], context))
    return rows


def token_borders(tokenizer: Tokenizer, words: Sequence[Word], context: str) -> list[set[int] | None]:
    """Return the token borders inside each word, as offsets in UTF-8; None if its ids do not decode to it."""
    texts = [word.text if context == "alone" else f"{word.text} {word.text}" for word in words]
    ids, offsets = encode_each(tokenizer, texts)
    by_id = tokenizer.model.bytes_by_id()
    spans = zip(pairwise(offsets.tolist()), words, strict=True)
    return [_borders(by_id, ids[start:end].tolist(), word.text.encode()) for (start, end), word in spans]


def _borders(by_id: dict[int, bytes], ids: Sequence[int], word: bytes) -> set[int] | None:
    tokens = [by_id[i] for i in ids]
    content = b"".join(tokens).rstrip(b" ")  # the last token may hold the space after the word
    if not content.endswith(word):
        return None
    start = len(content) - len(word)
    return {place for place in accumulate(map(len, tokens), initial=-start) if 0 < place < len(word)}


def _share(tops: np.ndarray, bottoms: np.ndarray) -> Figure:
    """Return the total of `tops` over that of `bottoms`, with an interval by bootstrap over words."""
    return ratio(by_group(tops), by_group(bottoms), len(tops), is_share=True)
