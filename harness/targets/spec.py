"""Parse TARGET as the user writes it, and build the command that runs it."""

from __future__ import annotations

import difflib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import impls
from impls.core.errors import BPEError, near_and_known
from impls.formats import own, sentencepiece_model
from impls.formats.files import read_bytes

DEFAULT_MODEL = "o200k_base"
"""The default vocabulary of every verb that takes one."""
PUBLISHED = "as published"
"""A model's file as the library that it belongs to reads it; see `harness.targets.published`."""
COMMAND_PREFIX = "cmd:"
_OBJECT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_FILE_OBJECT = re.compile(r"(?P<file>.+\.py)(:(?P<object>[^\W\d]\w*(\.[^\W\d]\w*)*))?")
_BEGINNING = 100
FORMS = (
    "module:object, a Python file, an implementation (`bpebench list implementations`), a model file with the library "
    f"to run it, or {COMMAND_PREFIX}COMMAND (see PROTOCOL.md)"
)


class NotLoadable(BPEError):
    """TARGET cannot be loaded; the one-line reason says why and what to do."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """A parsed target; nothing of it is loaded here."""

    kind: Literal["object", "entry-point", "command", "file"]
    name: str
    """Name for display."""
    words: tuple[str, ...]
    """The words of a command; for an object name and model; for an entry point implementation and model; for a file
    library and file."""

    @staticmethod
    def parse(target: str, library: str | None = None, model: str = DEFAULT_MODEL) -> TargetSpec:
        """Parse `target`. Raises `NotLoadable`.

        An implementation, or an object that needs a model, runs `model`; a file is run by `library`.
        """
        if target.startswith(COMMAND_PREFIX):
            return _command(target)
        if library is not None:
            return _file(target, library)
        if target in impls.names():
            return TargetSpec("entry-point", target, (target, model))
        if (python_file := _FILE_OBJECT.fullmatch(target)) and not Path(python_file["file"]).is_file():
            raise NotLoadable(f"{target}: there is no file {python_file['file']}")
        if python_file or _OBJECT.fullmatch(target):
            return TargetSpec("object", target, (target, model))
        if Path(target).is_file():
            library = runner_of(read_bytes(Path(target)))
            if library is None:
                raise NotLoadable(
                    f"{target}: is a file; name the library that runs it as a model, or write "
                    f"{COMMAND_PREFIX}{target} to run it as a command"
                )
            return _file(target, library)
        close = difflib.get_close_matches(target, impls.names(), 1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise NotLoadable(f"{target}: is not a target; {meant}give {FORMS}")

    def command(self) -> list[str]:
        """Return the command that speaks the protocol."""
        if self.kind == "command":
            return list(self.words)
        from harness.process.protocol import python_command  # slow to import, and not needed by most commands

        return python_command("harness.conform.serve", self.kind, *self.words)


def library_of(content: bytes) -> str | None:
    """Return the library that a model file of this content belongs to; None if it is of another format."""
    if sentencepiece_model.looks_like(content):
        return "sentencepiece"
    if content.lstrip().startswith(b"{"):
        is_ours = own.NAME.encode() in content[:_BEGINNING]
        return "tokenizers" if not is_ours and b'"model"' in content and b'"merges"' in content else None
    first, _, rank = content.split(b"\n", 1)[0].partition(b" ")
    return "tiktoken" if first and rank.isdigit() else None


def runner_of(content: bytes) -> str | None:
    """Return the implementation that runs a model file of this content if none is named; None if it is not a model."""
    is_known = own.NAME.encode() in content[:_BEGINNING] or content.startswith((b"minbpe ", b"#version"))
    return library_of(content) or ("priority" if is_known else None)


def is_target(name: str) -> bool:
    """Return whether `name` is a target other than an implementation: a command, an object or a file."""
    if name in impls.names():
        return False
    objects = _OBJECT.fullmatch(name) or _FILE_OBJECT.fullmatch(name)
    return bool(objects) or name.startswith(COMMAND_PREFIX) or Path(name).is_file()


def split_object(name: str) -> tuple[str, str]:
    """Return (module or file, path of the object in it); the path is empty if none is given."""
    if python_file := _FILE_OBJECT.fullmatch(name):
        return python_file["file"], python_file["object"] or ""
    module, _, path = name.partition(":")
    return module, path


def _command(target: str) -> TargetSpec:
    try:
        words = shlex.split(target.removeprefix(COMMAND_PREFIX))
    except ValueError as error:
        raise NotLoadable(f"{target}: is not a valid command: {error}") from None
    if not words:
        raise NotLoadable(f"{target}: the command is missing; write {COMMAND_PREFIX}PROGRAM ARGUMENTS")
    return TargetSpec("command", words[0], tuple(words))


def _file(target: str, library: str) -> TargetSpec:
    if not Path(target).exists():
        raise NotLoadable(f"{target}: no such model file")
    if library not in impls.names():
        known = near_and_known(library, impls.names())
        raise NotLoadable(f"{library}: is not an implementation that runs {target}; {known}")
    return TargetSpec("file", f"{Path(target).name} by {library}", (library, target))
