"""Names -> implementations: our own, the production libraries, and installed plug-ins.

Nothing is imported before it is used. A plug-in is an entry point of the group `bpebench.implementations`
that names a subclass of `Tokenizer`, or any class or function that takes a `Model` and returns an object with
`encode(str) -> list[int]` and `decode(list[int]) -> str`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from impls.core.arguments import texts_in_turn, thread_count, wrong_type
from impls.core.errors import BPEError, InvalidSpec, Missing, UnknownName, Unsupported
from impls.core.extension import extends
from impls.core.model import Model
from impls.core.specification import check_spec
from impls.core.text.patterns import resolve
from impls.interface import Tokenizer, TrainingSpec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OWN = {
    "naive": "impls.naive:Naive",
    "greedy": "impls.greedy:Greedy",
    "wordcount": "impls.wordcount:WordCount",
    "priority": "impls.priority:Priority",
    "bytelevel": "impls.bytelevel:ByteLevel",
    "backtracking": "impls.backtracking:Backtracking",
    "compiled": "impls.compiled:Compiled",
    "tiktoken": "impls.production.tiktoken:Tiktoken",
    "tokenizers": "impls.production.tokenizers:HuggingFace",
    "sentencepiece": "impls.production.sentencepiece:SentencePiece",
}


@cache
def plugins() -> dict[str, EntryPoint]:
    """Return the entry points of plug-ins by name, without importing them."""
    from importlib.metadata import entry_points  # a fifth of the time that importing the package takes

    return {point.name: point for point in entry_points(group="bpebench.implementations") if point.name not in _OWN}


def names() -> list[str]:
    """Return every name `get` takes: own and production implementations in order, then plug-ins by name."""
    return [*_OWN, *sorted(plugins())]


def default_names() -> list[str]:
    """Return the own and production implementations, used by default; plug-ins are used only when named."""
    return list(_OWN)


def get(name: str) -> type[Tokenizer]:
    """Return the implementation `name`; raise `UnknownName`, `Missing` for its missing package, or `BPEError`."""
    if not isinstance(name, str):
        raise wrong_type("the name of an implementation", "a str", name)
    if name not in _OWN and name not in plugins():
        raise UnknownName("implementation", name, names())
    target = _OWN.get(name) or plugins()[name].value
    module, _, attribute = target.partition(":")
    try:
        implementation = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if name in plugins() and error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise BPEError(f"{name}: the plug-in is {target!r}, but there is no module {error.name!r}") from None
        if error.name is not None and not error.name.startswith("impls"):
            raise Missing(name, error.name.partition(".")[0]) from None
        raise
    if isinstance(implementation, type) and issubclass(implementation, Tokenizer):
        return implementation
    from impls.plugin import wrap

    return wrap(name, implementation)


def load(name: str, model: Model) -> Tokenizer:
    """Return the implementation `name` over `model`; raise `Unsupported` saying why it cannot run it."""
    if not isinstance(model, Model):
        raise wrong_type("model", "a Model", model)
    return get(name)(model)


def train(name: str, texts: Iterable[str], spec: TrainingSpec, **options: Any) -> Tokenizer:
    """Train a model on `texts` and load it in the same implementation; the options are those of `learn`."""
    return get(name)(learn(name, texts, spec, **options))


def learn(
    name: str,
    texts: Iterable[str],
    spec: TrainingSpec,
    extend: Model | None = None,
    superword_from: int | None = None,
    superword_pattern: str = "superword",
    *,
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Model:
    """Train a model on `texts`; with `extend`, continue from the merges of that model (`impls.core.extension`).

    With `superword_from`, SuperBPE (Liu, Hayase, Hofmann, Oh, Smith and Choi 2025, "SuperBPE: Space Travel for Language
    Models"): the first so many ids, special tokens included, are learned by `spec.pattern`, which cuts at white space.
    Their merges are kept, the corpus is cut by the coarser `superword_pattern`, and learning continues: the new merges
    join whole words, or parts of words. The model has the second pattern and all merges in the order they were learned,
    so that any implementation runs it. The second stage learns over pieces as long as texts, which hardly ever repeat.

    `compiled` counts on `threads` threads (default: all cores); with `memory_limit` (bytes) larger tables go through
    files; `progress` is called with the bytes of each part of the text, from any thread. Raise `Unsupported`,
    `InvalidSpec` naming the field that is wrong, and `InvalidPattern`.
    """
    check_spec(spec)
    implementation = get(name)
    if extend is not None and not isinstance(extend, Model):
        raise wrong_type("extend", "a Model", extend)
    how: dict[str, Any] = {"threads": threads, "memory_limit": memory_limit, "progress": progress}
    if any(value is not None for value in how.values()):
        thread_count(threads)
        if memory_limit is not None and memory_limit < 1:
            raise ValueError(f"memory_limit must be a number of bytes or None, not {memory_limit}")
        if superword_from is not None:
            raise Unsupported(name, "superwords split the text twice: threads, memory_limit and progress do not apply")
        count_pieces = getattr(implementation, "count_pieces", None)
        if count_pieces is None:
            raise Unsupported(name, "trains on one thread, in memory; threads, memory_limit and progress need compiled")
        texts = count_pieces(texts, spec, **how)
    stages = [spec]
    if superword_from is not None:
        stages = [replace(spec, vocab_size=superword_from), replace(spec, pattern=superword_pattern)]
        resolve(superword_pattern)
        if superword_from > spec.vocab_size:
            raise InvalidSpec("vocab_size", f"{spec.vocab_size} is below the {superword_from} ids superwords follow")
        if not extends(implementation):
            raise Unsupported(name, "does not continue from a model, which learning superwords needs")
        texts = list(texts_in_turn(texts))
    for stage in stages:
        learn_stage = implementation.train_model if extend is None else partial(implementation.extend_model, extend)
        extend = learn_stage(texts, stage)
    assert extend is not None
    return extend
