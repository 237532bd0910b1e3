"""Byte pair encoding: several independent implementations behind one interface.

>>> import impls
>>> tokenizer = impls.train("naive", ["aaabdaaabac"], impls.TrainingSpec(vocab_size=259, pattern="none"))
>>> tokenizer.decode(tokenizer.encode("aaab"))
'aaab'
"""

from __future__ import annotations

from pathlib import Path

from impls.core.errors import BPEError as BPEError
from impls.core.errors import InvalidFile as InvalidFile
from impls.core.errors import InvalidModel as InvalidModel
from impls.core.errors import InvalidPattern as InvalidPattern
from impls.core.errors import InvalidSpec as InvalidSpec
from impls.core.errors import LibraryFailed as LibraryFailed
from impls.core.errors import Missing as Missing
from impls.core.errors import SpecialToken as SpecialToken
from impls.core.errors import UnknownId as UnknownId
from impls.core.errors import UnknownName as UnknownName
from impls.core.errors import UnknownSymbol as UnknownSymbol
from impls.core.errors import Unsupported as Unsupported
from impls.core.model import Model as Model
from impls.interface import Tokenizer as Tokenizer
from impls.interface import TrainingSpec as TrainingSpec
from impls.parity import train_parity_aware as train_parity_aware
from impls.registry import default_names as default_names
from impls.registry import get as get
from impls.registry import load as load
from impls.registry import names as names
from impls.registry import train as train


def _load(path: str | Path) -> Model:
    """Read a model file of any format `impls.formats` knows; raise `InvalidFile`."""
    from impls.formats import load

    return load(Path(path))


def _save(model: Model, path: str | Path) -> None:
    """Write the suite's own JSON, atomically."""
    from impls.formats import save

    save(model, Path(path), "bpebench")


Model.load, Model.save = _load, _save
