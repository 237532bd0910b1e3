"""mistral-common over the line protocol, for `bpebench conform`; needs that package, and nothing of this suite.

    bpebench conform 'cmd:PYTHON tests/bench/mistral_streams.py tekken' -m tekken --check streaming-decode

`mistral-v1` and `mistral-v3` are its SentencePiece models. It has no stream, so one is made of its `decode` by hand:
all ids so far, minus what was said, waiting while that ends in U+FFFD.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from streams import WaitingNewPart

FILES = {
    "tekken": "tekken_240911.json",
    "mistral-v1": "tokenizer.model.v1",
    "mistral-v3": "mistral_instruct_tokenizer_240323.model.v3",
}


def library(name: str) -> Any:
    """Return the tokenizer of the package over one of its own files."""
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
    from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    path = MistralTokenizer._data_path() / FILES[name]
    return Tekkenizer.from_file(path) if name == "tekken" else SentencePieceTokenizer(path)


def main(name: str) -> None:
    """Answer requests until there are no more."""
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

    tokenizer = library(name)

    def decode(ids: Any) -> str:
        return str(tokenizer.decode(list(ids), special_token_policy=SpecialTokenPolicy.IGNORE))

    def decode_stream(lists: list[list[int]]) -> list[str]:
        stream = WaitingNewPart(decode)
        return [*map(stream.push, lists), stream.finish()]

    answers: dict[str, Callable[..., Any]] = {
        "describe": lambda: {"operations": ["decode_stream"]},
        "encode": lambda text: tokenizer.encode(text, bos=False, eos=False),
        "decode": decode,
        "decode_stream": decode_stream,
    }
    for line in sys.stdin:
        request = json.loads(line)
        number, operation = request.pop("id"), request.pop("op")
        try:
            answer = {"result": answers[operation](*request.values())}
        except Exception as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        print(json.dumps({"id": number, **answer}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
