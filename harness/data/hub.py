"""Models of the Hugging Face hub by name: downloaded if the hub answers in time, else from earlier downloads.

`HF_ENDPOINT` names another hub, as it does for the hub's own library.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from harness.data.cache import cache_folder
from harness.data.errors import DataError

PREFIX = "hf:"
LIMIT_SECONDS = 1.0
"""Time limit for the hub to answer at all, checked once; downloads have none."""

_FILES = ("tokenizer.json", "tokenizer.model", "tekken.json")
"""The files a model may be read from; the first that exists is used."""
_NO_SUCH_FILE = ("EntryNotFoundError", "RemoteEntryNotFoundError")


def hub_tokenizer_file(name: str, revision: str = "main", token: str | None = None) -> Path:
    """Return the cached file to read the model `hf:OWNER/NAME` from; raise `DataError` saying why there is none.

    `revision` is a branch or commit; `token` is needed for models that require an account.
    """
    repository = name.removeprefix(PREFIX)
    owner, _, model = repository.partition("/")
    if not owner or not model or "/" in model:
        raise DataError(f"{name!r} is not a model of the hub; write OWNER/NAME, as in hf:openai-community/gpt2")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # for it the library waits three seconds for a silent hub
    try:
        from huggingface_hub import constants
    except ModuleNotFoundError:
        raise DataError(f"{name}: needs the package huggingface-hub; pip install 'bpebench[hub]'") from None
    endpoint = os.environ.get("HF_ENDPOINT") or constants.ENDPOINT
    with _quiet():
        silence = why_silent(endpoint)
        try:
            return _first_file(repository, revision, token, endpoint, offline=bool(silence))
        except Exception as error:
            reason = f"unavailable offline: {silence}" if silence else _reason(error)
            raise DataError(f"{name}: {reason}") from None


@cache
def why_silent(endpoint: str) -> str:
    """Return why the hub does not answer within `LIMIT_SECONDS`, or an empty string; each hub is tried once."""
    from huggingface_hub import get_session

    session = get_session()
    statuses: list[int] = []

    def ask() -> None:
        with contextlib.suppress(Exception):
            statuses.append(session.head(endpoint, timeout=2 * LIMIT_SECONDS).status_code)

    asking = threading.Thread(target=ask, daemon=True)  # name resolution has no time limit
    asking.start()
    asking.join(LIMIT_SECONDS)
    if asking.is_alive():
        return f"the hub did not answer within {LIMIT_SECONDS:g} s"
    return "" if statuses and statuses[0] < 500 else "the hub cannot be reached"


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what the hub's library and its dependencies print about retries and addresses.

    All logging is switched off, because the library sets the levels of its loggers itself when it is first used.
    """
    import logging

    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(before)


def _first_file(repository: str, revision: str, token: str | None, endpoint: str, *, offline: bool) -> Path:
    """Return the first file that the repository has, downloaded or, if `offline`, from an earlier download."""
    from huggingface_hub import hf_hub_download

    download = partial(hf_hub_download, repository, revision=revision, token=token, endpoint=endpoint)
    for file in _FILES:
        try:
            return Path(download(file, cache_dir=cache_folder() / "hub", local_files_only=offline))
        except Exception as error:
            missing = type(error).__name__ in (*_NO_SUCH_FILE, *(("LocalEntryNotFoundError",) if offline else ()))
            if not missing or file == _FILES[-1]:
                raise
    raise AssertionError("the last file was returned or raised for")


def _reason(error: Exception) -> str:
    kind = type(error).__name__
    if kind in ("GatedRepoError", "RepositoryNotFoundError"):
        return "the hub has no such model, or only shows it to some accounts"
    if kind in _NO_SUCH_FILE:
        return f"it has none of {', '.join(_FILES)} on the hub"
    return "unavailable offline: the hub cannot be reached"
