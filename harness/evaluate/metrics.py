"""Turn sums into figures: one row for a model on a corpus. METHODOLOGY.md has the table of formulas and caveats.

None of these figures says how well a model trained on the tokens works. For compression, Goldman et al. 2024
("Unpacking Tokenization") find a correlation with that, Schmidt et al. 2024 ("Tokenization Is More Than Compression")
none; Cognetta et al. 2024 ("Two Counterexamples to Tokenization and the Noiseless Channel") raise Rényi efficiency
without any gain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.evaluate.intervals import Figure, quantile, ratio
from harness.evaluate.tally import ModelTally, TextTally

UNSPACED_SHARE = 0.1
"""Words are not counted if at least this share of their characters is in scripts written without spaces."""


@dataclass(slots=True)
class EvaluationRow:
    """The figures of one model on one corpus."""

    model: str
    corpus: str
    language: str | None
    implementation: str
    vocab_size: int
    """Number of ids: rows that an embedding table needs."""
    round_trip: str
    counts: dict[str, int | None]
    figures: dict[str, Figure]
    rank: int | None = None
    """By tokens, among the lossless models on this corpus; None for a lossy one."""
    cost: float | None = None
    price_per_million_tokens: float | None = None
    parallel: dict[str, str | None] = field(default_factory=dict)
    """Pivot, worst and best language, if the corpora are parallel."""


def counts_of(text: TextTally, tally: ModelTally) -> dict[str, int | None]:
    """Return the exact counts; words are None if the text is written without spaces."""
    return {
        "n_documents": text.n_documents,
        "n_bytes": int(text.bytes.sum()),
        "n_characters": int(text.characters.sum()),
        "n_words": int(text.words.sum()) if writes_words_apart(text) else None,
        "n_tokens": int(tally.tokens.sum()),
    }


def writes_words_apart(text: TextTally) -> bool:
    """Return whether Han, Kana, Thai, Lao, Khmer, Burmese and Tibetan have less than `UNSPACED_SHARE` of the text."""
    return text.n_unspaced < UNSPACED_SHARE * text.n_word_characters or not text.n_unspaced


def figures_of(text: TextTally, tally: ModelTally) -> dict[str, Figure]:
    """Return the figures of a model on a text.

    Rates are ratios of totals, not means over documents, of bytes b, characters c, words w, documents d, tokens t:

    - bytes_per_token b/t, characters_per_token c/t, tokens_per_document t/d: text per token is not comparable between
      languages, because scripts differ in bytes and characters per meaning (Petrov et al. 2023).
    - fertility t/w (Rust et al. 2021): spaces, signs and line ends count as tokens too, so text full of them has more.
    - continued_word_share (Rust et al. 2021): words with a token border inside, over w.
    - tokens_over_fewest t/t of the vocabulary that takes the fewest.

    Figures that need words are None for scripts without spaces, those that need borders for a lossy model; `premium`
    is known only with the other languages of a parallel text.
    """
    none, n = Figure(None), text.n_documents
    spaced = writes_words_apart(text)
    return {
        "bytes_per_token": ratio(text.bytes, tally.tokens, n),
        "characters_per_token": ratio(text.characters, tally.tokens, n),
        "tokens_per_document_mean": ratio(tally.tokens, text.documents, n),
        "tokens_per_document_median": quantile(tally.lengths, 0.5),
        "tokens_per_document_p95": quantile(tally.lengths, 0.95),
        "fertility": ratio(tally.tokens, text.words, n) if spaced else none,
        "continued_word_share": ratio(tally.continued, tally.words, n, is_share=True) if spaced else none,
        "tokens_over_fewest": none,
        "premium": none,
    }


def rank(rows: list[EvaluationRow], tallies: Mapping[str, ModelTally]) -> None:
    """Rank the rows of one corpus by their tokens, and compare each with the fewest, document by document.

    A lossy model, which drops text, has neither rank nor comparison.
    """
    fine = sorted((row for row in rows if row.round_trip != "lossy"), key=lambda row: row.counts["n_tokens"] or 0)
    totals = [row.counts["n_tokens"] for row in fine]
    for row in fine:
        row.rank = 1 + totals.index(row.counts["n_tokens"])
        of_both = tallies[row.model].tokens, tallies[fine[0].model].tokens
        row.figures["tokens_over_fewest"] = ratio(*of_both, row.counts["n_documents"] or 0)
