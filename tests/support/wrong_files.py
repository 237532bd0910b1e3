"""What is wrong with a file of a model, in one line that its reader gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from refusals import refused

from impls import InvalidFile
from impls.formats import load


def problem(path: Path, content: bytes | None = None, **keywords: Any) -> str:
    """The reason why a file or folder is refused, after that content has been written to it."""
    if content is not None:
        path.write_bytes(content)
    caught = refused(InvalidFile, None, load, path, **keywords)
    assert caught.path.startswith(str(path))
    assert "\n" not in str(caught)
    return caught.problem


def edited(document: Any, place: Sequence[str | int], value: Any) -> bytes:
    """The JSON of a document with another value at a place."""
    whole = at = deepcopy(document)
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return json.dumps(whole).encode()
