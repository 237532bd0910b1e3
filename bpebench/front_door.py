"""The front door's own functions: models and texts by name, path or object."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.data import load_model
from impls import Model, Tokenizer, TrainingSpec, registry
from impls.core.errors import Missing
from impls.core.text.files import TextFile, TextFiles
from impls.core.text.patterns import resolve

if TYPE_CHECKING:
    import pandas as pd


def load(
    implementation: str | Path | Model,
    model: str | Path | Model | None = None,
    *,
    pattern: str | Sequence[str] | None = None,
) -> Tokenizer:
    """Return an implementation on a model: a name (fetched on first use), the path of a file, or a `Model`.

    `load(model)` alone is `load("compiled", model)`. `pattern` replaces that of the model: a name or an expression.
    Raise `UnknownName` listing the known names, `Unsupported` where the implementation cannot run the model, and
    `Missing` where its package is not installed.
    """
    if model is None:
        implementation, model = "compiled", implementation
    if not isinstance(model, Model):
        registry.get(str(implementation))  # may bring kernels that read the file
        model = load_model(model, pattern=pattern)
    elif pattern is not None:
        model = model.with_(pattern=resolve(pattern))
    return registry.load(str(implementation), model)


def train(
    implementation: str = "compiled",
    texts: Iterable[str | Path] | Path | None = None,
    spec: TrainingSpec | None = None,
    *,
    files: Sequence[str | Path] | None = None,
    **options: Any,
) -> Tokenizer:
    """Train a model on texts, or on the documents of files, and load it in the same implementation.

    A text is a str; a `Path` among the texts is a file to read: plain text, JSON lines or Parquet, compressed or not.
    Without `spec`, its fields are taken by name: `train(files=["a.txt"], vocab_size=8000)`. Other options are those of
    `impls.train`. Raise `Unsupported`, `InvalidSpec` naming the wrong field, and `InvalidFile`.
    """
    if not isinstance(implementation, str):
        raise TypeError("the implementation comes first: give train('compiled', texts, …), or train(texts=…)")
    if spec is None:
        fields = {name: options.pop(name) for name in TrainingSpec.__dataclass_fields__ if name in options}
        if "vocab_size" not in fields:
            raise TypeError("no vocabulary size: give vocab_size=…, or spec=bpebench.TrainingSpec(vocab_size=…)")
        spec = TrainingSpec(**fields)
    if (texts is None) == (files is None):
        raise TypeError("no training text, or two: give either texts or files=")
    if isinstance(files, str | bytes | Path):
        raise TypeError(f"files must be several paths, not one {type(files).__name__}; put it into a list")
    corpus: Any = texts
    if files is not None or isinstance(texts, Path):
        corpus = TextFiles([TextFile(Path(file)) for file in files or [texts]])  # type: ignore[list-item]
    elif isinstance(texts, list | tuple):
        corpus = _read(texts)
    return registry.train(implementation, corpus, spec, **options)


def _read(texts: Sequence[str | Path]) -> list[str]:
    """Return the texts, with those of files in place of their paths; warn about a text that is the name of a file."""
    for text in texts[:10]:
        if isinstance(text, str) and len(text) < 256 and text.isprintable() and Path(text).is_file():
            problem = f"{text!r} is used as text, but is also a file; to read it give a Path, or files="
            warnings.warn(problem, stacklevel=3)
    return [part for text in texts for part in (TextFile(text).texts() if isinstance(text, Path) else (text,))]


def read_records(*runs: str | Path) -> pd.DataFrame:
    """Return the measurements of runs as a tidy frame, one row for each sample; see `harness.records.frame`."""
    try:
        from harness.records.frame import measurements_frame
    except ModuleNotFoundError as error:
        raise Missing("read_records", error.name or "pandas") from None

    return measurements_frame(*map(Path, runs))
