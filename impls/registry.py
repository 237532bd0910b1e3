"""Names -> implementations: our own, the production libraries, and whatever is installed as a plug-in.

Nothing is imported before it is asked for. A plug-in is an entry point of the group `bpebench.implementations`
that names a subclass of `Tokenizer`, or any class or function that takes a `Model` and returns an object with
`encode(str) -> list[int]` and `decode(list[int]) -> str`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from impls.core.arguments import wrong_type
from impls.core.errors import BPEError, Missing, UnknownName
from impls.core.model import Model
from impls.interface import Tokenizer, TrainingSpec

_GROUP = "bpebench.implementations"
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


OWN_VOCABULARIES = ("turkish-tokenizer",)
"""Implementations that run one vocabulary, their own, and no other; their model has their name."""


def own_model(name: str) -> Model:
    """The vocabulary of one of `OWN_VOCABULARIES`; raises `Missing` where its package is not installed."""
    model: Model = get(name).own_model()  # type: ignore[attr-defined]
    return model


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=_GROUP) if point.name not in _OWN}


def plugin(name: str) -> EntryPoint:
    """The entry point of a plug-in, not imported; raises `UnknownName`."""
    if name not in _plugins():
        raise UnknownName("plug-in", name, sorted(_plugins()))
    return _plugins()[name]


def names() -> list[str]:
    """Every name `get` takes: own and production implementations in order, then plug-ins by name."""
    return [*_OWN, *sorted(_plugins())]


def default_names() -> list[str]:
    """Own and production implementations: what is used where nothing is chosen. Plug-ins are used when named."""
    return list(_OWN)


def get(name: str) -> type[Tokenizer]:
    """The implementation `name`; raises `UnknownName`, `Missing` where its package is not installed, or `BPEError`."""
    if name in _OWN:
        target = _OWN[name]
    elif name in _plugins():
        target = _plugins()[name].value
    else:
        raise UnknownName("implementation", name, names())
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if name in _plugins() and error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise BPEError(f"{name}: the plug-in names {target!r}, and there is no module {error.name!r}") from None
        if error.name is not None and not error.name.startswith("impls"):
            raise Missing(name, error.name) from None
        raise
    if isinstance(found, type) and issubclass(found, Tokenizer):
        return found
    from impls.core.plugin import wrap

    return wrap(name, found)


def load(name: str, model: Model) -> Tokenizer:
    """The implementation `name` over `model`; raises `Unsupported` saying why where it cannot run it."""
    if not isinstance(model, Model):
        raise wrong_type("model", "a Model", model)
    return get(name)(model)


def train(name: str, texts: Iterable[str], spec: TrainingSpec) -> Tokenizer:
    """Train a model on `texts` and load it in the same implementation."""
    implementation = get(name)
    return implementation(implementation.train_model(texts, spec))
