"""Byte pair encoding: several independent implementations behind one interface.

>>> import impls
>>> tokenizer = impls.train("naive", ["aaabdaaabac"], impls.TrainingSpec(vocab_size=259, pattern="none"))
>>> tokenizer.decode(tokenizer.encode("aaab"))
'aaab'
"""

from __future__ import annotations

from pathlib import Path

from impls.core.errors import (
    BPEError,
    InvalidFile,
    InvalidModel,
    InvalidPattern,
    InvalidSpec,
    LibraryFailed,
    Missing,
    SpecialToken,
    UnknownId,
    UnknownName,
    UnknownSymbol,
    Unsupported,
)
from impls.core.model import Model
from impls.interface import Tokenizer, TrainingSpec
from impls.parity import train_parity_aware
from impls.registry import default_names, get, load, names, train


def _load(path: str | Path) -> Model:
    """Read a model file of any format `impls.formats` knows; raise `InvalidFile`."""
    from impls.formats import load

    return load(Path(path))


def _save(model: Model, path: str | Path) -> None:
    """Write the suite's own JSON, atomically."""
    from impls.formats import save

    save(model, Path(path), "bpebench")


Model.load, Model.save = _load, _save

__all__ = [
    "BPEError",
    "InvalidFile",
    "InvalidModel",
    "InvalidPattern",
    "InvalidSpec",
    "LibraryFailed",
    "Missing",
    "Model",
    "SpecialToken",
    "Tokenizer",
    "TrainingSpec",
    "UnknownId",
    "UnknownName",
    "UnknownSymbol",
    "Unsupported",
    "default_names",
    "get",
    "load",
    "names",
    "train",
    "train_parity_aware",
]
