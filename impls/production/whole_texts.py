"""What the adapters share: telling the texts a library can encode in one call from those with special tokens in them.

The library itself is never asked to find special tokens: libraries disagree on overlapping ones and on what is
disallowed, so `Tokenizer` cuts a text around them and the library encodes what lies between.
"""

from __future__ import annotations

from impls.errors import SpecialToken
from impls.interface import SpecialSet
from impls.model import Model
from impls.text import repair_surrogates, special_matcher


def whole_text(model: Model, text: str, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> str | None:
    """`text` ready for one call of the library, or None where a special token in it has to be cut out first.

    Raises `SpecialToken` for a disallowed one, as `Tokenizer.encode` does.
    """
    specials = model.special_tokens.keys()
    if specials or model.added_tokens:
        allowed = specials if allowed_special == "all" else specials & set(allowed_special)
        disallowed = specials - allowed if disallowed_special == "all" else specials & set(disallowed_special)
        if disallowed and (found := special_matcher(frozenset(disallowed)).search(text)):
            raise SpecialToken(found[0], found.start())
        whole = allowed | model.added_tokens.keys()
        if whole and special_matcher(frozenset(whole)).search(text):
            return None
    return model.normalize(repair_surrogates(text))
