"""Models of the Hugging Face hub by name: their `tokenizer.json`, where the hub answers in time, else a plain word."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Any

from harness.data.cache import cache_folder
from harness.data.errors import DataError

PREFIX = "hf:"
LIMIT_SECONDS = 5.0
"""How long the hub may take to answer at all; what is in the cache needs no answer."""


def hub_tokenizer_file(name: str) -> Path:
    """The `tokenizer.json` of `hf:OWNER/NAME`, in the cache; raises `DataError` saying why it cannot be had."""
    repository = name.removeprefix(PREFIX)
    owner, _, model = repository.partition("/")
    if not owner or not model or "/" in model:
        raise DataError(f"{name!r} is no model of the hub; write hf:OWNER/NAME")
    try:
        from huggingface_hub import hf_hub_download
    except ModuleNotFoundError:
        raise DataError(f"{name}: needs the package huggingface-hub; pip install 'bpebench[hub]'") from None
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # it tells of every try; one reason is enough
    folder = cache_folder() / "hub"
    answer: list[Any] = []

    def ask() -> None:
        try:
            answer.append(hf_hub_download(repository, "tokenizer.json", cache_dir=folder, etag_timeout=LIMIT_SECONDS))
        except Exception as error:
            answer.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(LIMIT_SECONDS)
    if not answer:
        raise DataError(f"{name}: unavailable offline: the hub did not answer within {LIMIT_SECONDS:.0f} s")
    if isinstance(answer[0], Exception):
        raise DataError(f"{name}: {_reason(answer[0])}")
    return Path(answer[0])


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    if kind in ("GatedRepoError", "RepositoryNotFoundError"):
        return "the hub has no such model, or asks for an account that may read it"
    if kind in ("EntryNotFoundError", "RemoteEntryNotFoundError"):
        return "it has no tokenizer.json on the hub"
    return "unavailable offline: the hub cannot be reached"
