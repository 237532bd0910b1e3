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
import reader_damage

from impls import InvalidFile
from impls.formats import formats, load, own

HERE = Path(__file__).parent
N_FILES = 250
FILES = (*formats(), "tekken", "encoder.json")  # of GPT-2's pair, "gpt2" is the merges


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    files = reader_damage.good_files(tmp_path_factory.mktemp("good"))
    return {format: path.read_bytes() for format, path in files.items()}


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
        elif rng.random() < 0.5:
            content = _mutated_lines(content, rng)
        else:
            content = _mutated_bytes(content, rng)
    return content


def _mutated_bytes(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return rng.randbytes(8)
    at, end = rng.randrange(len(content)), rng.randrange(len(content))
    match rng.randrange(6):
        case 0:
            return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
        case 1:
            return content[:at]
        case 2:
            return content[: min(at, end)] + content[max(at, end) :]
        case 3:
            return content[:at] + rng.randbytes(rng.randrange(1, 9)) + content[at:]
        case 4:
            return content[:at] + content[min(at, end) : max(at, end)][:2000] + content[at:]
        case _:
            odd = rng.choice((b"\0", b"\xff", b"\n", b"\r", b" ", b"=", b"-1", b"9" * 30, b"</w>", b"\xed\xa0\x80"))
            return content[:at] + odd + content[at:]


def _mutated_lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            lines[k], lines[other] = lines[other], lines[k]
        case 1:
            lines.insert(k, lines[other])
        case 2:
            del lines[k]
        case 3:
            fields = lines[k].split(b" ")
            rng.shuffle(fields)
            lines[k] = b" ".join(fields)
        case _:
            fields = lines[k].split(b" ")
            fields[rng.randrange(len(fields))] = rng.choice((b"", b"-1", b"0", b"1e9", b"99999999999", b"a", b"\xc3"))
            lines[k] = b" ".join(fields)
    return b"\n".join(lines)


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
    if (
        isinstance(document, dict) and "digest" in document and rng.random() < 0.8
    ):  # else nothing behind the digest is ever reached
        try:
            document["digest"] = own._digest(document)
        except Exception:
            return content
    return json.dumps(document).encode()


def _places(value: Any, rng: random.Random) -> Any:
    """(container, key) of values all through the document; of long containers only some."""
    if isinstance(value, dict):
        items: list[tuple[Any, Any]] = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    else:
        return
    for key, inner in items if len(items) < 12 else rng.sample(items, 6):
        yield value, key
        yield from _places(inner, rng)


@pytest.mark.parametrize("format", FILES)
def test_a_mutated_file_is_read_or_refused_in_one_line(format: str, good: dict[str, bytes], tmp_path: Path) -> None:
    rng = random.Random(format)
    for _ in range(N_FILES):
        content = mutated(good[format], rng)
        problem = problem_with(content, format, tmp_path, good)
        assert problem is None, (content[:2000], problem)


def test_the_fuzzer_finds_a_planted_fault(
    good: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(entries: Any, *_: object) -> tuple[dict[str, int], dict[str, int], dict[str, tuple[str, ...]]]:
        return {entries[0].content: entries[0].id}, {}, {}

    monkeypatch.setattr("impls.formats.tokenizer_json.reader._whole_tokens", careless)
    rng = random.Random(1)
    for _ in range(1000):
        content = mutated(good["tokenizer.json"], rng)
        problem = problem_with(content, "tokenizer.json", tmp_path, good)
        if problem is not None:
            assert "careless" in problem
            return
    pytest.fail("a thousand files, and the fault was not found")


@pytest.mark.parametrize(
    "file", sorted(path for path in (HERE / "fuzz_corpus").glob("*/*")), ids=lambda path: path.name
)
def test_what_led_long_runs_to_new_code_is_read_or_refused_in_one_line(
    file: Path, good: dict[str, bytes], tmp_path: Path
) -> None:
    assert problem_with(file.read_bytes(), file.parent.name, tmp_path, good) is None
