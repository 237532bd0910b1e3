"""kitoken: encodes by merging pairs in place. It recognises OpenAI's rank files by content; others as tokenizer.json.

Not exact with GPT-2's pattern: after white space other than U+0020 it splits `'s`, as in `\t's`.
"""

from __future__ import annotations

from typing import Any

from impls.core.model import Model
from impls.formats.known import KNOWN
from impls.peers.conversion import has_plain_rules, public_digest, rank_file, sentencepiece_file, tokenizer_json
from impls.peers.peer import Calls, Peer, library, stdout_to_stderr

kitoken = library("kitoken")


class Kitoken(Peer):
    """`kitoken.Kitoken` over the model's rank file where it is a public one, else over its tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        tokenizer = self._over(model)
        return Calls(
            encode=tokenizer.encode,
            batch=lambda texts, threads: tokenizer.encode_all(texts) if threads == 1 else None,  # it releases the GIL
            decode_bytes=lambda ids: tokenizer.decode(ids, True),
        )

    def _over(self, model: Model) -> Any:
        if has_plain_rules(model):
            with stdout_to_stderr():  # it prints each id without a token
                return kitoken.Kitoken.from_sentencepiece(sentencepiece_file(model))
        digest = public_digest(model)
        if digest is not None and KNOWN[digest].special_tokens == model.whole_token_ids:
            return kitoken.Kitoken.from_tiktoken(rank_file(model))
        return kitoken.Kitoken.from_tokenizers(tokenizer_json(self.name, model))
