"""The front door: what a program that uses the suite imports.

>>> import bpebench
>>> tokenizer = bpebench.load("o200k_base")
>>> tokenizer.decode(tokenizer.encode("Evlerimizden geliyoruz."))
'Evlerimizden geliyoruz.'

`Encoding`, `get_encoding` and the other module functions are tiktoken's, over any implementation:
`sys.modules["tiktoken"] = bpebench.tiktoken` puts them, and `tiktoken.load`, into a program. `bpebench.hf` is Hugging
Face's `tokenizers`: `from bpebench import hf`. `python -m bpebench` is the command `bpebench`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpebench import hf as hf
    from bpebench import tiktoken as tiktoken
    from bpebench.public import *  # noqa: F403

    __version__: str

_FRONT_DOOR = ("load", "read_records", "train")


def __getattr__(name: str) -> Any:
    """Return what a program asks for; imported, or read off the installed package, only then."""
    from importlib import import_module
    from importlib.util import find_spec

    if name == "__version__":
        from importlib.metadata import version

        return version("bpebench")
    if name == "__all__":
        return __dir__()
    if not name.startswith("_"):
        if find_spec(f"bpebench.{name}") is not None:
            return import_module(f"bpebench.{name}")
        # The front door's own functions need less of the package than all public names do.
        module = "front_door" if name in _FRONT_DOOR else "public"
        if name in (public := vars(import_module(f"bpebench.{module}"))):
            return globals().setdefault(name, public[name])
    raise AttributeError(f"module 'bpebench' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    from bpebench import public

    return [*(name for name in vars(public) if not name.startswith("_")), "hf", "tiktoken", "__version__"]
