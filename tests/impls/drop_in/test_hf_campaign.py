"""Random files: `bpebench.hf` and `impls` give what the library gives, or refuse; `hf_campaign` runs more of them."""

from __future__ import annotations

from collections import Counter

from hf_campaign import differences

ONCE_WRONG = (116, 244, 450, 473, 1640, 2387, 2995, 5906, 7316, 7648)


def test_random_files_have_the_answers_of_the_library(fuzz: int) -> None:
    refused: Counter[str] = Counter()
    for seed in (*range(150 * fuzz), *ONCE_WRONG):
        assert next(differences(seed, refused), None) is None
    assert refused.total() < 150 * fuzz  # each file may be refused twice, by `hf` and by `impls`
