"""Check that ids decode correctly: to the text they came from, and in an order that no text encodes to.

The ids of a whole text do not test a decoder: one that caches texts by their ids, or returns the last encoded text,
would pass too. Reordered ids are new to it, and their text follows from the model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from impls import Model, Tokenizer, UnknownId
from impls.core.decoding import Decoder, round_trip_text
from impls.core.text.text import repair_surrogates

LOST = "a text does not come back"
MISREAD = "its ids in another order do not decode to what the model has for them"


class ModelDecoder(Decoder):
    """Decodes by the model alone.

    Raises `UnknownId` for ids outside the model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def reordered(self, ids: Sequence[int]) -> list[int]:
        """Return the second half of `ids` before the first, cut where a character begins; `ids` twice if unchanged.

        >>> decoder = ModelDecoder(Model(tokens=tuple(bytes([byte]) for byte in range(256))))
        >>> decoder.reordered([97, 195, 169, 98]), decoder.reordered([97])
        ([98, 97, 195, 169], [97, 97])
        """
        middle = next((k for k in range(len(ids) // 2, len(ids)) if self._begins_character(ids[k])), 0)
        other = [*ids[middle:], *ids[:middle]]
        return other if other != list(ids) else [*ids, *ids]

    def _begins_character(self, token: int) -> bool:
        return self._bytes_by_id.get(token, b"")[:1] not in _CONTINUING


_CONTINUING = frozenset(bytes([byte]) for byte in range(0x80, 0xC0))


def wrong_text(tokenizer: Tokenizer, decoder: ModelDecoder, text: str, ids: list[int], back: str) -> str:
    """Say what is wrong with decoding `ids`, the ids of `text`, to `back`; empty where nothing is.

    The text, or its normal form, must come back (unless the model is lossy), and the ids must decode correctly in
    another order, too. `decoder` is that of the tokenizer's model.
    """
    wanted = round_trip_text(tokenizer.model, repair_surrogates(text))
    return LOST if wanted is not None and back != wanted else decoding_fault(tokenizer.decode, decoder, ids)


def decoding_fault(decode: Callable[[Sequence[int]], str], decoder: ModelDecoder, ids: list[int]) -> str:
    """Describe what is wrong with `decode` on `ids` in another order; empty if nothing is."""
    other = decoder.reordered(ids)
    try:
        return "" if decode(other) == decoder.decode(other) else MISREAD
    except UnknownId as error:
        return f"not ids of the model: {error}"
