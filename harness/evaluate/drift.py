"""The drift rate of sampled ids: how many lists of ids are not those that `encode` gives for their text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import impls
from harness.data import DataError, load_model
from impls.interface import Tokenizer


def read_id_lists(file: Path) -> Iterator[list[int]]:
    """Yield the lists of a file of JSON Lines: a list of ids a line. Raise `DataError` naming the line."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                ids = json.loads(line)
            except ValueError as error:
                raise DataError(f"{file}, line {number}: not JSON: {error}") from None
            if not isinstance(ids, list) or not all(type(i) is int for i in ids):
                raise DataError(f"{file}, line {number}: a list of token ids is expected")
            yield ids


def drift_rate(model: str, file: Path) -> dict[str, Any]:
    """Return the numbers of lists and ids of a file, and of lists that drift under `model`, with the first as example.

    `n_canonical_ids` are those before the first drift of each list.
    """
    tokenizer: Tokenizer = impls.load("compiled", load_model(model))
    row: dict[str, Any] = dict.fromkeys(("n_lists", "n_drifting", "n_ids", "n_canonical_ids"), 0)
    example: dict[str, Any] | None = None
    for ids in read_id_lists(file):
        try:
            drift = tokenizer.first_drift(ids)
        except impls.UnknownId as error:
            raise DataError(f"{file}, list {row['n_lists'] + 1}: {error}") from None
        row["n_lists"] += 1
        row["n_ids"] += len(ids)
        row["n_canonical_ids"] += len(ids) if drift is None else drift.position
        row["n_drifting"] += drift is not None
        if drift is not None and example is None:
            example = {"list": row["n_lists"], "position": drift.position, "given": ids[drift.position :][:8]}
            example["encode"] = drift.ids[:8]
    if not row["n_lists"]:
        raise DataError(f"{file}: holds no list of ids")
    return {"model": model, **row, "rate": row["n_drifting"] / row["n_lists"], "example": example}
