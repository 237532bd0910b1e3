"""Texts that take every transition of a pattern's automaton, where possible across characters that a token joins."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain, islice, product
from random import Random

import regex

from harness.printable import text_of
from impls.core.model.model import Model
from impls.core.pattern.automaton import Automaton, compile_pattern
from impls.core.pattern.classes import partition
from impls.core.pattern.syntax import NotExpressible, parse
from impls.core.text.stages import DROPS_MATCHES, DROPS_REST, without_gaps

_BEFORE = ("", "a", "1", " ", ".", "\n")
_AFTER = (*_BEFORE, "ab", "Aa", "12", "'s", " a", "\n\n", "  a")
CLASS = regex.compile(r"\\[pP](?:\{\^?[^}]+\}|\w)|\\[sSdDwWhvR]|\[(?:[^]\\]|\\.)+\]")


_CONTINUING = bytes(range(0x80, 0xC0))
Pairs = dict[tuple[int, int], str]
"""Classes of two neighbours -> the two characters that most tokens have in this order, or that a token has in part."""


def transitions(model: Model) -> Iterator[str]:
    """Yield for each transition of each stage's automaton a text that takes it at the start, in the middle, at the end.

    For a stage that no automaton expresses: all short texts over its character classes.
    """
    for stage in model.pattern:
        try:
            automaton = compile_pattern(without_gaps(stage.removeprefix(DROPS_REST).removeprefix(DROPS_MATCHES)))
        except NotExpressible:
            yield from _over_classes(stage)
            continue
        pairs = _common_pairs(model, automaton)
        yield from _walks(automaton, pairs)
        for (_, of), shortest in shortest_texts(automaton).items():
            texts = [*shortest, *_with_a_token(automaton, shortest[0], of, pairs)]
            for before, after in product(_BEFORE, _AFTER):
                if not (before and after) or before == after:
                    yield from (f"{before}{text}{after}" for text in texts)


def _walks(automaton: Automaton, pairs: Pairs) -> Iterator[str]:
    """Yield random walks over the classes, to reach what follows of a wrong transition only later."""
    random = Random(0)
    parts = [*pairs.values(), *chain.from_iterable(representatives(automaton).values())]
    for _ in range(20_000):
        yield "".join(random.choices(parts, k=random.randint(2, 6)))


def _common_pairs(model: Model, automaton: Automaton) -> Pairs:
    texts = filter(None, map(text_of, filter(None, model.tokens)))
    n_tokens = Counter(pair for text in texts for pair in {text[k : k + 2] for k in range(len(text) - 1)})
    pairs: Pairs = {}
    common = sorted(n_tokens, key=lambda pair: (n_tokens[pair], pair), reverse=True)
    for pair in chain(common, _pairs_in_part(model, automaton)):
        pairs.setdefault((int(automaton.class_of[ord(pair[0])]), int(automaton.class_of[ord(pair[1])])), pair)
    return pairs


def _pairs_in_part(model: Model, automaton: Automaton) -> Iterator[str]:
    """Yield the pairs of which a token has one character and a part of the other, this one of every class.

    A token of the last byte of a blank and of a mark shows a cut between the two where no token has both.
    """
    characters: dict[bytes, dict[int, str]] = {}  # by their first and their last bytes, one of each class
    class_of = automaton.class_of.tolist()
    for code in chain(range(0x80, 0xD800), range(0xE000, 0x20000)):
        data = chr(code).encode()
        for k in range(1, len(data)):
            for part in (data[:k], data[k:]):
                characters.setdefault(part, {}).setdefault(class_of[code], chr(code))
    for token in filter(None, model.tokens):
        if text := token.decode("utf-8", "ignore"):
            begun, cut = token[: -len(token.lstrip(_CONTINUING))], token.rpartition(text[-1].encode())[2]
            yield from (before + text[0] for before in characters.get(begun, {}).values())
            yield from (text[-1] + after for after in characters.get(cut, {}).values())


def _with_a_token(automaton: Automaton, text: str, last: int, pairs: Pairs) -> Iterator[str]:
    """Yield the text with characters of the same classes of which tokens join the last two, then what they go on with.

    A cut between two characters shows in the ids only where a token joins them.
    """
    classes = [int(automaton.class_of[ord(character)]) for character in text]
    if len(classes) > 1 and (pair := pairs.get((classes[-2], last))):
        text = text[:-2] + pair
        yield text
    for (first, _), pair in pairs.items():
        if classes and first == classes[-1]:
            yield text[:-1] + pair
            if len(text) > 1 and (before := pairs.get((classes[-2], first))):
                yield text[:-2] + before[0] + pair


def shortest_texts(automaton: Automaton) -> dict[tuple[int, int], list[str]]:
    """Return for each (state, class) texts that take this transition last, one for each length of the class in UTF-8.

    Unreachable states have none.
    """
    members = representatives(automaton)
    paths: dict[int, str] = {0: ""}
    queue = deque([0])
    while queue:
        state = queue.popleft()
        for of, (following, _) in enumerate(automaton.steps[state]):
            if following >= 0 and following not in paths and members.get(of):
                paths[following] = paths[state] + members[of][0]
                queue.append(following)
    return {
        (state, of): [path + last for last in members.get(of, [""])]
        for state, path in paths.items()
        for of in range(automaton.end + 1)
    }


def representatives(automaton: Automaton) -> dict[int, list[str]]:
    """Return characters of each class: the first of each length in UTF-8."""
    by_class: dict[int, dict[int, str]] = {}
    for first, end in ((0, 0x80), (0x80, 0x800), (0x800, 0x10000), (0x10000, 0x110000)):
        classes = automaton.class_of[first:end]
        for of in set(classes.tolist()):
            places = (classes == of).nonzero()[0] + first
            code = next((int(code) for code in places if not 0xD800 <= code < 0xE000), None)
            if code is not None:
                by_class.setdefault(of, {})[first] = chr(code)
    return {of: list(by_length.values()) for of, by_length in by_class.items()}


def _over_classes(stage: str) -> Iterator[str]:
    """Yield all texts of up to three characters over the classes that a pattern names."""
    try:
        sources = parse(stage).sources
    except (NotExpressible, RecursionError):
        sources = list(dict.fromkeys(CLASS.findall(stage)))
    class_of, member = partition(sources or [r"\s", r"\p{L}", r"\p{N}"])
    members = representatives(Automaton(class_of, len(member), []))
    characters = [character for some in members.values() for character in some]
    texts = ("".join(some) for n in (1, 2, 3) for some in product(characters, repeat=n))
    return islice(texts, 60_000)
