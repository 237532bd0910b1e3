"""Random files: `bpebench.hf` gives what the library gives, or refuses; `hf_campaign` runs more of them."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hf_campaign import differences, run


@pytest.mark.parametrize("seed", [116, 244, 450, 473, 1640, 2387, 2995, 5906, 7316, 7648])
def test_what_once_differed_does_not(seed: int) -> None:
    assert next(differences(seed, Counter()), None) is None


def test_random_files_have_the_answers_of_the_library(fuzz: int) -> None:
    first = random.Random("hf").randrange(1_000_000)  # another in each round of a campaign
    found, refused = run(first, first + 150 * fuzz)
    assert found == []
    assert refused.total() < 150 * fuzz
