"""kitoken: encodes by merging pairs in place. It recognises OpenAI's rank files by content; others as tokenizer.json.

Not exact with GPT-2's pattern: after white space other than U+0020 it splits `'s`, as in `\t's`.
"""

from __future__ import annotations

from impls.core.model import Model
from impls.peers.conversion import has_plain_rules, public_vocabulary, rank_file, sentencepiece_file, tokenizer_json
from impls.peers.peer import Calls, Peer, stdout_to_stderr


class Kitoken(Peer):
    """`kitoken.Kitoken` over the model's rank file where it is a public one, else over its tokenizer.json."""

    def _load(self, model: Model) -> Calls:
        public = public_vocabulary(model)
        if has_plain_rules(model):
            with stdout_to_stderr():  # it prints each id without a token
                tokenizer = self.library.Kitoken.from_sentencepiece(sentencepiece_file(model))
        elif public is not None and public.special_tokens == model.whole_token_ids:
            tokenizer = self.library.Kitoken.from_tiktoken(rank_file(model))
        else:
            tokenizer = self.library.Kitoken.from_tokenizers(tokenizer_json(self.name, model))
        return self._calls_of(tokenizer, decode_bytes=lambda ids: tokenizer.decode(ids, True))
