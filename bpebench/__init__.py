"""The front door: what a program that uses the suite imports.

>>> import bpebench
>>> tokenizer = bpebench.load("o200k_base")
>>> tokenizer.decode(tokenizer.encode("Evlerimizden geliyoruz."))
'Evlerimizden geliyoruz.'

`Encoding`, `get_encoding` and the other module functions are tiktoken's, over any implementation:
`sys.modules["tiktoken"] = bpebench.tiktoken` puts them, and `tiktoken.load`, into a program. `bpebench.hf` is Hugging
Face's `tokenizers` likewise: `from bpebench import hf`. `python -m bpebench` is the command `bpebench`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpebench import hf, tiktoken
    from bpebench.front_door import (
        BPEError,
        Encoding,
        Model,
        Tokenizer,
        TrainingSpec,
        encoding_for_model,
        encoding_name_for_model,
        get_encoding,
        list_encoding_names,
        load,
        load_corpus,
        load_model,
        read_records,
        train,
        train_parity_aware,
    )

    __version__: str

__all__ = [
    "BPEError",
    "Encoding",
    "Model",
    "Tokenizer",
    "TrainingSpec",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "hf",
    "list_encoding_names",
    "load",
    "load_corpus",
    "load_model",
    "read_records",
    "tiktoken",
    "train",
    "train_parity_aware",
]


def __getattr__(name: str) -> Any:
    """Return what a program asks for; imported, or read off the installed package, only then."""
    if name == "__version__":
        from importlib.metadata import version

        return version("bpebench")
    if name not in __all__:
        raise AttributeError(f"module 'bpebench' has no attribute {name!r}")
    from importlib import import_module

    if name in ("hf", "tiktoken"):
        return import_module(f"bpebench.{name}")
    value = globals()[name] = getattr(import_module("bpebench.front_door"), name)
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return [*__all__, "__version__"]
