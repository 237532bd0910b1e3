"""Texts around parts of characters."""

from __future__ import annotations

import random

import pytest

from harness.lint.utf8 import texts_around


def test_every_part_of_a_text_is_in_each_text_around_it() -> None:
    draw = random.Random(1)
    for _ in range(100):
        codes = [draw.choice([draw.randrange(0x80, 0x3000), draw.randrange(0xE000, 0x110000), 97]) for _ in range(3)]
        content = "".join(map(chr, codes)).encode()
        start = draw.randrange(len(content))
        token = content[start : draw.randrange(start + 1, len(content) + 1)]
        texts = texts_around(token, 20)
        assert 0 < len(texts) <= 20
        assert all(token in text.encode() for text in texts)


def test_all_64_ends_of_a_character_are_found() -> None:
    assert len(set(texts_around(b"a\xc3", 1000))) == 64
    assert len(set(texts_around(b"\xe2\x82", 1000))) == 64


@pytest.mark.parametrize(
    "token",
    [b"\xc0", b"\xc1a", b"\xf5", b"\xff\xfe", b"\xed\xa0", b"\xe0\x80", b"a\xc3b", b"\x80\x80\x80\x80", b"\xf4\x90"],
)
def test_what_utf8_never_has_is_in_no_text(token: bytes) -> None:
    assert texts_around(token, 5) == []
