"""tiktoken over our files: its own constructors, with the ranks given to it in place of downloads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tiktoken
import tiktoken_ext.openai_public

from harness.data import load_model


def ranks_of(url: str, *_: Any, **__: Any) -> dict[bytes, int]:
    return dict(load_model(url.rsplit("/", 1)[-1].removesuffix(".tiktoken")).id_by_token)


@pytest.fixture(scope="session")
def theirs() -> Iterator[Any]:
    """The module tiktoken, whose named encodings load without a network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiktoken_ext.openai_public, "load_tiktoken_bpe", ranks_of)
        patch.setattr(tiktoken_ext.openai_public, "data_gym_to_mergeable_bpe_ranks", lambda **_: ranks_of("r50k_base"))
        yield tiktoken
