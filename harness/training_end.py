"""Why a training ended before its vocabulary was full."""

from __future__ import annotations

from collections.abc import Iterable

from impls import TrainingSpec
from impls.core.counts import PieceCounts
from impls.core.model.model import Model
from impls.core.training import corpus_pieces, piece_symbols


def why_short(model: Model, spec: TrainingSpec, texts: Iterable[str] | PieceCounts) -> str | None:
    """Return why `model`, trained by `spec` on `texts`, has fewer ids than requested; None where it has not.

    Splits the texts once more to see what is left to merge.
    """
    if model.vocab_size >= spec.vocab_size:
        return None
    if spec.max_merges is not None and len(model.merges) >= spec.max_merges:
        return f"max_merges allows no more than {spec.max_merges} merges"
    distinct = dict(texts.items()) if isinstance(texts, PieceCounts) else set(corpus_pieces(texts, spec))
    pieces = (b"".join(piece_symbols(piece, spec)) for piece in distinct)
    left = [piece for piece in pieces if piece not in model.id_by_token]
    if not left:
        return "it ran out of pairs: every piece of the text is one token; give more text"
    bounds = [f"occurs {spec.min_count} times or more (min_count)"] if spec.min_count > 1 else []
    if spec.max_token_bytes is not None and any(len(piece) > spec.max_token_bytes for piece in left):
        bounds.append(f"makes a token of {spec.max_token_bytes} bytes or less (max_token_bytes)")
    most = spec.max_token_characters
    if most is not None and any(len(piece.decode().removesuffix(spec.end_of_word or "")) > most for piece in left):
        bounds.append(f"makes a token of {most} characters or less (max_token_characters)")
    if any(text.encode("utf-8", "surrogatepass") in piece for text in spec.forbidden_tokens for piece in left):
        bounds.append("makes no forbidden token (forbidden_tokens)")
    return f"no pair is left that {' and '.join(bounds)}" if bounds else "the trainer's own rules allow no more merges"
