"""The model: what training learned, as data; what follows from it, and whether it is consistent."""

from impls.core.model.model import Model

__all__ = ["Model"]
