"""Models of the Hugging Face hub by name: their files where the hub answers in time, else a clear error.

`HF_ENDPOINT` names another hub, as it does for the hub's own library.
"""

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
"""Time limit for an answer of the hub; cached files need none."""

_FILES = ("tokenizer.json", "tokenizer.model", "tekken.json")
"""The files a model may be read from; the first that exists is used."""


def hub_tokenizer_file(name: str) -> Path:
    """Return the cached file of `hf:OWNER/NAME` to read its model from; raise `DataError` saying why there is none."""
    repository = name.removeprefix(PREFIX)
    owner, _, model = repository.partition("/")
    if not owner or not model or "/" in model:
        raise DataError(f"{name!r} is no model of the hub; write hf:OWNER/NAME")
    try:
        import huggingface_hub  # noqa: F401
    except ModuleNotFoundError:
        raise DataError(f"{name}: needs the package huggingface-hub; pip install 'bpebench[hub]'") from None
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)  # it logs every attempt; one reason is enough
    answer: list[Path | Exception] = []

    def ask() -> None:
        try:
            answer.append(_first_file(repository))
        except Exception as error:
            answer.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(LIMIT_SECONDS)
    if not answer:
        raise DataError(f"{name}: unavailable offline: the hub did not answer within {LIMIT_SECONDS:.0f} s")
    if isinstance(answer[0], Exception):
        raise DataError(f"{name}: {_reason(answer[0])}")
    return answer[0]


def is_cached(name: str) -> bool:
    """Return whether a model `hf:OWNER/NAME` can be read without asking the hub."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ModuleNotFoundError:
        return False
    repository, folder = name.removeprefix(PREFIX), cache_folder() / "hub"
    return any(isinstance(try_to_load_from_cache(repository, file, cache_dir=folder), str) for file in _FILES)


def _first_file(repository: str) -> Path:
    from huggingface_hub import hf_hub_download

    options: dict[str, Any] = {"cache_dir": cache_folder() / "hub", "etag_timeout": LIMIT_SECONDS}
    if endpoint := os.environ.get("HF_ENDPOINT"):
        options["endpoint"] = endpoint
    for file in _FILES:
        try:
            return Path(hf_hub_download(repository, file, **options))
        except Exception as error:
            if type(error).__name__ not in _NO_SUCH_FILE or file == _FILES[-1]:
                raise
    raise AssertionError("the last file was returned or raised for")


_NO_SUCH_FILE = ("EntryNotFoundError", "RemoteEntryNotFoundError")


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    if kind in ("GatedRepoError", "RepositoryNotFoundError"):
        return "the hub has no such model, or asks for an account that may read it"
    if kind in _NO_SUCH_FILE:
        return f"it has none of {', '.join(_FILES)} on the hub"
    return "unavailable offline: the hub cannot be reached"
