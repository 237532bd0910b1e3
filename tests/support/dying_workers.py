"""Counting in a worker process that dies: always, or the first time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from impls.compiled.training.parts import count_group


def dies(*_: Any) -> None:
    os._exit(9)


def dies_once(*given: Any) -> Any:
    mark = Path(os.environ["WORKER_DIED"])
    if not mark.exists():
        mark.touch()
        os._exit(9)
    return count_group(*given)
