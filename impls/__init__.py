"""Byte pair encoding: several independent implementations behind one interface.

>>> import impls
>>> tokenizer = impls.train("naive", ["aaabdaaabac"], impls.TrainingSpec(vocab_size=259, pattern="none"))
>>> tokenizer.decode(tokenizer.encode("aaab"))
'aaab'
"""

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
from impls.registry import default_names, get, load, names, train

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
]
