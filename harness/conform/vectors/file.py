"""Files of vectors: written and read, one JSON object a line; VECTORS.md documents the format."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
import regex

from harness.conform.vectors.choice import Case, Choice
from harness.conform.vectors.steps import KINDS, Kind
from harness.unicode_versions import version
from impls.core.errors import BPEError
from impls.core.model.model import Model

FORMAT = "bpebench vectors 1"
MOST_BYTES, MOST_CASES = 2_000_000, 20_000


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line."""

    format: Literal["bpebench vectors 1"]
    model: str
    tokens_sha256: str
    pattern: list[str]
    normalization: str | None
    unicode: str
    cases: int
    mutants: dict[str, int]
    not_told_apart: list[str]


class Vector(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case: `text` has these ids and they decode to `decoded`, or `bytes` is what the ids stand for."""

    id: str
    kind: Kind
    why: str
    text: str | None = None
    data: bytes | None = msgspec.field(name="bytes", default=None)
    allowed_special: list[str] | Literal["all"] = msgspec.field(default_factory=list)
    ids: list[int]
    decoded: str


class Vectors(msgspec.Struct, frozen=True):
    """A file of vectors."""

    head: Head
    cases: list[Vector]


class BadVectors(BPEError):
    """Raised for a file that is no file of vectors; names the line."""


def tokens_sha256(model: Model) -> str:
    """Return the digest of a model's tokens: of the rank file that tiktoken would read, without special tokens."""
    special = set(model.whole_token_ids.values())
    digest = hashlib.sha256()
    for i, token in enumerate(model.tokens):
        if token is not None and i not in special:
            digest.update(base64.b64encode(token) + f" {i}\n".encode())
    return digest.hexdigest()


def vectors_of(name: str, model: Model, choice: Choice) -> Vectors:
    """Return the file of a choice."""
    cases = [_vector(case, len(model.special_tokens)) for case in choice.cases]
    cases.sort(key=lambda case: (KINDS.index(case.kind), len(case.ids), case.id))
    head = Head(
        format=FORMAT,  # type: ignore[arg-type]
        model=name,
        tokens_sha256=tokens_sha256(model),
        pattern=list(model.pattern),
        normalization=model.normalization,
        unicode=version(lambda letter: bool(regex.match(r"\p{L}", letter))) or "unknown",
        cases=len(cases),
        mutants={str(kind): n for kind, n in choice.mutants.items()},
        not_told_apart=[f"{kind}: {name}" for kind, name in choice.survivors],
    )
    return Vectors(head, cases)


def _vector(case: Case, n_special: int) -> Vector:
    (kind, name), *others = case.kills
    allowed = list(case.allowed)
    data = case.data if case.text is None else None
    key = msgspec.json.encode([case.text, data, allowed, case.ids])
    return Vector(
        id=f"{kind.replace(' ', '-')}-{hashlib.sha256(key).hexdigest()[:10]}",
        kind=kind,
        why=name + (f"; and {len(others):,} more" if others else ""),
        allowed_special="all" if allowed and len(allowed) == n_special else allowed,
        text=case.text,
        data=data,
        ids=case.ids,
        decoded=case.decoded,
    )


def content_of(vectors: Vectors) -> bytes:
    """Return the content of a file: ASCII, a line for the head and for each case. Raises for one that is too large."""
    cases = (msgspec.to_builtins(case) for case in vectors.cases)
    held = ({name: value for name, value in case.items() if value is not None} for case in cases)
    lines = [json.dumps(line, separators=(",", ":")) for line in (msgspec.to_builtins(vectors.head), *held)]
    content = "".join(f"{line}\n" for line in lines).encode()
    if len(content) > MOST_BYTES or len(vectors.cases) > MOST_CASES:
        raise BPEError(f"{len(vectors.cases):,} cases of {len(content):,} bytes are more than vectors may be")
    return content


def compressed(content: bytes, path: Path) -> bytes:
    """Return the content as a file of this name holds it."""
    if path.suffix == ".gz":
        return gzip.compress(content, mtime=0)
    return lzma.compress(content) if path.suffix == ".xz" else content


def read(path: Path) -> Vectors:
    """Read a file. Raises `BadVectors` that names the line."""
    lines = _lines(path)
    try:
        head = msgspec.json.decode(next(lines, b""), type=Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadVectors(f"{path}: line 1 is not the head of a file of vectors: {error}") from None
    cases: list[Vector] = []
    for number, line in enumerate(lines, 2):
        try:
            case = msgspec.json.decode(line, type=Vector)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise BadVectors(f"{path}: line {number} is not a case: {error}") from None
        if (case.text is None) == (case.data is None):
            raise BadVectors(f"{path}: line {number} is not a case: it needs `text` or `bytes`, not both")
        cases.append(case)
    if len(cases) != head.cases:
        raise BadVectors(
            f"{path}: has {len(cases):,} cases, and its first line says {head.cases:,}: it was cut or joined"
        )
    return Vectors(head, cases)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        content = path.read_bytes()
        opened = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix, bytes)(content)
        yield from opened.splitlines(keepends=True)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise BadVectors(f"{path}: cannot be read: {error}") from None
