"""Ids in an order nobody encoded them in, and what they decode to by the model alone.

The ids of a whole text prove no decoder: one that keeps texts by their ids, or hands back the last one it encoded,
answers them as well. These it has never met.
"""

from __future__ import annotations

from collections.abc import Sequence

from impls import Model
from impls.decoding import Decoder


class ModelDecoder(Decoder):
    """Decodes by the model and nothing else.

    Raises `UnknownId` for ids that are not those of the model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def is_known(self) -> bool:
        """Whether the model tells what ids stand for; one that belongs to a library does not."""
        return self._model.belongs_to is None

    def reordered(self, ids: Sequence[int]) -> list[int]:
        """The second half of `ids` before the first, cut where a character begins; twice `ids` where that is the same.

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
