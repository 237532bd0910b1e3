"""Streams with stop strings: where the text ends, and what is kept back because it may still become one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from os.path import commonprefix

import pytest

import impls
from impls import TrainingSpec

MODEL = impls.train("naive", ["çay <s>"], TrainingSpec(vocab_size=257, special_tokens=("<s>",))).model
TOKENIZER = impls.load("priority", MODEL)

MIXED = ("bb", "bab", "ç", "abba", "ab\ufffd", "<s>")


def stopped_by_definition(text: str, stops: Sequence[str]) -> tuple[str, tuple[str, int] | None]:
    """The text before the stop string that is complete first, the longest of those, character by character."""
    for end in range(1, len(text) + 1):
        ending = [stop for stop in stops if text[:end].endswith(stop)]
        if ending:
            longest = max(ending, key=len)
            return text[: end - len(longest)], (longest, end - len(longest))
    return text, None


def certain_before_stop(ids: Sequence[int], stops: Sequence[str]) -> str:
    """What stays in front of a stop string whatever follows: letters, bytes, and the rest of each stop string."""
    follow = [(), *[tuple(stop[k:].encode()) for stop in stops for k in range(len(stop))]]
    follow += [(*first, *rest) for first in ((0x82, 0xAC), (0x82,), (0xAC,), (0xA7,), (0x41,)) for rest in follow]
    return commonprefix([stopped_by_definition(TOKENIZER.decode([*ids, *more]), stops)[0] for more in follow])  # noqa: RUF071


def check_stops(stops: Sequence[str], n_streams: int) -> None:
    """Assert for random streams that the text ends at the stop string, and that only what must be is kept back."""
    rng = random.Random(5)
    ids_of_model = [*b"aaabbbX", *"ç€".encode(), 0xE2, MODEL.special_tokens["<s>"]]
    for _ in range(n_streams):
        decoder = TOKENIZER.decoder(stop=stops)
        ids: list[int] = []
        text = ""
        for _ in range(rng.randint(1, 8)):
            pushed = rng.choices(ids_of_model, k=rng.choice((0, 1, 1, 1, 3)))
            ids += pushed
            text += decoder.push(pushed)
            certain = certain_before_stop(ids, stops)
            # Whether bytes of a character may continue what begins a stop string is not asked.
            assert text == certain or (ids[-1] > 0x7F and certain.startswith(text)), (ids, stops)
        text += decoder.finish()
        assert (text, decoder.stopped) == stopped_by_definition(TOKENIZER.decode(ids), stops), (ids, stops)


STOPS = [("bb",), ("abab",), ("bab", "abba"), MIXED, ("aXb", "X"), ("a", "aa"), ("€",), ("a€",)]


@pytest.mark.parametrize("stops", STOPS)
def test_a_stop_string_ends_the_text_and_only_its_beginning_is_kept_back(stops: tuple[str, ...], fuzz: int) -> None:
    check_stops(stops, 60 * fuzz)


def test_a_stop_string_across_tokens_is_found_and_its_start_is_said() -> None:
    decoder = TOKENIZER.decoder(stop=["</end>", "€"])
    assert decoder.push([*b"ab<"]) == "ab"
    assert decoder.push([*b"b<"]) == "<b"
    assert decoder.push([*b"/en"]) == ""
    assert decoder.stopped is None
    assert decoder.push([*b"d>more"]) == ""
    assert decoder.stopped == ("</end>", 4)
    assert (decoder.push([65]), decoder.finish()) == ("", "")
