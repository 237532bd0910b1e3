from hypothesis import given
from hypothesis import strategies as st

from harness.check import smallest_text


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
