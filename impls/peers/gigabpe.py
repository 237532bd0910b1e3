r"""gigabpe: trains from files as Hugging Face's trainer does, with GPT-2's pattern; trains only.

It reads a file line by line, each line a text with its line end, and counts the bytes that occur as base symbols. So
texts are written as lines, with U+000B for the line ends inside (both are white space, and adjacent in the order of
base symbols), and texts that end in white space, which would join the line end, as separate files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import from_printable
from impls.interface import TrainingSpec
from impls.peers.conversion import rayon_threads
from impls.peers.peer import Peer
from impls.production.training import base_and_budget, checked_texts, files_of_lines, model_of_merges, require_gpt2

_LINE_END = str.maketrans("\n", "\v")


class Gigabpe(Peer):
    """`gigabpe.train_bpe`."""

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        require_gpt2(cls.name, spec)
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", base_order="gpt2", max_token_bytes=None)
        limits = {"pretokenizer": "bytelevel", "min_frequency": spec.min_count, "threads": rayon_threads()}
        token: Callable[[str], bytes] = _token
        if (given := files_of_lines(texts)) is not None:
            # Which bytes occur is not known, so it may learn a few merges more than requested.
            merges, token = cls.library.train_bpe(given, len(base) + n_merges, **limits)[1][:n_merges], from_printable
        else:
            with TemporaryDirectory(prefix="bpebench-") as folder:
                files, n_symbols = _written(cls.name, checked_texts(texts, spec), Path(folder))
                merges = cls.library.train_bpe(files, n_symbols + n_merges, **limits)[1]
        return model_of_merges(cls.name, spec, base, [(token(left), token(right)) for left, right in merges])


def _written(name: str, texts: Iterator[str], folder: Path) -> tuple[list[str], int]:
    """Write the texts to files; return their paths, and the number of distinct bytes in them."""
    lines = folder / "lines"
    files, numbers = [str(lines)], count()
    used: set[int] = set()
    with lines.open("wb") as file:
        for text in texts:
            if "\v" in text:
                raise Unsupported(name, "it reads texts by lines; U+000B, which replaces line ends, is in a text")
            data = text.translate(_LINE_END).encode()
            used.update(data)
            if text[-1:].isspace():
                alone = folder / str(next(numbers))
                alone.write_bytes(data)
                files.append(str(alone))
            else:
                used.add(ord("\n"))
                file.write(data + b"\n")
    return files, len(used)


def _token(text: str) -> bytes:
    return from_printable(text).replace(b"\v", b"\n")
