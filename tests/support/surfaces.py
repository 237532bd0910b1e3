"""Write impls/drop_in/README.md: every public name of tiktoken and tokenizers, and whether it is provided here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[2]))

import tiktoken
import tiktoken.core
import tiktoken.load
import tiktoken.model
import tiktoken.registry
import tokenizers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

import bpebench
from impls.drop_in import hf
from impls.drop_in.hf.not_provided import NOT_PROVIDED
from impls.drop_in.hf.parts import BPE, Decoder, Normalizer, PreTokenizer
from impls.drop_in.hf.post_processing import PostProcessor

PAGE = Path(__file__).parents[2] / "impls" / "drop_in" / "README.md"
HEAD = """# What the drop-ins provide

Every public name of both libraries: `from bpebench.hf import Tokenizer`, `from bpebench import tiktoken`, or first of
all `sys.modules["tiktoken"] = bpebench.tiktoken`. *Provided* does what the library's does (the tests compare both),
*refused* raises an error that says what to do instead, *absent* is an ordinary `AttributeError`, as
`tiktoken._educational` is. Where answers differ on purpose: see the docstrings of [`hf`](hf/__init__.py) and
[`tiktoken`](tiktoken/encoding.py). `python tests/support/surfaces.py` writes this page.
"""
COLUMNS = "| of | provided | refused: what to do instead | absent |\n|---|---|---|---|"
Pair = tuple[str, object, object]
"""A name, the library's class or module, and ours."""
TOKENIZERS: list[Pair] = [
    ("module", tokenizers, hf),
    ("Tokenizer", tokenizers.Tokenizer, hf.Tokenizer),
    ("Encoding", tokenizers.Encoding, hf.Encoding),
    ("AddedToken", tokenizers.AddedToken, hf.AddedToken),
    ("DecodeStream", decoders.DecodeStream, hf.DecodeStream),
    ("BPE", models.BPE, BPE),
    ("Normalizer", normalizers.Normalizer, Normalizer),
    ("PreTokenizer", pre_tokenizers.PreTokenizer, PreTokenizer),
    ("PostProcessor", processors.PostProcessor, PostProcessor),
    ("Decoder", decoders.Decoder, Decoder),
]
TIKTOKEN: list[Pair] = [
    ("module", tiktoken, bpebench.tiktoken),
    ("Encoding", tiktoken.Encoding, bpebench.tiktoken.Encoding),
    ("core", tiktoken.core, bpebench.tiktoken.core),
    ("load", tiktoken.load, bpebench.tiktoken.load),
    ("model", tiktoken.model, bpebench.tiktoken.model),
    ("registry", tiktoken.registry, bpebench.tiktoken.registry),
]


def public_names(library: object) -> list[str]:
    """The public names of a class or module, without what it imports from elsewhere."""
    names = [name for name in dir(library) if not name.startswith("_")]
    if isinstance(library, ModuleType) and library is not tokenizers:
        modules = {name: getattr(getattr(library, name), "__module__", library.__name__) for name in names}
        own = (library.__name__, *_PUBLIC_OF.get(library, ()))
        public = [name for name, module in modules.items() if module in own]
        return [name for name in public if not isinstance(getattr(library, name), ModuleType | bool)]
    return [name for name in names if library is not tokenizers or name not in _IMPORTED]


_PUBLIC_OF = {tiktoken: ("tiktoken.core", "tiktoken.model", "tiktoken.registry")}
_IMPORTED = ("Any", "Enum", "List", "Tuple", "Union", "tokenizers")


def rows(pairs: list[Pair], *, refuses: bool) -> Iterator[tuple[str, str, str, str]]:
    """Yield whether each name is provided, refused or absent, and what to do instead."""
    for kind, library, ours in pairs:
        refused = NOT_PROVIDED.get(kind, {}) if refuses else {}
        for name in public_names(library):
            state = "refused" if name in refused else "provided" if hasattr(ours, name) else "absent"
            yield kind, name, state, refused.get(name, "")


def page() -> str:
    written = [HEAD]
    for title, pairs, refuses in (("bpebench.hf", TOKENIZERS, True), ("bpebench.tiktoken", TIKTOKEN, False)):
        written += [f"## `{title}`, for `{pairs[0][1].__name__}`", "", COLUMNS]  # type: ignore[attr-defined]
        for kind, _, _ in pairs:
            by_status: dict[str, dict[str, list[str]]] = {"provided": {}, "refused": {}, "absent": {}}
            for _, name, state, instead in (row for row in rows(pairs, refuses=refuses) if row[0] == kind):
                by_status[state].setdefault(instead, []).append(f"`{name}`")
            cells = [
                "<br>".join(", ".join(names) + (f": {instead}" if instead else "") for instead, names in part.items())
                for part in by_status.values()
            ]
            written.append(f"| {kind} | {' | '.join(cells)} |")
        written.append("")
    return "\n".join(written)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
