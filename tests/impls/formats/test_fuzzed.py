"""Files that are changed by byte, by line and by JSON value, and those that led long runs to new code: each gives a
model, or one clear line."""

from __future__ import annotations

import json
import random
import traceback
import warnings
from pathlib import Path
from typing import Any

import pytest

from impls import InvalidFile
from impls.formats import READ_ONLY, formats, load, own

HERE = Path(__file__).parent
N_FILES = 200
FILES = (*formats(), *READ_ONLY, "encoder.json")  # of GPT-2's pair, "gpt2" is the merges


def problem_with(content: bytes, format: str, folder: Path, good: dict[str, bytes]) -> str | None:
    """Return what is wrong with how a file is read, or None: it is a model, or an `InvalidFile` with one line. Of a
    format of two files the other one is that of `good`."""
    path = folder / ("vocab.bpe" if format in ("gpt2", "encoder.json") else "file")
    path.write_bytes(good["gpt2"] if format == "encoder.json" else content)
    if format in ("gpt2", "encoder.json"):
        (folder / "encoder.json").write_bytes(good["encoder.json"] if format == "gpt2" else content or b" ")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(path)
    except InvalidFile as error:
        return f"no clear line: {error}" if len(str(error).splitlines()) != 1 or len(str(error)) > 2000 else None
    except Exception as error:
        return "".join(traceback.format_exception(error))
    return None


_ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**64, 10**400, 1.5, float("nan"), float("inf"), "", "a", "\0", "\ud83d", "é",
    "(", "[^", "(?R)", "a{1,99}", "x" * 300, [], {}, [[]], [None], {"": 0}, {"type": "Sequence"}, "ByteLevel", "Split",
    {"type": []}, [["a", "b"]], ["a b"], "a b c", "<s>", "nfc",
]  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """One to four changes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        if content[:1] in b"{[" and rng.random() < 0.7:
            content = _mutated_json(content, rng)
        else:
            content = _mutated_bytes(content, rng)
    return content


def _mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    at, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    odd = (b"\0", b"\xff", b"\n", b"\r", b" ", b"=", b"-1", b"9" * 30, b"</w>", b"\xed\xa0\x80", rng.randbytes(6))
    return rng.choice((
        content[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in content[at : at + 1]) + content[at + 1 :],
        content[:at],
        content[:at] + content[end:],
        content[:at] + rng.choice(odd) + content[at:],
        content[:at] + content[at:end][:2000] + content[at:],
    ))  # fmt: skip


def _mutated_json(content: bytes, rng: random.Random) -> bytes:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return _mutated_bytes(content, rng)
    places = list(_places(document, rng))
    if not places:
        return json.dumps(rng.choice(_ODD)).encode()
    at, key = rng.choice(places)
    match rng.randrange(4):
        case 0 if isinstance(at, dict):
            del at[key]
        case 1:
            other, other_key = rng.choice(places)
            try:
                at[key] = json.loads(json.dumps(other[other_key]))
            except (KeyError, IndexError, ValueError):
                return content
        case 2 if isinstance(at, dict):
            at[rng.choice(("type", "id", "content", "vocab", "merges", "pattern", "a", ""))] = rng.choice(_ODD)
        case _:
            at[key] = rng.choice(_ODD)
    if isinstance(document, dict) and "digest" in document and rng.random() < 0.8:  # to reach what is behind it
        try:
            document["digest"] = own._digest(document)
        except Exception:
            return content
    return json.dumps(document).encode()


def _places(value: Any, rng: random.Random) -> Any:
    """(container, key) of values all through the document; of long containers only some."""
    items: list[Any] = list(
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    )
    for key, inner in items if len(items) < 12 else rng.sample(items, 6):
        yield value, key
        yield from _places(inner, rng)


@pytest.mark.parametrize("format", FILES)
def test_a_damaged_file_is_read_or_refused_in_one_line(format: str, good: dict[str, bytes], tmp_path: Path) -> None:
    """Mutations at random, and those that led long runs to new code."""
    rng = random.Random(format)
    contents = [path.read_bytes() for path in sorted((HERE / "fuzz_corpus" / format).glob("*"))]
    for content in (*contents, *(mutated(good[format], rng) for _ in range(N_FILES))):
        problem = problem_with(content, format, tmp_path, good)
        assert problem is None, (content[:2000], problem)
