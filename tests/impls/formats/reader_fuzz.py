"""Fuzzes the readers of vocabulary files: mutated good files, by byte, by line and by JSON value.

    python tests/impls/formats/reader_fuzz.py tokenizer.json --seconds 600 --keep found/

What a reader may do with a file: give a model, or raise `InvalidFile` with one line. Anything else, and more than two
seconds of processor time, is a find; it is kept by its digest. With --atheris the package of that name leads the way by
coverage. Seconds are of processor time: a run that is stopped and continued tries as much as any other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

FORMATS = ("bpebench", "tiktoken", "tokenizer.json", "gpt2", "minbpe", "subword-nmt", "tekken", "sentencepiece")
FILES = (*FORMATS, "encoder.json")  # what is mutated: of GPT-2's pair, "gpt2" is the merges
MAX_SECONDS = 2.0


def seeds() -> dict[str, bytes]:
    """Format -> a small good file; of GPT-2's pair the merges."""
    import reader_damage  # beside this file

    import impls
    from impls import TrainingSpec
    from impls.formats import save

    text = "low lower lowest newer wider, İstanbul'da  \n\tnew"
    spec = TrainingSpec(vocab_size=262, special_tokens=("<s>",))
    by_bytes = impls.get("priority").train_model([text] * 2, spec)
    words = TrainingSpec(vocab_size=50, alphabet="chars", end_of_word="</w>", pattern=r"\S+|\s")
    by_words = impls.get("priority").train_model([text] * 2, words)
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for format in FORMATS[:-2]:
            path = Path(folder) / format
            save(by_words if format == "subword-nmt" else by_bytes, path, format)
            found[format] = (path / "vocab.bpe" if format == "gpt2" else path).read_bytes()
            if format == "gpt2":
                found["encoder.json"] = (path / "encoder.json").read_bytes()
    found["tekken"] = reader_damage.a_tekken_file()
    found["sentencepiece"] = reader_damage.a_sentencepiece_model()
    return found


def problem_with_reading(
    content: bytes, format: str, folder: Path, companion: bytes = b"", *, max_seconds: float = MAX_SECONDS
) -> str | None:
    """What is wrong with how the file is read, or None."""
    from impls.core.errors import InvalidFile
    from impls.formats import load

    path = folder / ("vocab.bpe" if format == "gpt2" else "file")
    path.write_bytes(content)
    if companion:
        (folder / "encoder.json").write_bytes(companion)
    before = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            load(path)
    except InvalidFile as error:
        if len(str(error).splitlines()) != 1 or len(str(error)) > 2000:
            return f"no clear line: {error}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "".join(traceback.format_exception(error))
    seconds = time.process_time() - before
    return f"{seconds:.1f} s" if seconds > max_seconds else None


def problem_with_one_file(
    content: bytes, format: str, folder: Path, good: dict[str, bytes], *, max_seconds: float = MAX_SECONDS
) -> str | None:
    """The same, of one file where the format has two: the other one is the good one of `good`."""
    if format == "encoder.json":
        return problem_with_reading(good["gpt2"], "gpt2", folder, content or b" ", max_seconds=max_seconds)
    companion = good["encoder.json"] if format == "gpt2" else b""
    return problem_with_reading(content, format, folder, companion, max_seconds=max_seconds)


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
    own = "digest" in document if isinstance(document, dict) else False
    if own and rng.random() < 0.8:  # else nothing behind the digest is ever reached
        from impls.formats import own as own_format

        try:
            document["digest"] = own_format._digest(document)
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


def main() -> int:
    """Fuzzes one format for a time; exit status 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("format", choices=FILES)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--keep", type=Path, default=Path("found"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true")
    parser.add_argument("--corpus", type=Path, help="What --atheris starts from and adds to.")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    good = seeds()
    kept: set[str] = set()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)

        def one(content: bytes) -> None:
            problem = problem_with_one_file(content, arguments.format, folder, good)
            if problem is None:
                return
            signature = hashlib.sha256(_signature(problem).encode()).hexdigest()[:16]
            if signature not in kept:
                kept.add(signature)
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{arguments.format}-{signature}").write_bytes(content)
                print(f"{arguments.format}-{signature}: {problem}", flush=True)

        if arguments.atheris:

            def end(tried: int) -> NoReturn:  # libFuzzer never comes back
                print(f"{arguments.format}: {tried} files, {len(kept)} find(s)", flush=True)
                shutil.rmtree(folder, ignore_errors=True)
                os._exit(1 if kept else 0)

            return _by_coverage(one, end, good[arguments.format], arguments)
        rng = random.Random(arguments.seed)
        pool = [good[arguments.format]]
        end, tried = time.process_time() + arguments.seconds, 0
        while time.process_time() < end:
            content = mutated(rng.choice(pool), rng)
            one(content)
            tried += 1
            if rng.random() < 0.02 and len(content) < 40_000:
                pool = [*pool[-30:], content, good[arguments.format]]
    print(f"{arguments.format}: {tried} files, {len(kept)} find(s)")
    return 1 if kept else 0


def _signature(problem: str) -> str:
    """What two findings of one fault share: the lines of code they went through, and the type of error."""
    lines = problem.strip().splitlines()
    return "\n".join([*(line for line in lines if line.lstrip().startswith("File ")), lines[-1].partition(":")[0]])


def _by_coverage(
    one: Callable[[bytes], None], end: Callable[[int], NoReturn], good: bytes, arguments: argparse.Namespace
) -> int:
    import atheris

    tried = 0

    def timed(content: bytes) -> None:
        nonlocal tried
        one(content)
        tried += 1
        if time.process_time() > last:
            end(tried)

    def custom(data: bytes, max_size: int, seed: int) -> bytes:
        return mutated(data or good, random.Random(seed))[:max_size]

    atheris.instrument_all()
    corpus = arguments.corpus or Path(tempfile.mkdtemp())
    corpus.mkdir(parents=True, exist_ok=True)
    (corpus / "good").write_bytes(good)
    last = time.process_time() + arguments.seconds
    atheris.Setup([sys.argv[0], str(corpus), "-max_len=100000"], timed, custom_mutator=custom)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
