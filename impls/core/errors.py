"""The errors of the suite: each names what is wrong, and where, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

_LONGEST_PROBLEM = 600


def plural(n: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun; `nouns` defaults to `noun` and an s.

    >>> plural(1, "loss", "losses"), plural(2_000, "token")
    ('1 loss', '2,000 tokens')
    """
    return f"{n:,} {noun if n == 1 else nouns or noun + 's'}"


def shortened(problem: str) -> str:
    """Return `problem` with its middle cut out if it is long: it may quote a long token or a damaged file."""
    if len(problem) <= _LONGEST_PROBLEM:
        return problem
    return f"{problem[: _LONGEST_PROBLEM // 2]} … {problem[-_LONGEST_PROBLEM // 2 :]}"


class BPEError(Exception):
    """Base of every error a tokenizer, a model or a reader raises on purpose."""

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        # The attributes of an error are its arguments, in order; an error without attributes has only its message.
        return type(self), tuple(vars(self).values()) or self.args


class Unsupported(BPEError):
    """An implementation cannot run a model, or cannot train by a specification."""

    def __init__(self, implementation: str, reason: str) -> None:
        self.implementation, self.reason = implementation, (reason := shortened(reason))
        super().__init__(f"{implementation}: {reason}")


class Missing(BPEError):
    """The package behind an implementation is not installed."""

    def __init__(self, implementation: str, package: str) -> None:
        self.implementation, self.package = implementation, package
        super().__init__(f"{implementation}: the package {package!r} is not installed; pip install {package}")


class UnknownName(BPEError):
    """A name that is not known; the message suggests the nearest and shows the first of the known ones."""

    def __init__(self, what: str, name: str, known: list[str], see: str = "`bpebench list`") -> None:
        self.what, self.name, self.known = what, name, known
        super().__init__(f"unknown {what} {name!r}; {near_and_known(name, known, see)}")


_N_SHOWN = 8


def near_and_known(name: str, known: Sequence[str], see: str = "`bpebench list`") -> str:
    """Return which of the `known` names a user may have meant by `name`, and the first of all: for every message that
    names what there is, so that none is long.

    >>> near_and_known("^encod", ["encode/gpt2/tr", "decode/gpt2/tr"])
    "did you mean 'encode/gpt2/tr'? known: encode/gpt2/tr, decode/gpt2/tr"
    """
    from difflib import get_close_matches

    word = name.strip("^$.*")
    near = get_close_matches(name, known) or [other for other in known if len(word) > 2 and word in other][:3]
    meant = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return f"{meant}known: {some_of(known, see)}"


def some_of(names: Sequence[str], see: str = "`bpebench list`") -> str:
    """Return the names separated by commas; of many the first, their number, and where the list is."""
    if len(names) <= _N_SHOWN + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_N_SHOWN])}, … ({len(names)} in all, see {see})"


class InvalidSpec(BPEError):
    """A field of a `TrainingSpec` is wrong."""

    def __init__(self, field: str, problem: str) -> None:
        self.field, self.problem = field, problem
        super().__init__(f"TrainingSpec.{field}: {problem}")


class InvalidPattern(BPEError):
    """An unusable pre-tokenization pattern: it does not compile, has capturing groups, or leaves text unmatched."""


class InvalidModel(BPEError):
    """A model that contradicts itself, or content that is not a model; the message names the entry."""

    def __init__(self, problem: str) -> None:
        super().__init__(shortened(problem))


class InvalidFile(BPEError):
    """A file that cannot be read as a model; the message names the file and the place in it."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, (problem := shortened(" ".join(problem.splitlines())))
        super().__init__(f"{path}: {problem}")


class SpecialToken(BPEError, ValueError):
    """The text contains a special token that is not allowed."""

    def __init__(self, name: str, offset: int) -> None:
        self.name, self.offset = name, offset
        advice = "allow it with allowed_special, or pass disallowed_special=() to encode it as text"
        super().__init__(f"the text contains the special token {name!r} at character {offset}; {advice}")


class UnknownId(BPEError, KeyError):
    """An id that belongs to no token."""

    __str__ = Exception.__str__  # a KeyError would print its message in quotes

    def __init__(self, id: int, position: int) -> None:
        self.id, self.position = id, position
        super().__init__(f"unknown token id {id!r} at position {position}")


class UnknownSymbol(BPEError):
    """A character outside the alphabet of a model without an unknown token."""

    def __init__(self, character: str, offset: int) -> None:
        self.character, self.offset = character, offset
        problem = f"the character {character!a} (U+{ord(character[0]):04X}) at character {offset}"
        advice = "train with an unknown token, or with the alphabet 'bytes'"
        super().__init__(f"{problem} is not in the model's alphabet; {advice}")


class LibraryFailed(BPEError):
    """A library failed on a text with an error of its own, such as a Rust panic, which is not an `Exception`."""

    def __init__(self, implementation: str, problem: str, panicked: bool = False) -> None:
        self.implementation, self.problem, self.panicked = implementation, problem, panicked
        super().__init__(f"{implementation}: {problem}")
