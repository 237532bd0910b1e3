"""Convert our model to the formats peers read, recognise public vocabularies, and other code shared by adapters.

Special tokens are left out of rank files and tokenizer.json: `Tokenizer` cuts a text around them, so that libraries
need not treat them as we do. So is normalisation, which `Tokenizer` applies first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from impls.core.errors import Unsupported, plural
from impls.core.model import Model
from impls.core.text.patterns import NAMED, WHOLE_TEXT
from impls.core.text.stages import drops_text
from impls.formats.known import KNOWN, Known
from impls.formats.sentencepiece_model import proto
from impls.formats.tiktoken_ranks import digest_of, write_tiktoken_ranks
from impls.formats.tokenizer_json.writer import write_compact

_PLAIN = {NAMED["gpt2-0.14"]: NAMED["gpt2"], NAMED["cl100k-0.14"]: NAMED["cl100k"]}


def plain_pattern(model: Model) -> tuple[str, ...]:
    """Return the model's split stages; those of tiktoken 0.14 in the older, equivalent form, which libraries know."""
    return _PLAIN.get(model.pattern, model.pattern)


def one_pattern_of(model: Model) -> str:
    """Return the `plain_pattern` of a model with at most one split stage, as one expression."""
    stages = plain_pattern(model)
    return stages[0] if stages else WHOLE_TEXT


def has_ranks(model: Model) -> bool:
    """Return whether a rank file suits the model: it looks up joined bytes, and its pattern has a name.

    A list of merges is converted to tokenizer.json. So are other patterns, which are explicit there: `\\w` and `\\s` do
    not match the same in all engines.
    """
    is_named = model.pattern in NAMED.values() and len(model.pattern) <= 1
    return model.alphabet == "bytes" and model.merge_rule == "concatenation" and is_named


def has_dense_ranks(model: Model) -> bool:
    """Return whether the model `has_ranks`, each id has a token, and merges of lower ranks make all of them."""
    return has_ranks(model) and len(model.id_by_token) == len(model.tokens) and not underived_reason(model)


def rank_file(model: Model) -> bytes:
    """Return a model that `has_ranks` as a tiktoken rank file."""
    return write_tiktoken_ranks(model.id_by_token)


def tokenizer_json(name: str, model: Model, *, every_way: bool = False, dense: bool = False) -> bytes:
    """Return the model as tokenizer.json; raise `Unsupported` if a list of merges would not give the model's ids.

    With `every_way`, all splits of a token that no lower ranks make are listed, as in the files of llama3; with
    `dense`, an id without a token gets one that no text contains.
    """
    _require_bytes(name, model)
    if drops_text(model.pattern):
        raise Unsupported(name, "it cannot drop what a pattern leaves out")
    if not every_way and (why := underived_reason(model)):
        raise Unsupported(name, why)
    content = write_compact(model.with_(special_tokens={}, added_tokens={}, normalization=None))
    return _without_gaps(content) if dense else content


def _require_bytes(name: str, model: Model) -> None:
    if model.alphabet != "bytes":
        raise Unsupported(name, "its tokens start from bytes; this model's alphabet is 'chars'")


def has_plain_rules(model: Model) -> bool:
    """Return whether a SentencePiece model has only rules the libraries know: marks for spaces, bytes for the unknown.

    A library then gets the original texts, and writes the marks itself. User-defined pieces are allowed, although most
    libraries give different ids than SentencePiece for them and around them; they are rare in texts.
    """
    rules = model.sentencepiece
    if rules is None or model.pattern or model.normalization is not None or not rules.escape_spaces:
        return False
    rarer = rules.charsmap or rules.remove_extra_spaces or rules.unused_ids
    return not rarer and rules.dummy_prefix == "always" and rules.spells_all


def sentencepiece_json(model: Model) -> bytes:
    """Return a model that `has_plain_rules` as tokenizer.json, without gaps between its ids."""
    return _without_gaps(write_compact(model.with_(special_tokens={}, added_tokens={})))


def any_json(name: str, model: Model) -> bytes:
    """Return the model as tokenizer.json for a library that reads SentencePiece's rules and all merges of a token."""
    if has_plain_rules(model):
        return sentencepiece_json(model)
    return tokenizer_json(name, model, every_way=True, dense=True)


def sentencepiece_file(model: Model) -> bytes:
    """Return a model that `has_plain_rules` as SentencePiece's `.model`."""
    return proto(model.with_(special_tokens={}, added_tokens={}))


def _without_gaps(content: bytes) -> bytes:
    """Return a tokenizer.json without gaps: an id without a token gets one with a space, which never occurs."""
    document = json.loads(content)
    vocabulary = document["model"]["vocab"]
    gaps = set(range(max(vocabulary.values()))).difference(vocabulary.values())
    if not gaps:
        return content
    vocabulary |= {f" {i}": i for i in sorted(gaps)}
    return json.dumps(document, ensure_ascii=False).encode()


def underived_reason(model: Model) -> str | None:
    """Return why no list of merges gives the model's ids, or None if one does."""
    if model.merge_rule == "pairs" or not (underived := model.recovered_merges[1]):
        return None
    return (
        f"it knows lists of merges, and {plural(len(underived), 'token')} cannot be made from tokens of lower rank; "
        f"the first is id {underived[0]} ({model.tokens[underived[0]]!r})"
    )


def listed_merges(name: str, model: Model) -> Sequence[tuple[int, int]]:
    """Return the model's merges as pairs of ids, for a library that starts from bytes and knows merges only.

    Raise `Unsupported` where they would not give the model's ids.
    """
    _require_bytes(name, model)
    if model.ignore_merges:
        raise Unsupported(name, "it knows merges only; this model's ignore_merges makes whole pieces tokens")
    if len(model.pattern) > 1:
        raise Unsupported(name, f"it splits by one pattern; this model has {len(model.pattern)} split stages")
    if why := underived_reason(model):
        raise Unsupported(name, why)
    return model.merges if model.merge_rule == "pairs" else model.recovered_merges[0]


def merges_after_bytes(name: str, model: Model) -> tuple[list[tuple[int, int]], list[int]]:
    """Return `listed_merges` and the ids of the bytes, for a library that numbers bytes first and merges after them.

    Raise `Unsupported` for a model that numbers its tokens differently.
    """
    merges = list(listed_merges(name, model))
    id_of_byte = [model.id_by_token[bytes([byte])] for byte in range(256)]
    results = [model.id_by_token[(model.tokens[left] or b"") + (model.tokens[right] or b"")] for left, right in merges]
    if max(id_of_byte) > 255 or results != list(range(256, 256 + len(merges))):
        raise Unsupported(name, "it numbers bytes first and merges after them, in order; this model does not")
    return merges, id_of_byte


def public_vocabulary(model: Model) -> Known | None:
    """Return the published vocabulary whose rank file and pattern are the model's, or None."""
    known = KNOWN.get(digest_of(model.id_by_token)) if has_ranks(model) else None
    return known if known and known.pattern and NAMED[known.pattern] == plain_pattern(model) else None


def require_public(name: str, model: Model, known: Sequence[str]) -> str:
    """Return the model's public name, if it is in `known` of a library; raise `Unsupported` otherwise."""
    public = public_vocabulary(model)
    if public is None or public.name not in known:
        raise Unsupported(name, f"its vocabularies are built in, and it reads no others; it has {', '.join(known)}")
    return public.name


@contextmanager
def file_of(content: bytes, file_name: str) -> Iterator[str]:
    """Yield the path of a temporary file with this content and name, for libraries that read only files."""
    with TemporaryDirectory(prefix="bpebench-") as folder:
        path = Path(folder) / file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        yield str(path)


def as_lists(ids: np.ndarray, offsets: np.ndarray) -> list[list[int]]:
    """Return one list of ids per text, from flat ids of shape (n_tokens,) and offsets of shape (n_texts + 1,)."""
    flat, borders = ids.tolist(), offsets.tolist()
    return [flat[start:end] for start, end in pairwise(borders)]


def rayon_threads() -> int:
    """Return the number of threads of a Rayon pool in this process: its variable, else the number of usable cores."""
    given = os.environ.get("RAYON_NUM_THREADS", "")
    if given.isdigit() and int(given):
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
