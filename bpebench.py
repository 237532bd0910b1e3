"""The front door: what a program that uses the suite imports.

>>> import bpebench
>>> tokenizer = bpebench.load("compiled", "o200k_base")
>>> tokenizer.decode(tokenizer.encode("Evlerimizden geliyoruz."))
'Evlerimizden geliyoruz.'

`Encoding`, `get_encoding` and the other module functions are tiktoken's, over any implementation:
`sys.modules["tiktoken"] = bpebench` puts them into a program. `bpebench.hf` is Hugging Face's `tokenizers` likewise:
`from bpebench import hf`. `python -m bpebench` is the command `bpebench`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    # With `-m` the working directory comes first on the path; a folder called `impls` there must not be imported.
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.data import load_corpus, load_model
from harness.data.encodings import encoding_for_model, encoding_name_for_model, get_encoding, list_encoding_names
from harness.data.hub import PREFIX, hub_tokenizer_file
from impls import (
    BPEError,
    Model,
    Tokenizer,
    TrainingSpec,
    registry,
    train,
    train_parity_aware,
)
from impls.drop_in import hf
from impls.drop_in.tiktoken import Encoding

if TYPE_CHECKING:
    import pandas as pd

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
    "train",
    "train_parity_aware",
]

sys.modules["bpebench.hf"] = hf  # so that `import bpebench.hf` finds it, though this is no package
hf.Tokenizer.find_on_hub = lambda name, revision, token: hub_tokenizer_file(PREFIX + name, revision, token)


def load(implementation: str, model: str | Path | Model) -> Tokenizer:
    """Return an implementation on a model: a name (fetched on first use), the path of a file, or a `Model`.

    Raise `UnknownName` listing the known names, `Unsupported` where the implementation cannot run the model, and
    `Missing` where its package is not installed.
    """
    return registry.load(implementation, model if isinstance(model, Model) else load_model(model))


def __getattr__(name: str) -> str:
    """Return `__version__`, which is read off the installed package when it is asked for."""
    if name != "__version__":
        raise AttributeError(f"module 'bpebench' has no attribute {name!r}")
    from importlib.metadata import version

    return version("bpebench")


def read_records(*runs: str | Path) -> pd.DataFrame:
    """Return the measurements of runs as a tidy frame, one row for each sample; see `harness.records.frame`."""
    from harness.records.frame import measurements_frame

    return measurements_frame(*map(Path, runs))


if __name__ == "__main__":
    from harness.cli import main

    main()
