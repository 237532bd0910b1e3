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


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise InvalidModel(problem)


def check_model(model: ModelData) -> None:
    """Raise `InvalidModel` if `model` contradicts itself."""
    alphabet, rule, n_merges = model.alphabet, model.merge_rule, len(model.merges)
    _require(alphabet in ("bytes", "chars"), f"alphabet must be 'bytes' or 'chars', not {alphabet!r}")
    _require(rule in ("pairs", "concatenation"), f"merge_rule must be 'pairs' or 'concatenation', not {rule!r}")
    if (steps := model.normalization_steps) is not None:
        _require(steps, "normalization must be None or name a step, not ''")
        normalizer(steps, model.charsmap)
    _require((model.unknown is None) == (model.unknown_id is None), "give unknown and unknown_id together, or neither")
    if rule == "concatenation":
        _require(not n_merges, "the rule 'concatenation' takes ranks from the ids and has no list of merges")
        _require(model.end_of_word is None or alphabet == "chars", "end_of_word over bytes needs listed merges")
    if (counts := model.merge_counts) is not None:
        _require(len(counts) == n_merges, f"{n_merges} merges but {len(counts)} merge counts")
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
            valid = token is None or (isinstance(token, bytes) and token)
            _require(valid, f"id {i}: a token must be bytes that are not empty, not {token!r}")
    ids = model.id_by_token
    if len(ids) + model.tokens.count(None) != len(model.tokens):
        for i, token in enumerate(model.tokens):
            if token is not None:
                _require(ids[token] == i, f"the token {token!r} has two ids, {i} and {ids[token]}")
    _require(ids or model.alphabet == "bytes", "a model without tokens")
    if model.alphabet == "bytes":
        end = (model.end_of_word or "").encode()
        for suffix, where in ((b"", ""), (end, " at the end of a word")):
            missing = [byte for byte in range(256) if bytes([byte]) + suffix not in ids]
            if missing:
                have = plural(len(missing), "byte has", "bytes have")
                raise InvalidModel(f"{have} no token{where}, the first is 0x{missing[0]:02X}")


def _check_whole_tokens(model: ModelData) -> None:
    used: dict[int, str] = {}
    whole_tokens = [*model.special_tokens.items(), *model.added_tokens.items()]
    if model.unknown is not None and model.unknown_id is not None:
        whole_tokens.append((model.unknown, model.unknown_id))
    for text, i in whole_tokens:
        _require(isinstance(text, str) and text, f"a special token must be a text that is not empty, not {text!r}")
        is_id = isinstance(i, int) and not isinstance(i, bool) and 0 <= i <= MAX_ID
        _require(is_id, f"the special token {text!r} has the id {i!r}, not a whole number up to {MAX_ID}")
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            raise InvalidModel(f"the special token {text!a} contains a lone surrogate") from None
        by_text = model.id_by_token.get(encoded, i)
        _require(by_text == i, f"the special token {text!r} has id {i}, but its text is a token under id {by_text}")
        token = model.tokens[i] if i < len(model.tokens) else None
        _require(token in (None, encoded), f"the special token {text!r} has the id {i} of the token {token!r}")
        other = used.setdefault(i, text)
        _require(other == text, f"the special tokens {other!r} and {text!r} have the same id {i}")


def _check_flags(model: ModelData) -> None:
    written_as: dict[str, str] = {}
    for text, flags in model.whole_token_flags.items():
        field = f"whole_token_flags: {text!r}"
        _require(text in model.whole_token_ids, f"{field} is not a special or added token")
        known = flags and all(flag in FLAGS for flag in flags) and len(set(flags)) == len(flags)
        _require(known, f"{field} has {flags!r}; known are {', '.join(FLAGS)}")
        if "normalized" in flags:
            written = normal_form(model)(text, True)
            _require(written, f"whole_token_flags: nothing is left of {text!r} when it is normalised")
            other = written_as.setdefault(written, text)
            _require(other == text, f"whole_token_flags: {other!r} and {text!r} are the same when they are normalised")


# --- SentencePiece's rules ---------------------------------------------------------------------------------------


def _check_rules(model: ModelData, rules: SentencePieceRules) -> None:
    """Raise `InvalidModel` naming the rule that contradicts the model."""
    over_characters = model.alphabet == "chars" and model.end_of_word is None
    _require(over_characters, "SentencePiece's rules need the alphabet 'chars', and no end_of_word")
    prefixes, prefix = ("always", "missing", "first", "never"), rules.dummy_prefix
    _require(prefix in prefixes, f"dummy_prefix must be always, missing, first or never, not {prefix!r}")
    if rules.charsmap:
        go_together = f"the normalization {model.normalization!r} and a charsmap go together"
        _require(model.normalization not in (None, "nfc"), go_together)
        Charsmap(rules.charsmap)
    _require(rules.charsmap or not rules.charsmap_by_graphemes, "there is no charsmap to look graphemes up in")
    _check_ids(model, rules)
    if rules.ranks:
        needs = "ranks belong to the rule 'concatenation'; a list of merges is in rank order"
        _require(model.merge_rule == "concatenation", needs)
        _require(len(rules.ranks) == len(model.tokens), f"{len(model.tokens)} tokens but {len(rules.ranks)} ranks")
    in_range = all(isinstance(rank, int) and 0 <= rank < 1 << 31 for rank in rules.ranks)
    _require(in_range, "a rank must be a whole number from 0 to 2147483647")
    if model.merge_rule == "concatenation":
        _check_characters(model, rules)


def _check_ids(model: ModelData, rules: SentencePieceRules) -> None:
    given = [i for i in rules.byte_ids if i != -1]
    are_all = len(rules.byte_ids) in (0, 256) and len(set(given)) == len(given)
    _require(are_all, f"{len(set(rules.byte_ids))} byte ids; there must be 256 different ones or -1, or none")
    may_lack = not rules.byte_ids or rules.spells_all or model.merge_rule == "pairs"
    _require(may_lack, f"{256 - len(given)} of the 256 byte ids are missing; only listed merges go with that")
    taken = {i: text for text, i in model.whole_token_ids.items()} | {model.unknown_id: model.unknown}
    for byte, i in enumerate(rules.byte_ids):
        is_free = 0 <= i < len(model.tokens) and model.tokens[i] is None and taken.get(i) in (None, f"<0x{byte:02X}>")
        _require(i == -1 or is_free, f"byte 0x{byte:02X}: the id {i} is in use")
    for name in ("user_defined_ids", "unused_ids"):
        for i in getattr(rules, name):
            has_token = 0 <= i < len(model.tokens) and model.tokens[i] is not None
            _require(has_token, f"{name}: no token has id {i}")
    both = set(rules.user_defined_ids) & set(rules.unused_ids)
    _require(not both, f"the id {min(both, default=0)} is user-defined and unused")


def _check_characters(model: ModelData, rules: SentencePieceRules) -> None:
    """Raise `InvalidModel` for a character that is part of a token but not a token: it would be unknown, yet merge."""
    own = set(rules.user_defined_ids)
    characters = single_characters(model)
    for i, token in enumerate(model.tokens):
        if token is not None and i not in own and len(text := token_text(token)) > 1:
            for character in text:
                if character not in characters:
                    raise InvalidModel(f"the token {text!r} (id {i}) contains {character!r}, which is not a token")
