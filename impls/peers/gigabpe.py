r"""gigabpe: trains from files as Hugging Face's trainer does, with GPT-2's pattern; trains only.

It reads a file line by line, each line a text with its line end. So texts are written as lines, with U+000B for the
line ends inside (both are white space, and adjacent in the order of base symbols), and texts that end in white space,
which would join the line end, as separate files. Only bytes that occur are its base symbols, so it may learn more
merges than requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.text.byte_alphabet import from_printable
from impls.interface import TrainingSpec
from impls.peers.conversion import rayon_threads
from impls.peers.peer import Peer
from impls.production.training import base_and_budget, checked_texts, files_of_lines, model_of_merges, require_gpt2


class Gigabpe(Peer):
    """`gigabpe.train_bpe`."""

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges; raise `Unsupported` naming the field it cannot follow."""
        require_gpt2(cls.name, spec)
        base, n_merges = base_and_budget(cls.name, spec, ties="smallest", base_order="gpt2")
        limits = {"pretokenizer": "bytelevel", "min_frequency": spec.min_count, "threads": rayon_threads()}
        given = files_of_lines(texts)
        with TemporaryDirectory(prefix="bpebench-") as folder:
            files = _written(cls.name, checked_texts(texts, spec), Path(folder)) if given is None else given
            merges = cls.library.train_bpe(files, len(base) + n_merges, **limits)[1][:n_merges]
        token = _token if given is None else from_printable
        return model_of_merges(cls.name, spec, base, [(token(left), token(right)) for left, right in merges])


def _written(name: str, texts: Iterator[str], folder: Path) -> list[str]:
    """Write the texts to files, and return their paths."""
    lines = folder / "lines"
    files = [str(lines)]
    with lines.open("wb") as file:
        for text in texts:
            if "\v" in text:
                raise Unsupported(name, "it reads texts by lines; U+000B, which replaces line ends, is in a text")
            data = text.replace("\n", "\v").encode()
            if text[-1:].isspace():
                alone = folder / str(len(files))
                alone.write_bytes(data)
                files.append(str(alone))
            else:
                file.write(data + b"\n")
    return files


def _token(text: str) -> bytes:
    return from_printable(text).replace(b"\v", b"\n")
