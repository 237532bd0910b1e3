"""An int64 array that kernels get by address: numbers, and addresses of arrays that live as long."""

from __future__ import annotations

import numpy as np

from impls.compiled.codegen.native import address


class Slots:
    """Slots by byte offset, as a layout names them."""

    def __init__(self, n_slots: int) -> None:
        self.slots = np.zeros(n_slots, np.int64)
        self.address = address(self.slots)
        self._held: dict[int | str, np.ndarray] = {}

    def __getitem__(self, slot: int) -> int:
        return int(self.slots[slot >> 3])

    def __setitem__(self, slot: int, value: int) -> None:
        self.slots[slot >> 3] = value

    def hold(self, slot: int, array: np.ndarray) -> None:
        """The slot points at the array, in place of what it pointed at."""
        self._held[slot] = array
        self[slot] = address(array)

    def held(self, slot: int) -> np.ndarray:
        """What a slot points at."""
        return self._held[slot]

    def keep(self, name: str, array: np.ndarray) -> None:
        """The array lives as long as the slots, which point at it by way of another one."""
        self._held[name] = array

    @property
    def arrays(self) -> list[np.ndarray]:
        """All that kernels may touch through these slots."""
        return [self.slots, *self._held.values()]
