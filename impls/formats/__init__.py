"""File formats of vocabularies <-> `Model`: reading by content, writing atomically, and what a format would lose.

Knows files and models; runs no model and knows nothing of the harness. One module per format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from impls.errors import InvalidFile, InvalidModel, InvalidPattern, UnknownName
from impls.formats import own, tiktoken_ranks
from impls.formats.files import read_bytes, write_atomically
from impls.formats.tiktoken_ranks import PatternAssumed
from impls.model import Model
from impls.patterns import resolve

__all__ = ["PatternAssumed", "formats", "load", "losses", "save"]


_BLANK = b"\xef\xbb\xbf \t\r\n"  # a byte order mark and white space


@dataclass(frozen=True, slots=True)
class _Format:
    write: Callable[[Model], Mapping[str, bytes]]
    """File name -> content; the empty name is the path itself."""
    losses: Callable[[Model], list[str]]


_FORMATS: dict[str, _Format] = {
    own.FORMAT: _Format(lambda model: {"": own.write(model)}, own.losses),
    tiktoken_ranks.FORMAT: _Format(lambda model: {"": tiktoken_ranks.write(model)}, tiktoken_ranks.losses),
}


def formats() -> list[str]:
    """The names `save` and `losses` take."""
    return list(_FORMATS)


def load(
    path: Path,
    *,
    pattern: str | Sequence[str] | None = None,
    special_tokens: Mapping[str, int] | None = None,
) -> Model:
    """The model in a file or folder, its format found by content; raises `InvalidFile` naming what is wrong.

    `pattern` and `special_tokens`, where given, take the place of the file's own. tiktoken rank files hold neither:
    those of r50k, p50k, cl100k and o200k are known by their SHA-256 and get theirs; any other is read with the
    pattern `gpt2` (what `TrainingSpec` trains with unless told otherwise), no special tokens, and a `PatternAssumed`
    warning, as the ids are its maker's only if that was the pattern. Give `pattern=` to be sure, "none" included.
    """
    path = Path(path)
    try:
        content = read_bytes(path)
        if not content.lstrip(_BLANK).startswith(b"{"):
            return tiktoken_ranks.read_model(content, str(path), pattern, special_tokens)
        model = own.read(content, str(path))
        if pattern is not None:
            model = model.with_(pattern=resolve(pattern))
        return model if special_tokens is None else model.with_(special_tokens=special_tokens)
    except (InvalidModel, InvalidPattern) as error:
        raise InvalidFile(str(path), str(error)) from None


def save(model: Model, path: Path, format: str) -> None:
    """Write `model`, atomically. Raises `UnknownName` for the format, `Unsupported` where it cannot hold the model."""
    for name, content in _get(format).write(model).items():
        write_atomically(Path(path) / name if name else Path(path), content)


def losses(model: Model, format: str) -> list[str]:
    """What the format would not keep of `model`, a line each; raises as `save` does where it can hold nothing of it."""
    return _get(format).losses(model)


def _get(format: str) -> _Format:
    if format not in _FORMATS:
        raise UnknownName("format", format, formats())
    return _FORMATS[format]
