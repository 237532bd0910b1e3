"""Files of vectors: written and read, one JSON object a line; VECTORS.md documents the format."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import regex

from harness.conform.vectors.steps import KINDS, Kind
from harness.unicode_versions import version
from impls.core.errors import BPEError
from impls.core.model.model import Model

MOST_BYTES, MOST_CASES = 2_000_000, 20_000


class Vector(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A case: `text` has these ids and they decode to `decoded`, or `bytes` is what the ids stand for."""

    id: str = ""
    kind: Kind = "pieces"
    why: str = ""
    text: str | None = None
    data: bytes | None = msgspec.field(name="bytes", default=None)
    allowed_special: list[str] | Literal["all"]
    ids: list[int]
    decoded: str

    def chosen_for(self, mutants: Sequence[tuple[Kind, str]]) -> None:
        """Note why it was chosen."""
        (self.kind, name), *others = mutants
        self.why = name + (f"; and {len(others):,} more" if others else "")
        key = msgspec.json.encode([self.text, self.data, self.allowed_special, self.ids])
        self.id = f"{self.kind.replace(' ', '-')}-{hashlib.sha256(key).hexdigest()[:10]}"


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


class Vectors(msgspec.Struct, frozen=True):
    """A file of vectors."""

    head: Head
    cases: list[Vector]


class BadVectors(BPEError):
    """Raised for a file that is not a file of vectors; names the line."""


def tokens_sha256(model: Model) -> str:
    """Return the digest of a model's tokens: of the rank file that tiktoken would read, without special tokens."""
    special = set(model.whole_token_ids.values())
    digest = hashlib.sha256()
    for i, token in enumerate(model.tokens):
        if token is not None and i not in special:
            digest.update(base64.b64encode(token) + f" {i}\n".encode())
    return digest.hexdigest()


def vectors_of(
    name: str, model: Model, cases: Sequence[Vector], n_mutants: dict[str, int], survivors: Sequence[str]
) -> Vectors:
    """Return the file of chosen cases."""
    head = Head(
        format="bpebench vectors 1",
        model=name,
        tokens_sha256=tokens_sha256(model),
        pattern=list(model.pattern),
        normalization=model.normalization,
        unicode=version(lambda letter: bool(regex.match(r"\p{L}", letter))) or "unknown",
        cases=len(cases),
        mutants=n_mutants,
        not_told_apart=list(survivors),
    )
    return Vectors(head, sorted(cases, key=lambda case: (KINDS.index(case.kind), len(case.ids), case.id)))


def content_of(vectors: Vectors) -> bytes:
    """Return the content of a file: ASCII, a line for the head and for each case. Raises for one that is too large."""
    cases = ({k: v for k, v in msgspec.to_builtins(case).items() if v is not None} for case in vectors.cases)
    lines = (json.dumps(line, separators=(",", ":")) + "\n" for line in (msgspec.to_builtins(vectors.head), *cases))
    content = "".join(lines).encode()
    if len(content) > MOST_BYTES or len(vectors.cases) > MOST_CASES:
        raise BPEError(f"{len(vectors.cases):,} cases of {len(content):,} bytes are too many for a file of vectors")
    return content


def compressed(content: bytes, path: Path) -> bytes:
    """Return the content as a file of this name holds it."""
    return gzip.compress(content, mtime=0) if path.suffix == ".gz" else content


def read(path: Path) -> Vectors:
    """Read a file. Raises `BadVectors` that names the line."""
    number = 0
    try:
        content = path.read_bytes()
        lines = (gzip.decompress(content) if path.suffix == ".gz" else content).splitlines()
        number = 1
        head = msgspec.json.decode(lines[0] if lines else b"", type=Head)
        cases = []
        for number, line in enumerate(lines[1:], 2):
            cases.append(msgspec.json.decode(line, type=Vector))
            if (cases[-1].text is None) == (cases[-1].data is None):
                raise BadVectors(f"{path}: line {number} is not a case: it needs `text` or `bytes`, not both")
    except (OSError, EOFError, zlib.error) as error:
        raise BadVectors(f"{path}: cannot be read: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = "a case" if number > 1 else "the head of a file of vectors"
        raise BadVectors(f"{path}: line {number} is not {what}: {error}") from None
    if len(cases) != head.cases:
        counts = f"has {len(cases):,} cases, and its first line says {head.cases:,}"
        raise BadVectors(f"{path}: {counts}: it was cut short or appended to")
    return Vectors(head, cases)
