"""The front door: what a program that uses the suite imports.

>>> import bpebench
>>> tokenizer = bpebench.load("compiled", "o200k_base")
>>> tokenizer.decode(tokenizer.encode("Evlerimizden geliyoruz."))
'Evlerimizden geliyoruz.'

`bpebench.hf` is Hugging Face's `tokenizers` over any implementation: `from bpebench import hf`.

`python -m bpebench` is the command `bpebench`.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":
    # With `-m` the working directory comes first on the path; a folder called `impls` there must not be imported.
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.data import load_corpus, load_model
from harness.data.hub import PREFIX, hub_tokenizer_file
from impls import BPEError, Missing, Model, Tokenizer, TrainingSpec, registry, train, train_parity_aware
from impls.drop_in import hf

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BPEError",
    "Model",
    "Tokenizer",
    "TrainingSpec",
    "encoding_for_model",
    "encoding_name_for_model",
    "get_encoding",
    "hf",
    "load",
    "load_corpus",
    "load_model",
    "read_records",
    "train",
    "train_parity_aware",
]

__version__ = version("bpebench")

sys.modules["bpebench.hf"] = hf  # so that `import bpebench.hf` finds it, though this is no package
hf.Tokenizer.find_on_hub = lambda name, revision, token: hub_tokenizer_file(PREFIX + name, revision, token)


def load(implementation: str, model: str | Path | Model) -> Tokenizer:
    """Return an implementation on a model: a name (fetched on first use), the path of a file, or a `Model`.

    Raise `UnknownName` listing the known names, `Unsupported` where the implementation cannot run the model, and
    `Missing` where its package is not installed.
    """
    return registry.load(implementation, model if isinstance(model, Model) else load_model(model))


def get_encoding(name: str) -> Tokenizer:
    """Return the fastest implementation on a vocabulary, as `tiktoken.get_encoding` does on its own."""
    return load("compiled", name)


def encoding_for_model(model_name: str) -> Tokenizer:
    """Return the fastest implementation on the vocabulary of an OpenAI model: `encoding_for_model("gpt-4o")`."""
    return get_encoding(encoding_name_for_model(model_name))


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of an OpenAI model's vocabulary, by tiktoken's table; raise KeyError for an unknown model."""
    try:
        from tiktoken.model import encoding_name_for_model as name_of
    except ModuleNotFoundError:
        raise Missing("encoding_name_for_model", "tiktoken") from None
    return name_of(model_name)


def read_records(*runs: str | Path) -> pd.DataFrame:
    """Return the measurements of runs as a tidy frame, one row for each sample; see `harness.records.frame`."""
    from harness.records.frame import measurements_frame

    return measurements_frame(*map(Path, runs))


if __name__ == "__main__":
    from harness.cli import main

    main()
