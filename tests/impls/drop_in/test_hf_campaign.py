"""Random calls on random files: `bpebench.hf` gives what the library gives, or refuses."""

from __future__ import annotations

import random
from collections import Counter

from hf_campaign import ALIKE, REFUSED, verdicts

ONCE_DIFFERED = (116, 244, 450, 473, 1640, 2387, 2995, 5906, 7316, 7648)


def test_random_calls_on_random_files_have_the_answers_of_the_library(fuzz: int) -> None:
    first = random.Random("hf").randrange(1_000_000)  # another in each round of a campaign
    verdict_of_seed = verdicts([*ONCE_DIFFERED, *range(first, first + 150 * fuzz)])
    assert {seed: verdict for seed, verdict in verdict_of_seed.items() if verdict not in (ALIKE, REFUSED)} == {}
    assert Counter(verdict_of_seed.values())[ALIKE] > 50 * fuzz
