"""Find which last tokens of a text may still change, and what they may become: the semantics of `encode_with_unstable`.

    "hello fan"   stable  hello   completions  [" fantasy"], [" f", "anc"], [" fan"], …

Any text may follow, and change how the last piece is merged, or where it ends. So the tokens of the last piece are
unstable, with tokens of blanks before it, since a pattern may split white space by what follows it. A completion is a
sequence of tokens with which a text that begins with the unstable bytes may begin: its last token contains their end.
For every token that continues the unstable bytes from some place in them, the bytes before that place and the token are
encoded, and as many of these ids kept as reach the end of the unstable bytes. The set is not complete, which would
require all texts; it is the one tiktoken finds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from impls.core.errors import BPEError
from impls.core.model import Model
from impls.core.model.merging import merged
from impls.core.text.normalization import WHITE_SPACE
from impls.interface import Tokenizer

MAX_BYTES = 100_000_000
"""How many bytes are encoded to find the completions of one text."""


class TooManyCompletions(BPEError, ValueError):
    """The unstable end of a text is so long, or may continue in so many ways, that not all of them are encoded."""


def completions(tokenizer: Tokenizer, tokens: Sequence[bytes], unstable: bytes) -> set[tuple[int, ...]]:
    """Return the sequences of ids that may replace `unstable`; `tokens` are those of the model, sorted."""
    if not unstable:
        return set()
    model = tokenizer.model
    sizes = {i: len(token) for token, i in model.id_by_token.items()}
    sequences: set[tuple[int, ...]] = {(model.id_by_token[token],) for token in _beginning_with(unstable, tokens)}
    first = max(len(unstable) - max(sizes.values()), 1)  # no token continues more bytes than it has
    ways = [(at, token) for at in range(first, len(unstable)) for token in _beginning_with(unstable[at:], tokens)]
    if (n_bytes := len(unstable) * len(ways)) > MAX_BYTES:
        raise TooManyCompletions(
            f"encode_with_unstable: the last {len(unstable):,} bytes of the text may change, in {len(ways):,} ways: "
            f"{n_bytes:,} bytes to encode, where at most {MAX_BYTES:,} are; give a text whose last piece is shorter"
        )
    for start, token in ways:
        data = unstable[:start] + token
        try:
            ids = tokenizer.encode_ordinary(data.decode())
        except UnicodeDecodeError:
            ids = merged_bytes(model, data)
        sequences.add(tuple(ids[: bisect_left([*accumulate(sizes[i] for i in ids)], len(unstable)) + 1]))
    # If the text continues, a piece may begin at its last white space.
    last = unstable.decode()[-1]
    if last in WHITE_SPACE and (head := unstable.removesuffix(last.encode())):
        sequences.add((*merged_bytes(model, head), *merged_bytes(model, last.encode())))
    return sequences


def merged_bytes(model: Model, data: bytes) -> list[int]:
    """Return the ids of bytes merged as one piece by the definition, without looking them up as a whole."""
    return merged([model.id_by_token[data[k : k + 1]] for k in range(len(data))], model.merge_of)[0]


def _beginning_with(prefix: bytes, tokens: Sequence[bytes]) -> Sequence[bytes]:
    end = bisect_right(tokens, prefix, key=lambda token: token[: len(prefix)])
    return tokens[bisect_left(tokens, prefix) : end]
