"""Ids are those of Unicode 16, also with a `regex` that follows a newer version, which CI puts on the path."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import regex
from child import run

from impls.core.pattern.classes import members
from impls.core.text import unicode_16

CATEGORIES = "Cc Cf Cn Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs"
EVERYTHING = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))


@pytest.mark.needs("locked regex")
def test_the_table_is_that_of_the_locked_regex() -> None:
    def ranges(category: str) -> str:
        ends = [(ord(run[0][0]), ord(run[0][-1])) for run in regex.finditer(rf"\p{{{category}}}+", EVERYTHING)]
        return " ".join([category, *(f"{a:04X}" if a == b else f"{a:04X}-{b:04X}" for a, b in ends)])

    table = Path(unicode_16.__file__).with_suffix(".txt").read_text(encoding="ascii")
    assert table.splitlines() == list(map(ranges, CATEGORIES.split()))


@pytest.mark.needs("locked regex")
def test_with_the_locked_regex_texts_are_matched_as_they_are() -> None:
    assert not unicode_16.stand_ins()
    assert unicode_16.as_unicode_16(EVERYTHING) is EVERYTHING


ANSWERS = r"""
import json, hashlib
import impls, regex
from impls.core.errors import InvalidPattern
from impls.core.pattern.classes import members
from impls.core.text.normalization import normalizer
from impls.core.text.patterns import NAMED, Splitter
from harness.generators.alphabets import of_property

everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
texts = [everything, "".join(each + "'s" for each in everything[0x250:0x30000:31]), "1\U00011DE0234",
         "\ua7ce's \u0c5c1", "\ufbc3\ufbb2 \u20c1\u20ac", "x\u0295y"]
patterns = [NAMED["gpt2"], NAMED["o200k"], NAMED["deepseek"], (r"\w+|\W", ), (r"(?x: \p{Lo}+ )|\P{Lo}+",),
            ("(?i:[\ufb50-\ufdff]+)|[^\ufb50-\ufdff]+",), (r"[\u20a0-\u20cf]+|[^\u20a0-\u20cf]",)]
def digest(value): return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
answers = {"newest": regex.match(r"\p{L}", "\ua7ce") is not None}
for stages in patterns:
    splitter = Splitter(stages)
    pieces = [splitter.split(text) for text in texts]
    assert all("".join(cut) == text for cut, text in zip(pieces, texts))
    answers["split by " + "; ".join(stages)] = digest([pieces, [splitter.spans(text) for text in texts]])
for source in [r"\p{L}", r"\p{Ll}", r"\p{Lo}", r"\p{Cn}", r"\w", r"[\u20a0-\u20cf]", r"[^\s\p{L}\p{N}]", r"\p{M}"]:
    answers["members of " + source] = int(members(source).sum())
tokens = (*(bytes([byte]) for byte in range(256)), b"'s", b"23", b"234", b"12")
model = impls.Model(tokens=tokens, pattern=NAMED["cl100k"], merge_rule="concatenation")
for name in ("priority", "compiled"):
    answers[name] = digest([impls.load(name, model).encode_ordinary(text) for text in texts])
for steps in (r'replace-regex("\\p{L}+","x")', "nfkc", "strip-accents"):
    answers[steps] = digest(normalizer(steps)(everything))
answers["unassigned"] = digest(of_property("Cn"))
try:
    Splitter(["[a-z\ua7ce]+|[^a-z\ua7ce]+"])
except InvalidPattern as error:
    answers["refused"] = str(error)
print(json.dumps(answers))
"""


def answers(path: str) -> dict[str, object]:
    """Answer by a process that has `path` before the packages of this one."""
    ended = run(ANSWERS, PYTHONPATH=path)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.needs("newer regex")
def test_a_newer_regex_gives_the_same_answers() -> None:
    newer, locked = answers(os.environ["PYTHONPATH"]), answers("")
    assert newer.pop("newest")
    assert not locked.pop("newest")
    assert str(newer.pop("refused")).startswith("the pattern names U+A7CE or one near it")
    assert newer == locked


def test_classes_hold_the_letters_of_unicode_16() -> None:
    assert int(members(r"\p{L}").sum()) == 141028
    assert members(r"\p{Ll}")[0x295]
    assert not members(r"\p{L}")[0xA7CE]


@pytest.mark.parametrize(
    "source",
    [
        *(r"\p{Cn}", r"[^\s\p{L}\p{N}]", r"\p{Noncharacter_Code_Point}", r"\p{Co}", r"\p{VS}", "(?i:s)", r"[\s\S]"),
        *(r"[^\U000ffffe]", "[\U00051234-\U000a0001]", r"[\ud7ff-\ue000]", r"[\U0003FFFF-\U00040000]", r"\U0010FFFF"),
    ],
)
def test_members_are_the_matches_among_all_characters(source: str) -> None:
    moved = unicode_16.stand_ins(source)
    matched = set(regex.findall(source, EVERYTHING))
    expected = {c for c in EVERYTHING if moved.get(c, c) in matched}
    assert {chr(code) for code in members(source).nonzero()[0].tolist()} == expected
