from harness.plateau import plateau


def test_the_knee_of_a_steep_fall_then_a_flat_tail() -> None:
    assert plateau([100, 50, 10, 9, 8, 7, 6, 5]) == 2


def test_a_curve_without_a_knee_has_none() -> None:
    assert plateau([]) is None
    assert plateau([7, 7, 7]) is None
    assert plateau([9, 1]) is None
