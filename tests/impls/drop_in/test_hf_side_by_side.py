"""What programs written for Hugging Face's library do, step by step: the same on its classes and on ours.

The steps are those of its own Python tests that no random call takes: tokens that change, batches of all kinds,
the methods of `Encoding`, and decoders that are set.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import hf_steps as do
import pytest
import tokenizers
from hf_calls import differs, outcome, shown
from tokenizers import Regex, decoders

from impls.drop_in import hf
from impls.formats.tokenizer_json.space_steps import OlderUnicode

DECODERS: dict[str, tuple[Any, ...]] = {
    "none": (None, "my", "▁name"),
    "bytes": (decoders.ByteLevel(), "My", "Ġname", "Ġis", "ĠJohn"),
    "replace": (decoders.Replace("_", " "), "My", "_name"),
    "replace by regex": (decoders.Replace(Regex("_+"), " "), "a__b", "_c"),
    "byte fallback": (decoders.ByteFallback(), "My", "<0x20>", "<0xC3>", "<0xA9>", "x", "<0xFF>", "<0x41>"),
    "fuse": (decoders.Fuse(), "My", " na"),
    "strip": (decoders.Strip(content="_", left=1, right=2), "_a__", "__b"),
    "metaspace": (decoders.Metaspace(), "▁My", "▁name▁", "▁"),
    "metaspace, never": (decoders.Metaspace(prepend_scheme="never"), "▁My", "▁name"),
    "end of words": (decoders.BPEDecoder(suffix="_"), "My_", "na", "me_"),
    "several": (decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]), "▁a", "<0x42>", "▁c"),
}
ENCODING: dict[str, Callable[[Any], Any]] = {
    "all": shown,
    "length": len,
    "pickled": lambda e: shown(pickle.loads(pickle.dumps(e))),
    "cut": lambda e: do.cut(e, 3),
    "cut with a stride": lambda e: do.cut(e, 4, 1),
    "cut left": lambda e: do.cut(e, 3, direction="left"),
    "cut to nothing": lambda e: do.cut(e, 0),
    "cut nowhere": lambda e: do.cut(e, 99),
    "cut oddly": lambda e: do.cut(e, 3, direction="up"),
    "filled": lambda e: do.filled(e, 20),
    "filled left": lambda e: do.filled(e, 20, direction="left", pad_id=7, pad_token="P", pad_type_id=2),
    "sequences of tokens": lambda e: [e.token_to_sequence(k) for k in range(len(e) + 2)],
    "another sequence": lambda e: [e.set_sequence_id(3), shown(e)],
}
STEPS: dict[str, Callable[[Any], Any]] = {
    "tokens": do.tokens,
    "a token changes": do.changed,
    **{name: lambda m, name=name: do.adding(m, name) for name in ("add_tokens", "add_special_tokens")},
    "encode all kinds of batches": do.formats,
    **{f"decoder: {name}": lambda m, given=given: do.decoded(m, *given) for name, given in DECODERS.items()},
    **{f"encoding: {name}": lambda m, call=call: do.part(m, call) for name, call in ENCODING.items()},
    "encodings merged": do.merged,
}


@pytest.mark.parametrize("name", STEPS)
def test_a_program_gets_the_same_answers(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OlderUnicode)
        theirs, ours = (outcome(STEPS[name], m) for m in (tokenizers, hf))
    assert not differs(ours, theirs), (ours, theirs)
