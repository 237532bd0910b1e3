"""Consistency checks of a model; the error is an `InvalidModel` naming the wrong entry."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain

from impls.core.errors import InvalidModel, plural
from impls.core.model.cuts import single_characters, token_text
from impls.core.model.data import ModelData
from impls.core.model.whole_tokens import FLAGS, normal_form
from impls.core.text.charsmap import Charsmap
from impls.core.text.decoder_steps import token_decoder
from impls.core.text.normalization import normalizer
from impls.core.text.sentencepiece_rules import SentencePieceRules

MAX_ID = 2**31 - 1


def check_model(model: ModelData) -> None:
    """Raise `InvalidModel` if `model` contradicts itself."""
    if model.alphabet not in ("bytes", "chars"):
        raise InvalidModel(f"alphabet must be 'bytes' or 'chars', not {model.alphabet!r}")
    if model.merge_rule not in ("pairs", "concatenation"):
        raise InvalidModel(f"merge_rule must be 'pairs' or 'concatenation', not {model.merge_rule!r}")
    if (steps := model.normalization_steps) is not None:
        if not steps:
            raise InvalidModel("normalization must be None or name a step, not ''")
        normalizer(steps, model.charsmap)
    if (model.unknown is None) != (model.unknown_id is None):
        raise InvalidModel("unknown and unknown_id go together")
    if model.merge_rule == "concatenation" and model.merges:
        raise InvalidModel("the rule 'concatenation' takes ranks from the ids and has no list of merges")
    if model.end_of_word is not None and model.alphabet == "bytes" and model.merge_rule != "pairs":
        raise InvalidModel("end_of_word over bytes needs listed merges")
    if model.merge_counts is not None and len(model.merge_counts) != len(model.merges):
        raise InvalidModel(f"{len(model.merges)} merges but {len(model.merge_counts)} merge counts")
    _check_tokens(model)
    _check_merges(model)
    _check_whole_tokens(model)
    _check_flags(model)
    if model.sentencepiece is not None:
        _check_rules(model, model.sentencepiece)
    if model.decoder is not None:
        token_decoder(model.decoder)


def _check_merges(model: ModelData) -> None:
    ids = list(chain.from_iterable(model.merges))
    with suppress(LookupError, TypeError):
        if set(map(type, ids)) <= {int} and min(ids, default=0) >= 0 and len(model.merge_results) == len(model.merges):
            return
    tokens = model.tokens
    for rank, (left, right) in enumerate(model.merges):
        for i in (left, right):
            if not isinstance(i, int) or not 0 <= i < len(tokens) or tokens[i] is None:
                raise InvalidModel(f"merge {rank}: no token has id {i!r}")
        if tokens[left] + tokens[right] not in model.id_by_token:  # type: ignore[operator]
            raise InvalidModel(f"merge {rank}: {tokens[left]!r} and {tokens[right]!r} do not make a token")


def _check_tokens(model: ModelData) -> None:
    if set(map(type, model.tokens)) - {bytes, type(None)} or b"" in model.tokens:
        for i, token in enumerate(model.tokens):
            if token is not None and (not isinstance(token, bytes) or not token):
                raise InvalidModel(f"id {i}: a token must be bytes that are not empty, not {token!r}")
    present = len(model.tokens) - model.tokens.count(None)
    if len(model.id_by_token) != present:
        seen: dict[bytes, int] = {}
        for i, token in enumerate(model.tokens):
            if token is not None and seen.setdefault(token, i) != i:
                raise InvalidModel(f"the token {token!r} has two ids, {seen[token]} and {i}")
    if model.alphabet == "bytes":
        end = (model.end_of_word or "").encode()
        for suffix, where in ((b"", ""), (end, " at the end of a word")):
            missing = [byte for byte in range(256) if bytes([byte]) + suffix not in model.id_by_token]
            if missing:
                raise InvalidModel(
                    f"{plural(len(missing), 'byte has', 'bytes have')} no token{where}, the first is 0x{missing[0]:02X}"
                )
    elif not present:
        raise InvalidModel("a model without tokens")


def _check_whole_tokens(model: ModelData) -> None:
    used: dict[int, str] = {}
    whole = [*model.special_tokens.items(), *model.added_tokens.items()]
    if model.unknown is not None and model.unknown_id is not None:
        whole.append((model.unknown, model.unknown_id))
    for text, i in whole:
        if not isinstance(text, str) or not text:
            raise InvalidModel(f"a special token must be a text that is not empty, not {text!r}")
        if not isinstance(i, int) or isinstance(i, bool) or not 0 <= i <= MAX_ID:
            raise InvalidModel(f"the special token {text!r} has the id {i!r}, not a whole number up to {MAX_ID}")
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            raise InvalidModel(f"the special token {text!a} holds a lone surrogate") from None
        if model.id_by_token.get(encoded, i) != i:
            raise InvalidModel(
                f"the special token {text!r} has id {i}, but its text is a token under id {model.id_by_token[encoded]}"
            )
        if i < len(model.tokens) and model.tokens[i] not in (None, encoded):
            raise InvalidModel(f"the special token {text!r} has the id {i} of the token {model.tokens[i]!r}")
        if used.setdefault(i, text) != text:
            raise InvalidModel(f"the special tokens {used[i]!r} and {text!r} have the same id {i}")


def _check_flags(model: ModelData) -> None:
    written_as: dict[str, str] = {}
    for text, flags in model.whole_token_flags.items():
        if text not in model.whole_token_ids:
            raise InvalidModel(f"whole_token_flags: {text!r} is not a special or added token")
        if not flags or any(flag not in FLAGS for flag in flags) or len(set(flags)) != len(flags):
            raise InvalidModel(f"whole_token_flags: {text!r} has {flags!r}; known are {', '.join(FLAGS)}")
        if "normalized" in flags:
            written = normal_form(model)(text, True)
            if not written:
                raise InvalidModel(f"whole_token_flags: nothing is left of {text!r} when it is normalised")
            if (other := written_as.setdefault(written, text)) != text:
                raise InvalidModel(f"whole_token_flags: {other!r} and {text!r} are the same when they are normalised")


# --- SentencePiece's rules ---------------------------------------------------------------------------------------


def _check_rules(model: ModelData, rules: SentencePieceRules) -> None:
    """Raise `InvalidModel` naming the rule that contradicts the model."""
    if model.alphabet != "chars" or model.end_of_word is not None:
        raise InvalidModel("SentencePiece's rules need the alphabet 'chars', and no end_of_word")
    if rules.dummy_prefix not in ("always", "missing", "first", "never"):
        raise InvalidModel(f"dummy_prefix must be always, missing, first or never, not {rules.dummy_prefix!r}")
    if rules.charsmap and model.normalization in (None, "nfc"):
        raise InvalidModel(f"the normalization {model.normalization!r} and a charsmap go together")
    if rules.charsmap:
        Charsmap(rules.charsmap)
    if rules.charsmap_by_graphemes and not rules.charsmap:
        raise InvalidModel("there is no charsmap to look graphemes up in")
    _check_ids(model, rules)
    if rules.ranks and model.merge_rule != "concatenation":
        raise InvalidModel("ranks belong to the rule 'concatenation'; a list of merges is in rank order")
    if rules.ranks and len(rules.ranks) != len(model.tokens):
        raise InvalidModel(f"{len(model.tokens)} tokens but {len(rules.ranks)} ranks")
    if any(not isinstance(rank, int) or not 0 <= rank < 1 << 31 for rank in rules.ranks):
        raise InvalidModel("a rank must be a whole number from 0 to 2147483647")
    if model.merge_rule == "concatenation":
        _check_characters(model, rules)


def _check_ids(model: ModelData, rules: SentencePieceRules) -> None:
    given = [i for i in rules.byte_ids if i != -1]
    if len(rules.byte_ids) not in (0, 256) or len(set(given)) != len(given):
        raise InvalidModel(f"{len(set(rules.byte_ids))} byte ids; there must be 256 different ones or -1, or none")
    if rules.byte_ids and not rules.spells_all and model.merge_rule != "pairs":
        raise InvalidModel(f"{256 - len(given)} of the 256 byte ids are missing; only listed merges go with that")
    taken = {i: text for text, i in model.whole_token_ids.items()} | {model.unknown_id: model.unknown}
    for byte, i in enumerate(rules.byte_ids):
        is_free = 0 <= i < len(model.tokens) and model.tokens[i] is None and taken.get(i) in (None, f"<0x{byte:02X}>")
        if i != -1 and not is_free:
            raise InvalidModel(f"byte 0x{byte:02X}: the id {i} is not free for it")
    for name in ("user_defined_ids", "unused_ids"):
        for i in getattr(rules, name):
            if not 0 <= i < len(model.tokens) or model.tokens[i] is None:
                raise InvalidModel(f"{name}: no token has id {i}")
    if both := set(rules.user_defined_ids) & set(rules.unused_ids):
        raise InvalidModel(f"the id {min(both)} is user-defined and unused")


def _check_characters(model: ModelData, rules: SentencePieceRules) -> None:
    """Raise `InvalidModel` for a character that is part of a token but not a token: it would be unknown, yet merge."""
    own = set(rules.user_defined_ids)
    characters = single_characters(model)
    for i, token in enumerate(model.tokens):
        if token is not None and i not in own and len(text := token_text(token)) > 1:
            for character in text:
                if character not in characters:
                    raise InvalidModel(f"the token {text!r} (id {i}) holds {character!r}, which is not a token itself")
