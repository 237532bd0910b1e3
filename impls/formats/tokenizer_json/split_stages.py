"""Hugging Face's `pre_tokenizer` <-> the split stages of a model.

Its `Split` keeps text between matches as pieces; our stages match everything. A pattern that leaves text out therefore
gets an alternative for the gaps on reading, which is removed on writing. Text that is `Removed` is dropped by our
stages too.
"""

from __future__ import annotations

import re
from typing import Any

import regex

from impls.core.errors import InvalidModel, InvalidPattern
from impls.core.text import stages as forms
from impls.core.text.normalization import PREFIX_SPACE
from impls.core.text.patterns import NAMED
from impls.core.text.stages import DROPS_ALL, DROPS_MATCHES, DROPS_REST, cut_at, drops_text, without_cuts
from impls.formats.tokenizer_json.oniguruma import leaves_nothing_out, match_lengths, to_oniguruma
from impls.formats.tokenizer_json.space_steps import (
    WORDS_STAGE,
    OlderUnicode,
    Spaces,
    flat_steps,
    in_sequence,
    read_expression,
    read_metaspace,
)

BYTE_LEVEL = "ByteLevel"
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d"
_SPACE = r"\p{White_Space}"
_MAX_STEPS = 16
_BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_PUNCTUATION = r"[\p{P}$+<=>^`|~]"
_REMOVING = {
    "Whitespace": (rf"{DROPS_REST}[{_WORD}]+|[^{_WORD}{_SPACE}]+",),
    "WhitespaceSplit": (DROPS_MATCHES + _SPACE,),
    "BertPreTokenizer": (DROPS_MATCHES + _SPACE, rf"{_PUNCTUATION}|(?:(?!{_PUNCTUATION})[\s\S])+"),
}
"""The stages of steps that drop white space; BERT's then splits off punctuation."""
_KNOWN_TO_COVER = {stage for stages in NAMED.values() for stage in stages}
_ONE_CLASS = re.compile(r"(\[(?!\^)(?:[^\[\]\\]|\\.)+\]|\\p\{\w+\})(?:\+|\{1(?:,\d*)?\})?", re.DOTALL)


def read_stages(pre_tokenizer: Any, spaces: Spaces | None = None) -> tuple[tuple[str, ...], bool]:
    """Return the split stages, and whether the pieces are then mapped to printable bytes (`ByteLevel`).

    The effect of a `Metaspace` on white space is added to `spaces`, which holds that of the normalizer. Raise
    `InvalidModel` naming the field that cannot be expressed.
    """
    spaces = spaces or Spaces()
    steps = flat_steps(pre_tokenizer, "pre_tokenizer", "pretokenizers")
    if len(steps) > _MAX_STEPS:
        raise InvalidModel(f"pre_tokenizer.pretokenizers: expected a list of up to {_MAX_STEPS} steps")
    stages: list[str] = []
    byte_level = False
    for field, step in steps:
        if byte_level:
            raise InvalidModel(f"{field}: a step after ByteLevel would split mapped bytes; that is not supported")
        byte_level = step.get("type") == BYTE_LEVEL
        stages += _read_step(step, field, stages, spaces)
    return tuple(stages), byte_level


def _read_step(step: dict[str, Any], field: str, before: list[str], spaces: Spaces) -> tuple[str, ...]:
    """Return the stages of one step that follows the stages `before`."""
    match step.get("type"):
        case "ByteLevel":
            if step.get("add_prefix_space", True):
                if before:
                    why = "a space put before every piece is not supported; only the first step may put one before"
                    raise InvalidModel(f"{field}.add_prefix_space: {why} the text")
                spaces.steps.append(PREFIX_SPACE)
            return NAMED["gpt2"] if step.get("use_regex", True) else ()
        case "Split":
            keeps_matches_only = step.get("behavior") == "Removed" and step.get("invert", False)
            if step.get("pattern") == {"String": " "} and spaces.escape_spaces and not keeps_matches_only:
                return ()  # there are no spaces left to split at
            return (_read_split(step, field),)
        case "Metaspace" if not before:
            read_metaspace(step, field, spaces)
            return (WORDS_STAGE,) if step.get("split", True) else ()
        case "CharDelimiterSplit":
            if not isinstance(delimiter := step.get("delimiter"), str) or len(delimiter) != 1:
                raise InvalidModel(f"{field}.delimiter: expected one character, not {delimiter!r}")
            return (DROPS_MATCHES + regex.escape(delimiter),)
        case "Digits":
            return (r"\p{N}|\P{N}+" if step.get("individual_digits") else r"\p{N}+|\P{N}+",)
        case "Punctuation":
            spaces.notes.append(_older_unicode(step, field))
            return (_behaving(_PUNCTUATION, step.get("behavior", "Isolated"), False, field),)
        case str() as kind if kind in _REMOVING:
            if kind == "BertPreTokenizer":
                spaces.notes.append(_older_unicode(step, field))
            return _REMOVING[kind]
        case kind:
            raise InvalidModel(
                f"{field}.type: {kind!r} is not supported here; supported are ByteLevel, Split, Digits, "
                f"Punctuation, {', '.join(_REMOVING)}, CharDelimiterSplit, and Metaspace where it is the first"
            )


def _older_unicode(step: dict[str, Any], field: str) -> OlderUnicode:
    return OlderUnicode(
        f"{field}.type: {step['type']} is done by Unicode 16; its library knows less of it, and characters newer "
        "than Unicode 8 may get different ids there"
    )


def _read_split(step: dict[str, Any], field: str) -> str:
    match step.get("pattern"):
        case {"Regex": str() as text, **others} if not others:
            expression = read_expression(text, field)
        case {"String": str() as text, **others} if not others:
            expression = read_expression(text, field, literal=True)
        case _:
            raise InvalidModel(f"{field}.pattern: expected an object with one Regex or String")
    try:
        return _behaving(expression, step.get("behavior"), bool(step.get("invert", False)), field)
    except InvalidPattern as error:
        raise InvalidModel(f"{field}.pattern: {error}") from None


def _behaving(expression: str, behavior: Any, invert: bool, field: str) -> str:
    """Return the stage that splits like Hugging Face by the matches of `expression`, or with `invert` by the gaps.

    Of `ab1c23d` and `[0-9]`: Isolated `ab 1 c 2 3 d`, Contiguous `ab 1 c 23 d`, MergedWithPrevious `ab1 c2 3 d`,
    MergedWithNext `ab 1c 2 3d`, Removed `ab c d`. An empty match is a cut under all of them.
    """
    if behavior not in _BEHAVIORS:
        raise InvalidModel(f"{field}.behavior: {behavior!r} is not one of: {', '.join(_BEHAVIORS)}")
    shortest, longest = match_lengths(expression)
    if longest == 0:
        return DROPS_ALL if behavior == "Removed" and invert else cut_at(expression)
    if shortest == 0:
        raise InvalidPattern("it may match the empty text as well as characters; write it so that it is one of the two")
    covers = expression in _KNOWN_TO_COVER or leaves_nothing_out(expression)
    if behavior == "Isolated" or (behavior == "Removed" and invert and covers):
        return expression if covers else with_gaps(expression)
    if behavior == "Removed":
        return (DROPS_REST if invert else DROPS_MATCHES) + expression
    simple = _complement(expression)
    between = simple if simple is not None else f"(?:(?!{expression})[\\s\\S])"
    matched = expression if simple is not None else f"(?:{expression})"
    if behavior == "Contiguous":
        return f"(?:{matched})+|{between}+"
    goes_before = (behavior == "MergedWithNext") != invert
    return f"{matched}{between}*|{between}+" if goes_before else f"{between}*{matched}|{between}+"


def with_gaps(expression: str) -> str:
    r"""Return a stage with the matches of `expression` and the text between them as pieces.

    >>> with_gaps(r"\p{N}{1,3}"), with_gaps("ab")
    ('\\p{N}{1,3}|\\P{N}+', 'ab|(?:(?!ab)[\\s\\S])+')
    """
    if (simple := _complement(expression)) is not None:
        return f"{expression}|{simple}+"
    return forms.with_gaps(expression)


def without_gaps(stage: str) -> str:
    """Return the expression from which `with_gaps` made `stage`, or `stage` itself."""
    one_class = _ONE_CLASS.match(stage)
    if one_class is not None and with_gaps(one_class[0]) == stage:
        return one_class[0]
    return forms.without_gaps(stage)


def _complement(expression: str) -> str | None:
    """Return the class of all other characters if the expression is a single class, once or repeated; else None."""
    one_class = _ONE_CLASS.fullmatch(expression)
    if one_class is None:
        return None
    members = one_class[1]
    others = f"[^{members[1:]}" if members.startswith("[") else rf"\P{members[2:]}"
    try:
        regex.compile(f"{expression}|{others}+")
    except AttributeError:  # a fault of `regex` where one of the two is empty
        return None
    return others


def write_stages(
    stages: tuple[str, ...],
    *,
    byte_level: bool,
    add_prefix_space: bool = False,
    first: dict[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Return the `pre_tokenizer` of the step `first` and `stages`; raise `InvalidPattern` for a stage that Oniguruma
    would split differently."""
    by_regex = byte_level and stages in (NAMED["gpt2"], NAMED["gpt2-0.14"])
    steps = [] if by_regex else [_write_split(stage) for stage in stages]
    if byte_level and add_prefix_space and steps:
        raise InvalidPattern("a space before the text is not written with a pattern other than GPT-2's")
    if byte_level:
        options = {"add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": by_regex}
        steps.append({"type": BYTE_LEVEL, **options})
    return in_sequence([first, *steps] if first else steps, "pretokenizers")


def _write_split(stage: str) -> dict[str, Any]:
    invert = stage.startswith(DROPS_REST)
    if drops_text([stage]):
        stage, behavior = stage.removeprefix(DROPS_REST).removeprefix(DROPS_MATCHES), "Removed"
    else:
        stage, behavior = without_cuts(without_gaps(stage)), "Isolated"
    return {"type": "Split", "pattern": {"Regex": to_oniguruma(stage)}, "behavior": behavior, "invert": invert}
