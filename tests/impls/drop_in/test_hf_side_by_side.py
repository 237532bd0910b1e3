"""What programs written for Hugging Face's library do, step by step: the same on its classes and on ours.

The steps cover what its own Python tests do with byte pair encoding: added tokens, encoding, truncation, padding,
decoding, streams, the methods of `Encoding`, parts that are set, training and files.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hf_steps as do
import pytest
import tokenizers
from hf_calls import differs, outcome, shown
from tokenizers import Regex, decoders

from impls.drop_in import hf
from impls.formats.tokenizer_json import OlderUnicode

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
    **{
        name: (lambda e, name=name: [getattr(e, name)(k) for k in range(len(e) + 2)])
        for name in (
            "token_to_sequence",
            "token_to_word",
            "token_to_chars",
            "char_to_token",
            "char_to_word",
            "word_to_tokens",
            "word_to_chars",
        )
    },
    **{
        f"{name} of the second": (lambda e, name=name: [getattr(e, name)(k, 1) for k in range(9)])
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars")
    },
    "another sequence": lambda e: [e.set_sequence_id(3), shown(e)],
}
STEPS: dict[str, Callable[[Any, Path], Any]] = {
    **{
        f"token {flags}": lambda m, _, flags=flags: do.token(m, "<mask>", **flags)
        for flags in (
            {},
            *(
                {name: value}
                for name in ("rstrip", "lstrip", "single_word", "normalized", "special")
                for value in (False, True)
            ),
        )
    },
    "an empty token": lambda m, _: do.token(m),
    "a token changes": lambda m, _: do.changed(m),
    **{name: lambda m, _, name=name: do.adding(m, name) for name in ("add_tokens", "add_special_tokens")},
    "an untrained one": lambda m, _: do.untrained(m),
    "encode": lambda m, _: shown(do.of_words(m).encode("my name is john")),
    "encode a pair": lambda m, _: shown(do.of_words(m).encode("my name is john", "pair")),
    "encode words": lambda m, _: shown(do.of_words(m).encode(["my", "name", "is"], is_pretokenized=True)),
    "encode two lists": lambda m, _: shown(do.of_words(m).encode(["my"], ["pair"], is_pretokenized=True)),
    "encode a batch": lambda m, _: [shown(e) for e in do.of_words(m).encode_batch(["my name", ("is john", "pair")])],
    "encode fast": lambda m, _: [e.ids for e in do.of_bytes(m).encode_batch_fast(do.LINES)],
    "encode all kinds of batches": lambda m, _: do.formats(m),
    **{
        f"encode {k}": lambda m, _, given=given, words=words: do.of_words(m).encode(*given, is_pretokenized=words)
        for k, (given, words) in enumerate(
            (
                ([[["my", "name"]]], False),
                (["my", [["pair"]]], False),
                (["my", ["pair"]], False),
                (["my"], True),
                (["my", ["pair"]], True),
                ([["my"], "pair"], True),
            )
        )
    },
    "encode with specials": lambda m, _: [do.part(m, shown), do.part(m, lambda e: e.special_tokens_mask)],
    "special tokens as text": lambda m, _: do.special_as_text(m),
    "encode in threads": lambda m, _: do.at_once(m),
    "truncate": lambda m, _: do.truncated(m, 2),
    "truncate left": lambda m, _: do.truncated(m, 2, direction="left"),
    "truncate, stride": lambda m, _: do.truncated(m, 3, stride=1),
    "truncate the first": lambda m, _: do.truncated(m, 3, strategy="only_first"),
    "truncate the second": lambda m, _: do.truncated(m, 4, strategy="only_second"),
    "truncate oddly": lambda m, _: do.truncated(m, 4, strategy="x"),
    "pad": lambda m, _: do.padded(m),
    "pad to a length": lambda m, _: do.padded(m, length=6),
    "pad left": lambda m, _: do.padded(m, direction="left"),
    "pad to a multiple": lambda m, _: do.padded(m, pad_to_multiple_of=4),
    "pad with": lambda m, _: do.padded(m, pad_id=3, pad_type_id=1, pad_token="<p>"),
    "pad oddly": lambda m, _: do.padded(m, direction="up"),
    "decode": lambda m, _: [
        do.of_words(m).decode([0, 1, 2]),
        do.of_words(m).decode_batch([[0, 1], [4], []]),
        do.of_words(m).decode([0, 99]),
    ],
    "stream": lambda m, _: do.streamed(m, do.of_words(m), [0, 1, 2, 3]),
    "stream after ids": lambda m, _: do.streamed(m, do.of_words(m), [3], ids=[0, 1, 2]),
    "stream of bytes": lambda m, _: [
        do.streamed(m, t := do.of_bytes(m), t.encode("a text, déjà vu 日本 👍").ids, skip_special_tokens=skips)
        for skips in (False, True)
    ],
    "copies of a stream": lambda m, _: do.copied(m),
    "tokens of several ids": lambda m, _: do.with_tokens_of_several_ids(m),
    **{
        f"trimmed {options}": lambda m, _, options=options: do.trimmed(m, **options)
        for options in ({}, {"add_prefix_space": False}, {"trim_offsets": False})
    },
    "post-process": lambda m, _: do.post_processed(m),
    "special tokens are skipped": lambda m, _: do.special_and_not(m),
    "a tour": lambda m, _: do.toured(m),
    "parts change meanwhile": lambda m, _: do.while_parts_change(m),
    **{
        f"stream {k}": lambda m, _, decoder=decoder: do.streamed(m, do.of_fallen_bytes(m, decoder), [1, 2, 3, 4, 4])
        for k, decoder in enumerate((decoders.ByteFallback(), decoders.Metaspace(), None))
    },
    "questions": lambda m, _: do.questions(m),
    **{f"decoder: {name}": lambda m, _, given=given: do.decoded(m, *given) for name, given in DECODERS.items()},
    **{f"encoding: {name}": lambda m, _, call=call: do.part(m, call) for name, call in ENCODING.items()},
    "encodings merged": lambda m, _: do.merged(m),
    "a template": lambda m, _: do.with_template(m),
    "a sequence of processors": lambda m, _: do.with_sequence(m),
    "files": do.saved,
    **{
        f"training {options}": lambda m, path, options=options: do.trained(m, path, **options)
        for options in (
            {},
            {"vocab_size": 30},
            {"min_frequency": 4},
            {"initial_alphabet": ["z"]},
        )
    },
}


@pytest.mark.parametrize("name", STEPS)
def test_a_program_gets_the_same_answers(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OlderUnicode)
        theirs, ours = (outcome(lambda m: STEPS[name](m, tmp_path), m) for m in (tokenizers, hf))
    assert not differs(ours, theirs), (ours, theirs)
