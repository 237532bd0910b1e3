"""Decoders, which turn the tokens of ids into text: the steps of tokenizer.json's `decoder`, as in the library."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from impls.core.text.decoder_steps import SPACES, token_decoder
from impls.drop_in.hf.arguments import items, text
from impls.drop_in.hf.parts import Part
from impls.formats.tokenizer_json.decoder_steps import read_decoder
from impls.operations.stream_rules import StreamRules, rules_of_decoder


class Decoder(Part):
    """The `decoder` of tokenizer.json; raise `InvalidModel` naming the step that is not supported."""

    kind = "decoder"
    __slots__ = ("_steps",)

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__(document, _steps=token_decoder(read_decoder(document)))

    def decode(self, tokens: Sequence[str]) -> str:
        """Return the text of tokens; raise TypeError for anything else."""
        decoded: str = self._steps.text(
            [text(f"tokens[{k}]", token) for k, token in enumerate(items("tokens", tokens))]
        )
        return decoded


def stream_rules(names: Mapping[int, str], special: Collection[int], decoder: Decoder | None) -> StreamRules:
    """Return how the ids of tokens are decoded one by one: by character as in the library, so that a wrong byte does
    not replace those before it."""
    rules = rules_of_decoder(token_decoder(SPACES) if decoder is None else decoder._steps, names, special)
    return replace(rules, decoder=None) if rules.byte_ids is not None else rules
