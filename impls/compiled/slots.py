"""An int64 array that kernels read by address: numbers, and addresses of arrays it keeps alive."""

from __future__ import annotations

import numpy as np

from impls.compiled.codegen.native import address


class Slots:
    """Slots by byte offset, as a layout module names them."""

    def __init__(self, n_slots: int) -> None:
        self.slots = np.zeros(n_slots, np.int64)
        self.address = address(self.slots)
        self._held: dict[int | str, np.ndarray] = {}

    def __getitem__(self, slot: int) -> int:
        return int(self.slots[slot >> 3])

    def __setitem__(self, slot: int, value: int) -> None:
        self.slots[slot >> 3] = value

    def hold(self, slot: int, array: np.ndarray) -> None:
        """Point the slot at an array, in place of the one before."""
        self._held[slot] = array
        self[slot] = address(array)

    def held(self, slot: int) -> np.ndarray:
        """Return the array a slot points at."""
        return self._held[slot]

    def keep(self, name: str, array: np.ndarray) -> None:
        """Keep an array alive as long as the slots, which point at it through another array."""
        self._held[name] = array

    @property
    def arrays(self) -> list[np.ndarray]:
        """All arrays kernels may reach through these slots."""
        return [self.slots, *self._held.values()]
