r"""Changed split patterns, made by rule from the source of a pattern.

>>> [changed for name, changed in changed_patterns(r"\p{N}{1,3}|\s+") if "{" in name][:2]
['\\p{N}{1,2}|\\s+', '\\p{N}{1,4}|\\s+']
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

import regex

from harness.conform.vectors.rules import RULES

Change = tuple[str, int, int, str]
"""Its name, the first of the parts of a pattern that it replaces, the first that it does not, and by what."""

_PARTS = regex.compile(
    r"\\[pP]\{[^}]*\}|\\.|\[\^?(?:\\[pP]\{[^}]*\}|\\.|[^\]\\])*\]|\((?:\?[a-zA-Z]*[:!=>]|\?<[!=])?|\{\d*,?\d*\}|.",
    regex.DOTALL,
)
_MEMBERS = regex.compile(r"\\[pP]\{[^}]*\}|(?:\\.|[^\\])-(?:\\.|[^\\])|\\.|.", regex.DOTALL)
_COUNTED = regex.compile(r"\{(\d+),(\d+)\}")
_OPTIONS: dict[str, list[str]] = RULES["options"]
_CLASSES: dict[str, list[str]] = RULES["classes"]


def changed_patterns(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each change and the pattern with it, if that is a pattern."""
    parts = _PARTS.findall(pattern)
    seen = {pattern}
    for name, start, stop, new in chain(_changed_parts(parts), _changed_alternatives(parts)):
        changed = "".join([*parts[:start], new, *parts[stop:]])
        if changed not in seen and _is_pattern(changed):
            seen.add(changed)
            yield f"{name} (at {sum(map(len, parts[:start]))})", changed


def _is_pattern(expression: str) -> bool:
    try:
        regex.compile(expression)
    except (regex.error, AttributeError):  # the library raises the latter for some sets in a lookahead
        return False
    return True


def _changed_parts(parts: list[str]) -> Iterator[Change]:
    for at, part in enumerate(parts):
        options = list(_OPTIONS.get(part, ()))
        if counted := _COUNTED.fullmatch(part):
            options += [f"{{{counted[1]},{int(counted[2]) + n}}}" for n in (-1, 1)] + ["+", ""]
        elif part.startswith("["):
            options += [f"[{changed}]" for changed in _changed_class(part[1:-1])]
        elif part in _CLASSES:
            options += [f"[{changed}]" for changed in _CLASSES[part]]
        elif part.isalnum():
            options.append(r"\x01")
        yield from ((f"{part} becomes {new}" if new else f"without {part}", at, at + 1, new) for new in options)


def _changed_class(inside: str) -> Iterator[str]:
    negation, members = ("^", inside[1:]) if inside.startswith("^") else ("", inside)
    yield members if negation else f"^{members}"
    names = _MEMBERS.findall(members)
    for k, name in enumerate(names):
        for new in ("", *_CLASSES.get(name, ())):
            if not new.startswith("^") and (new or len(names) > 1):
                yield negation + "".join([*names[:k], new, *names[k + 1 :]])
    yield from (f"{inside}{more}" for more in ("_", "'", r"\u200d"))


def _changed_alternatives(parts: list[str]) -> Iterator[Change]:
    """Yield each group, at any depth, without each of its alternatives, and with each two neighbours swapped."""
    starts: list[list[int]] = [[0]]
    for at, part in enumerate([*parts, ")"]):
        if part.startswith("("):
            starts.append([at + 1])
        elif part == "|":
            starts[-1].append(at + 1)
        elif part == ")":
            edges = [*starts.pop(), at + 1]
            some = ["".join(parts[start : end - 1]) for start, end in pairwise(edges)]
            for k in range(len(some) if len(some) > 1 else 0):
                yield f"without the alternative {some[k]}", edges[0], at, "|".join(some[:k] + some[k + 1 :])
                if k:
                    swapped = "|".join([*some[: k - 1], some[k], some[k - 1], *some[k + 1 :]])
                    yield f"{some[k]} before {some[k - 1]}", edges[0], at, swapped
