from hypothesis import given
from hypothesis import strategies as st

from harness.check import smallest_text
from harness.check.shrink_long import smallest_long_text


def test_only_what_makes_the_difference_is_left() -> None:
    assert smallest_text("the quick brown fox jumps over the lazy dog", lambda t: "x" in t and "z" in t) == "xz"


def test_letters_and_digits_that_do_not_matter_become_plain() -> None:
    assert smallest_text("Kedi42", lambda text: len(text) == 6) == "aaaa00"


def test_the_number_of_trials_is_bounded() -> None:
    trials = 0

    def differs(text: str) -> bool:
        nonlocal trials
        trials += 1
        return len(text) > 5000

    small = smallest_text("x" * 10_000, differs, max_trials=50)
    assert len(small) > 5000
    assert trials <= 51


@given(st.text(min_size=1), st.sampled_from("abé ’\U0001f600"))
def test_a_shrunk_text_still_differs_and_no_character_can_go(text: str, needed: str) -> None:
    text = needed + text + needed

    def differs(candidate: str) -> bool:
        return candidate.count(needed) >= 2

    small = smallest_text(text, differs)
    assert differs(small)
    assert not any(differs(small[:i] + small[i + 1 :]) for i in range(len(small)))


def test_what_is_wrong_only_past_a_length_becomes_the_shortest_repeat_in_few_trials() -> None:
    trials: list[int] = []

    def differs(text: str) -> bool:
        trials.append(len(text))
        return len(text) > 123_456

    assert smallest_long_text("the quick brown fox " * 10_000, differs, units=("ab",)) == "ab" * 61_729
    assert len(trials) < 40
    trials.clear()
    assert smallest_long_text("the quick brown fox " * 10_000, differs, [123_456], units=("ab",)) == "ab" * 61_729
    assert len(trials) < 12


def test_of_a_long_text_only_the_place_is_left() -> None:
    text = "x" * 50_000 + "needle" + "y" * 50_000
    assert smallest_long_text(text, lambda candidate: "need" in candidate, [50_000]) == "need"
    assert smallest_long_text(text, lambda candidate: "need" in candidate) == "need"


def test_a_long_text_without_a_place_and_a_repeat_loses_its_beginning_and_end() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 9_000)))
    small = smallest_long_text(text, lambda candidate: text[3_000] in candidate and text[3_010] in candidate)
    assert small == text[3_000] + text[3_010]
