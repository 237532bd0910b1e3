"""Random files: `bpebench.hf` and `impls` give what the library gives, or refuse; `hf_campaign` runs more of them."""

from __future__ import annotations

from collections import Counter

from hf_campaign import differences


def test_random_files_have_the_answers_of_the_library(fuzz: int) -> None:
    refused: Counter[str] = Counter()
    for seed in range(150 * fuzz):
        assert next(differences(seed, refused), None) is None
    assert refused.total() < 150 * fuzz  # each file may be refused twice, by `hf` and by `impls`
