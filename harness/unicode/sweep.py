"""Run every code point through every engine: which of them cut differently, and is the Unicode version the reason?

The engine `regex` is the package that our own implementations split with; its pieces are merged here, once per shape.
All others run the vocabulary of `contexts`, each in a process of its own.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

import msgspec
import numpy as np
import regex

import impls
from harness.unicode.characters import LETTERS, SPACES, STAND_INS, is_of_a_version, version
from harness.unicode.contexts import (
    CONTEXTS,
    FEW_CONTEXTS,
    LOST,
    RegexEngine,
    borders,
    code_points,
    contexts_of,
    sweep_model,
)
from impls.core.text.patterns import NAMED

Reason = Literal["unicode version", "class", "lost"]
REASONS: dict[Reason, str] = {
    "unicode version": "newer than one of the engines",
    "class": "both know it but classify it differently",
    "lost": "the tokens do not spell the text",
}


class Engine(msgspec.Struct, kw_only=True):
    """One engine: whether it ran, and which Unicode version it knows."""

    name: str
    status: Literal["ok", "unsupported", "missing", "crash"]
    reason: str = ""
    version: str | None = None
    """The newest Unicode version whose letters it knows."""
    n_differing: int = 0
    """Code points on which it differs from the reference."""
    seconds: float = 0.0


class Range(msgspec.Struct, kw_only=True):
    """Adjacent code points on which an engine differs from the reference in the same way."""

    engine: str
    first: int
    last: int
    reason: Reason
    reference_class: str
    """The class by which the reference cuts around it."""
    engine_class: str
    name: str
    """Name of the first code point, if Python knows one."""


class UnicodeSweep(msgspec.Struct, kw_only=True):
    """All engines over all code points, under one pattern."""

    pattern: str
    reference: str
    n_code_points: int
    n_contexts: int
    engines: list[Engine]
    ranges: list[Range]

    @property
    def answered(self) -> list[Engine]:
        """Return the engines that ran."""
        return [engine for engine in self.engines if engine.status == "ok"]

    @property
    def is_fault(self) -> bool:
        """Return whether a difference is not explained by Unicode versions, an engine died, or nothing was compared.

        A single engine is only tested for its version.
        """
        if len(self.answered) < min(2, len(self.engines)):
            return True
        return any(found.reason != "unicode version" for found in self.ranges) or any(
            engine.status == "crash" for engine in self.engines
        )


REGEX = "regex"
ENGINES = (REGEX, "tiktoken", "tokenizers", "compiled")
"""The engines compared by default."""
_BATCH = 512
"""Code points encoded as one text."""


@dataclass
class Swept:
    """The result of one engine on all code points."""

    engine: Engine
    borders: bytes = b""
    """A uint64 for each code point, in order."""
    classes: dict[tuple[int, bool, int], str] = field(default_factory=dict)
    """(UTF-8 bytes, whether in few contexts, borders) -> the class whose reference character is cut the same way."""

    def array(self) -> np.ndarray:
        """Return the borders as a uint64 array of shape (n_code_points,)."""
        return np.frombuffer(self.borders, dtype=np.uint64)


def sweep_engine(name: str, pattern: tuple[str, ...], codes: Sequence[int]) -> Swept:
    """Run one engine over `codes`; call it in a process of its own, as it may crash."""
    begin = time.perf_counter()
    model = sweep_model(pattern)
    try:
        tokenizer = RegexEngine(model) if name == REGEX else impls.load(name, model)
    except KeyboardInterrupt:
        raise
    except impls.Missing as error:
        return Swept(Engine(name=name, status="missing", reason=str(error)))
    except impls.Unsupported as error:
        return Swept(Engine(name=name, status="unsupported", reason=error.reason))
    except BaseException as error:
        return Swept(Engine(name=name, status="crash", reason=f"{type(error).__name__}: {error}"))
    found = [borders(tokenizer, codes[at : at + _BATCH]) for at in range(0, len(codes), _BATCH)]
    engine = Engine(name=name, status="ok", version=letters_known(tokenizer), seconds=time.perf_counter() - begin)
    return Swept(engine, np.concatenate(found).tobytes(), _classes(tokenizer))


def letters_known(tokenizer: impls.Tokenizer) -> str | None:
    """Return the newest Unicode version whose letters are cut like old ones; `tokenizer` runs `sweep_model`."""
    old = [character for kind in STAND_INS if kind.endswith("letter") for character in STAND_INS[kind]]
    found = borders(tokenizer, [*map(ord, old), *map(ord, LETTERS.values())], CONTEXTS)
    as_letter = {(len(character.encode()), bits) for character, bits in zip(old, found, strict=False)}
    bits_of = dict(zip(LETTERS.values(), found[len(old) :], strict=True))
    return version(lambda letter: (len(letter.encode()), bits_of[letter]) in as_letter)


def _classes(tokenizer: impls.Tokenizer) -> dict[tuple[int, bool, int], str]:
    kinds = [(kind, character) for kind, row in STAND_INS.items() for character in row]
    kinds += [("white space", character) for character in SPACES]
    names: dict[tuple[int, bool, int], list[str]] = {}
    for contexts in (CONTEXTS, FEW_CONTEXTS):
        found = borders(tokenizer, [ord(character) for _, character in kinds], contexts)
        for (kind, character), bits in zip(kinds, found, strict=True):
            key = (len(character.encode()), contexts is FEW_CONTEXTS, int(bits))
            names.setdefault(key, []).append(kind)
    return {key: _class_name(kinds) for key, kinds in names.items()}


def _class_name(kinds: list[str]) -> str:
    """Return a short name for classes that are cut alike: `letter` for all three kinds of letters."""
    if len([kind for kind in kinds if kind.endswith("letter")]) == 3:
        kinds = ["letter", *(kind for kind in kinds if not kind.endswith("letter"))]
    return " or ".join(kinds)


def compare(pattern_name: str, swept: Sequence[Swept], codes: Sequence[int]) -> UnicodeSweep:
    """Compare every engine with the first that ran; a text that any of them (even the first) loses is `lost`."""
    answered = [one for one in swept if one.engine.status == "ok"]
    ranges: list[Range] = []
    if answered:
        reference = answered[0]
        for one in answered:
            apart = np.flatnonzero((reference.array() != one.array()) | (one.array() == LOST))
            one.engine.n_differing = len(apart)
            ranges += _ranges(reference, one, [(index, codes[index]) for index in apart.tolist()])
    return UnicodeSweep(
        pattern=pattern_name,
        reference=answered[0].engine.name if answered else "",
        n_code_points=len(codes),
        n_contexts=len(CONTEXTS),
        engines=[one.engine for one in swept],
        ranges=ranges,
    )


def _ranges(reference: Swept, one: Swept, apart: Sequence[tuple[int, int]]) -> list[Range]:
    def classified(place: tuple[int, int]) -> tuple[Reason, str, str]:
        index, code = place
        bits = int(reference.array()[index]), int(one.array()[index])
        classes = _class_of(reference, code, bits[0]), _class_of(one, code, bits[1])
        if int(LOST) in bits:
            return "lost", *classes
        of_version = is_of_a_version(chr(code), reference.engine.version, one.engine.version)
        return "unicode version" if of_version else "class", *classes

    found: list[Range] = []
    for (_, what), group in groupby(enumerate(apart), key=lambda pair: (pair[1][1] - pair[0], classified(pair[1]))):
        members = [code for _, (_, code) in group]
        reason, reference_class, engine_class = what
        found.append(
            Range(
                engine=one.engine.name,
                first=members[0],
                last=members[-1],
                reason=reason,
                reference_class=reference_class,
                engine_class=engine_class,
                name=unicodedata.name(chr(members[0]), ""),
            )
        )
    return found


def _class_of(swept: Swept, code: int, bits: int) -> str:
    if bits == int(LOST):
        return "lost"
    key = (len(chr(code).encode()), contexts_of(code) == FEW_CONTEXTS, bits)
    return swept.classes.get(key, "other")


def sweep(
    engines: Sequence[str],
    pattern: tuple[str, ...],
    pattern_name: str,
    run: Callable[[Sequence[tuple[str, tuple[str, ...], list[int]]]], Sequence[Swept | Exception]],
    codes: Sequence[int] | None = None,
) -> UnicodeSweep:
    """Sweep every engine over `codes` (default: all code points); `run` runs `sweep_engine` on a list of arguments.

    An engine whose process dies is reported as a `crash`.
    """
    chosen = list(codes) if codes is not None else code_points()
    answers = run([(name, pattern, chosen) for name in engines])
    swept = [
        Swept(Engine(name=name, status="crash", reason=str(answer))) if isinstance(answer, Exception) else answer
        for name, answer in zip(engines, answers, strict=True)
    ]
    return compare(pattern_name, swept, chosen)


def versions(implementations: Iterable[str]) -> dict[str, str | None]:
    """Return the Unicode version of each implementation's splitting engine (None if it cannot run), and `regex`'s."""
    found: dict[str, str | None] = {"regex": version(lambda letter: bool(regex.match(r"\p{L}", letter)))}
    model = sweep_model(NAMED["cl100k"])
    for name in implementations:
        try:
            found[name] = letters_known(impls.get(name)(model))
        except BaseException:
            found[name] = None
    return found
