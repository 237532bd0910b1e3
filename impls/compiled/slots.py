"""An int64 array that kernels get by address: numbers, and addresses of arrays that live as long."""

from __future__ import annotations

import numpy as np

from impls.compiled.native import address


class Slots:
    """Slots by byte offset, as a layout names them."""

    def __init__(self, n_slots: int) -> None:
        self._slots = np.zeros(n_slots, np.int64)
        self.address = address(self._slots)
        self._held: dict[int, np.ndarray] = {}

    def __getitem__(self, slot: int) -> int:
        return int(self._slots[slot >> 3])

    def __setitem__(self, slot: int, value: int) -> None:
        self._slots[slot >> 3] = value

    def hold(self, slot: int, array: np.ndarray) -> None:
        """The slot points at the array, in place of what it pointed at."""
        self._held[slot] = array
        self[slot] = address(array)

    def held(self, slot: int) -> np.ndarray:
        """What a slot points at."""
        return self._held[slot]

    @property
    def arrays(self) -> list[np.ndarray]:
        """All that kernels may touch through these slots."""
        return [self._slots, *self._held.values()]
