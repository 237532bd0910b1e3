"""Small corpora to sweep over, and what `bpebench sweep` says of them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any


def words(seed: int, letters: str, n: int) -> list[str]:
    """Return documents of words made up of the letters; each ends in its number, so that none occurs twice."""
    rng, of_words = random.Random(seed), random.Random(letters)
    known = ["".join(of_words.choices(letters, k=of_words.choice([2, 3, 5]))) for _ in range(40)]
    return [f"{' '.join(rng.choices(known, k=12))} {seed}{i}" for i in range(n)]


def write_texts(folder: Path) -> dict[str, str]:
    """Write files to learn from and to measure on; documents are paragraphs."""
    paths = {}
    for name, seed, n_documents in (("train", 1, 80), ("held", 2, 30)):
        documents = words(seed, "abcd", n_documents)
        (folder / f"{name}.txt").write_text("\n\n".join(documents), encoding="utf-8")
        paths[name] = str(folder / f"{name}.txt")
    return paths


def swept(bpebench: Any, *arguments: str) -> dict[str, Any]:
    """Return the document of a sweep."""
    ended = bpebench("sweep", *arguments, "--json")
    assert ended.status == 0, ended.err
    return dict(json.loads(ended.out))
