"""GPT-2's pair of files: `encoder.json` (printable token -> id) and `vocab.bpe` (a merge per line).

    #version: 0.2
    Ġ t

Hugging Face names the same two `vocab.json` and `merges.txt`. The pair has no pattern: it is GPT-2's. An entry of the
encoder that is not a byte and that no merge makes is a special token, if it is in brackets (`<|endoftext|>`).
The pair is read, and not written.
"""

from __future__ import annotations

from pathlib import Path

from impls.core.errors import InvalidFile, InvalidModel
from impls.core.model import Model
from impls.core.text.byte_alphabet import CHARACTER_TO_BYTE
from impls.core.text.patterns import NAMED
from impls.formats.files import check_lines, decode_utf8, naming, parse_json, read_bytes
from impls.formats.vocabulary import check_ids, check_merges, pairs_of_ids, read_tokens, two_parts

FORMAT = "gpt2"
NAMES = (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt"))
PAIRS = tuple(" with ".join(names) for names in NAMES)
_HEADER = "#version"
_BRACKETS = (("<", ">"), ("[", "]"))


def find_pair(path: Path) -> tuple[Path, Path] | None:
    """Return the two files in the folder `path`, if both exist, or the file `path` and its companion, or None."""
    is_folder = path.is_dir()
    folder = path if is_folder else path.parent
    pairs = [(folder / encoder, folder / merges) for encoder, merges in NAMES]
    return next((pair for pair in pairs if (all(map(Path.is_file, pair)) if is_folder else path in pair)), None)


def looks_like_merges(content: bytes, path: Path) -> bool:
    """Return whether the first line is the header, or the name is that of a merges file (old ones have no header)."""
    return content.startswith(_HEADER.encode()) or path.name in [merges for _, merges in NAMES]


def read(encoder: Path, merges: Path) -> Model:
    """Read the model of the two files; raise `InvalidFile` naming the file and the line or entry."""
    for file, companion in ((encoder, merges), (merges, encoder)):
        if not file.is_file():
            raise InvalidFile(str(companion), f"its companion {file.name} is missing; GPT-2's format is two files")
    with naming(encoder):
        vocab = check_ids(parse_json(read_bytes(encoder)), "the vocabulary")
    with naming(merges):
        lines = read_bytes(merges)
        check_lines(lines, complete=False)
        pairs = _read_lines(decode_utf8(lines))
        check_merges(pairs, vocab, "the vocabulary")
        others = _without_merge(vocab, {left + right for left, right in pairs}, encoder.name)
    plain = {text: i for text, i in vocab.items() if text not in others}
    with naming(encoder):
        tokens = read_tokens(plain, True, "the vocabulary")
    return Model(tokens=tokens, merges=pairs_of_ids(pairs, vocab), pattern=NAMED["gpt2"], special_tokens=others)


def _without_merge(vocab: dict[str, int], results: set[str], encoder: str) -> dict[str, int]:
    """Return the entries that are not bytes and that no merge makes, which are special tokens; raise `InvalidModel`
    for one that does not look special."""
    others = {text: i for text, i in vocab.items() if text not in results and text not in CHARACTER_TO_BYTE}
    for text, i in others.items():
        if (text[0], text[-1]) not in _BRACKETS and CHARACTER_TO_BYTE.keys() >= set(text):
            raise InvalidModel(f"no line makes the token {text!a} (id {i} in {encoder}); the file is cut short")
    return others


def _read_lines(text: str) -> list[tuple[str, str]]:
    lines = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    return [
        two_parts(line, f"line {number}")
        for number, line in lines
        if line and not (number == 1 and line.startswith(_HEADER))
    ]
