"""Special tokens: text that spells one is text, or refused, unless allowed; allowed, it is its single id."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, product
from typing import Any

from harness.conform.adapter import ANY_OPTION
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all
from harness.conform.checks.batches import fault_of_batch
from harness.conform.checks.derived import Call, fault_of
from harness.conform.checks.over_texts import over, without
from harness.conform.verdicts import Fault, NotAsked
from harness.generators.alphabets import ALPHABETS
from harness.generators.texts import prose
from harness.process.session import Failed

Rule = dict[str, Any]
"""The options `allowed_special` and `disallowed_special`."""
_MOST_SPECIALS = 64
_MANY, _LENGTHS = 40, (300, 5_000, 70_001)
_MOST_BESIDE = 3
"""Number of special tokens put beside every class of character, among them the shortest and the longest."""


def special_tokens(case: Case) -> None:
    """Check that the text of a special token gives its special id with `allowed_special` and only then."""
    names = case.special_names
    if not names:
        raise NotAsked("the model has no special tokens")
    specials = [*names[: _MOST_SPECIALS - 1], names[-1]] if len(names) > _MOST_SPECIALS else names
    around = list(dict.fromkeys([*texts_around(specials), *case.quick(_long_texts(specials, case.seed))]))
    refused = case.client.ids(specials[0])
    refuses = isinstance(refused, Failed) and not refused.outcome.ends_process  # the reference's default
    try:
        ask_all(case, without(names, around) if refuses else around, ("encode",))
    except Fault as fault:
        plain = "".join("." if character in "<|>[]" else character for character in fault.text)
        if fault.stage in ("normalisation", "pieces", "vocabulary", "refusal") and plain != fault.text:
            is_right = not case.has_wrong_ids(plain, case.client.ids(plain))
            fault.stage = "special tokens" if is_right else fault.stage
        raise
    if case.client.offers("count") and not refuses:
        over(case, [f"a {name} b" for name in specials[:_MOST_BESIDE]], partial(fault_of, case, Call("count")))
    case.remarks.append("refuses special text by default" if refuses else "reads special text as text")
    if case.client.offers("allowed_special") and _heeds_options(case, specials[0]):
        others = [text for name in set(names).difference(specials) for text in (name, f"a{name}b")]
        _by_the_rules(case, specials, around, sorted(others))
    else:
        case.remarks.append("takes no allowed_special")


def texts_around(specials: Sequence[str]) -> Iterator[str]:
    """Yield each special token alone, doubled, cut and in capitals; a few beside every class of character."""
    beside = list(dict.fromkeys([*specials[: _MOST_BESIDE - 1], specials[-1]]))
    for name in specials:
        yield from (name, f"a{name}b", f"{name}{name}", f" {name} ", name[:-1], name[1:], name.upper(), name.title())
    for name in beside:
        for character in ALPHABETS["beside"]:
            yield from (character + name, name + character, character + name + character)
            yield from (f"x{character}{name}{character}y", f"{name}{character}{name}")
        for n in range(1, len(name)):
            yield from (f"a {name[:n]}", f"{name}{name[:n]}", f"{name[n:]}b", f"{name[:n]}{name}")
    for first, second in product(beside, repeat=2):
        yield from (first + second, f"{first} {second}", f"{first}{second}{first}", f"a{first}{second}b")


def _long_texts(specials: Sequence[str], seed: int) -> Iterator[str]:
    """Yield a text of many special tokens, and long ones with one at the start, within, after a space, at the end."""
    yield "".join(f"{name} x{name}" for name in [*specials] * (_MANY // len(specials) + 1))
    for n_characters in _LENGTHS:
        text = prose(n_characters, seed + 8)
        for name in (specials[0], specials[-1]):
            middle = text.index(" ", n_characters // 2) + 1
            yield from (f"{text[:middle]}{name}{text[middle:]}", f"{name}{text} {name}")


def _heeds_options(case: Case, name: str) -> bool:
    """Return whether a target that takes any keyword argument obeys these options."""
    if not case.client.offers(ANY_OPTION):
        return True
    plain, allowed = case.client.ids(name), case.client.ids(name, allowed_special="all", disallowed_special=[])
    if isinstance(allowed, Failed) and allowed.outcome.ends_process:
        raise Fault("process", f"encode with allowed_special ends in {allowed}", text=name, got=allowed)
    return not isinstance(allowed, Failed) and plain != allowed


def _by_the_rules(case: Case, specials: Sequence[str], texts: Sequence[str], others: Sequence[str]) -> None:
    """Raise a fault with the smallest text that is wrong when special tokens are allowed or refused by option.

    All texts are encoded one by one, and then in a batch; `others` only where all special tokens are allowed.
    """
    first, was_refused = list(specials[:1]), False
    values: list[tuple[Any, Any]] = [("all", []), ([], []), (first, []), ([], "all"), ([], first)]
    values += [(list(specials), []), (first, "all")]
    rules = [Rule(allowed_special=allowed, disallowed_special=disallowed) for allowed, disallowed in values]
    for text, rule in chain(product(sorted(texts, key=len), rules), product(others, rules[:1])):
        fault = _fault(case, rule, text)
        case.n_inputs += 1
        if fault is not None:
            case.begin_overtime()
            case.client.fresh()
            if _fault(case, rule, text) is not None:
                raise case.smallest_fault(text, partial(_fault, case, rule), fault)
            fault.stage = "bad input" if was_refused else "cache"
            earlier = "a refused text" if was_refused else "calls with other options"
            fault.reason = f"after {earlier} {fault.reason}; right in a fresh process"
            raise fault
        was_refused = isinstance(case.reference.encode(text, **rule), Failed)
    for rule in rules if case.client.offers("encode_batch") else ():
        right = tuple(text for text in texts if not isinstance(case.reference.encode(text, **rule), Failed))
        if why := case.lacks("encode_batch", texts=list(right[:1]), **rule):
            case.remarks.append(f"encode_batch with {_worded(rule)} is refused: {why}")
            return
        over(case, [right], partial(fault_of_batch, case, **rule))


def _fault(case: Case, rule: Rule, text: str) -> Fault | None:
    """Return the fault of one text under a rule: the values of both options."""
    expected, got = case.reference.encode(text, **rule), case.client.ids(text, **rule)
    if got == expected or (isinstance(expected, Failed) and isinstance(got, Failed) and not got.outcome.ends_process):
        return None
    return Fault("special tokens", f"different ids with {_worded(rule)}", text=text, expected=expected, got=got)


def _worded(rule: Rule) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in rule.items())
