"""The texts that verbs read: an argument, a file, standard input, a corpus."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.options import say
from harness.commands.verb import ensure, ensure_utf8

if TYPE_CHECKING:
    from harness.data import Corpus

_STANDARD_INPUT = "standard input"


def read_text(argument: str | None, escaped: bool = False) -> str:
    """Return the text of a verb: its argument, the content of `@FILE`, or standard input (`-` or nothing).

    With `escaped`, interpret backslash escapes. Raise for what is not UTF-8.
    """
    if argument is None or argument == "-":
        text = _decoded(read_standard_input(), _STANDARD_INPUT)
    elif argument.startswith("@"):
        path = Path(argument[1:])
        ensure(path.is_file(), f"{argument}: there is no file {argument[1:]!r}; for a text that begins with @ use `-`")
        text = _decoded(path.read_bytes(), str(path))
    else:
        ensure_utf8(argument, "the given text")
        text = argument
    if not escaped:
        return text
    try:
        return text.encode("ascii", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"--escaped: not a backslash escape at character {error.start}: {error.reason}"
        ) from None


def _decoded(content: bytes, name: str) -> str:
    """Return the text of UTF-8 without its byte order mark, which is mentioned; raise a usage error for other bytes."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(
            f"{name}: not UTF-8 at byte {error.start} (0x{content[error.start]:02X}); convert it to UTF-8 first"
        ) from None
    if text.startswith("\ufeff"):
        say(f"warning: {name}: begins with a byte order mark, which is left out", err=True)
    return text.removeprefix("\ufeff")


def read_standard_input() -> bytes:
    """Return all of standard input; raise if it is closed."""
    if sys.stdin is None:
        raise click.UsageError(f"{_STANDARD_INPUT} is closed; name a file, or pipe something in")
    return sys.stdin.buffer.read()


def load_corpus(name: str, split: str | None = None, max_bytes: int | None = None) -> Corpus:
    """Return a corpus as `harness.data.load_corpus`, from standard input for `-`; raise if it holds no text."""
    from harness.data import DataError, corpora

    if name == "-":
        corpus = corpora.corpus_of(_STANDARD_INPUT, read_standard_input(), split, max_bytes)
    else:
        corpus = corpora.load_corpus(name, split=split, max_bytes=max_bytes)
    if not any(corpus.documents()):
        part = "" if split is None else f"its {split} part "
        raise DataError(f"{corpus.name}: {part}contains no text")
    return corpus
