from harness.training.vocabulary_curve import plateau


def test_the_knee_of_a_steep_fall_then_a_flat_tail() -> None:
    assert plateau([100, 50, 10, 9, 8, 7, 6, 5]) == 2


def test_a_curve_without_a_knee_has_none() -> None:
    assert plateau([]) is None
    assert plateau([7, 7, 7]) is None
    assert plateau([9, 1]) is None


def test_the_knee_of_a_rising_curve_is_that_of_the_curve_upside_down() -> None:
    assert plateau([0, 50, 90, 91, 92, 93, 94, 95]) == 2
    assert plateau([1.0, 2.5, 2.75, 2.875]) == 1
