"""The `Model`: immutable data that is checked on construction; values derived from it are computed once.

In this package, `data` holds the fields and their meaning; `checks`, `derivations` and `packed` are functions of these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from impls.core.model import derivations
from impls.core.model.checks import check_model
from impls.core.model.cuts import Cuts
from impls.core.model.data import HuggingFaceRules, ModelData
from impls.core.model.packed import MAPPINGS, PackedModel, digest_of, pack, unpack
from impls.core.text.decoder_steps import usual_decoders
from impls.core.text.normalization import is_settled
from impls.core.text.patterns import Splitter, name_of
from impls.core.text.sentencepiece_rules import SentencePieceRules
from impls.core.text.stages import drops_text

RoundTrip = Literal["exact", "normalising", "lossy"]
_UNMERGED = frozenset(("special_tokens", "added_tokens", "normalization", "pattern"))
"""Fields on which the recovered merges do not depend."""


class Model(ModelData):
    """Tokens, merges and the rules for using them. Raises `InvalidModel` naming the entry that is wrong.

    Refused: a missing byte (alphabet `bytes`), one token under two ids, an id out of range, a merge of unknown parts, a
    special token whose text is a token under another id. Kept, and listed in `irregularities`: non-monotone ranks,
    tokens with several or no derivations, duplicate merges.
    """

    _packed: PackedModel | None = None
    load: ClassVar[Callable[[str | Path], Model]]
    """Read a file of any format; `impls` adds this and `save`, since the formats know the model, not the reverse."""
    save: ClassVar[Callable[[Model, str | Path], None]]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_model(self)

    def __repr__(self) -> str:
        stages = name_of(self.pattern) or " then ".join(self.pattern)
        merges = f"{len(self.merges):,} merges, " if self.merge_rule == "pairs" else ""
        return f"Model({self.vocab_size:,} ids, {merges}pattern {stages if len(stages) < 60 else stages[:57] + '…'})"

    @cached_property
    def tokens(self) -> tuple[bytes | None, ...]:
        """Unpack the tokens of a restored model; any other has them from the start."""
        return self._unpacked("tokens").tokens()

    @cached_property
    def merges(self) -> tuple[tuple[int, int], ...]:
        """Unpack the merges of a restored model."""
        return self._unpacked("merges").merges()

    def _unpacked(self, field: str) -> PackedModel:
        if self._packed is None:  # packing reads the field, so `hasattr` of an object without it would not end
            raise AttributeError(f"the model has no {field}")
        return self._packed

    @staticmethod
    def restored(packed: PackedModel) -> Model:
        """Return the model that `packed` was made of, unchecked; tokens and merges are unpacked on first access."""
        model = object.__new__(Model)
        fields = packed.fields()
        model.__dict__.update(fields, _packed=packed, **{name: MappingProxyType(fields[name]) for name in MAPPINGS})
        return model

    def packed(self, notes: Sequence[tuple[str, str]] = ()) -> PackedModel:
        """Return the model packed into bytes, which it keeps; `notes` on it are packed the first time."""
        packed: PackedModel = self._packed or self.__dict__.setdefault("_packed", pack(self, notes))
        return packed

    def __reduce__(self) -> tuple[Any, ...]:
        packed = self.packed()
        # Derived values that are costly are pickled too, once computed.
        known = {name: value for name, value in self.__dict__.items() if name == "recovered_merges"}
        return _restored, (bytes(packed.content), packed.digest), known

    def with_(self, **changes: Any) -> Model:
        """Return a copy with other fields, or other fields of `hugging_face`, checked again; the flags of removed
        special and added tokens are removed."""
        rules = {name: changes.pop(name) for name in HuggingFaceRules.__dataclass_fields__ if name in changes}
        if self.whole_token_flags and "whole_token_flags" not in rules:
            kept = [changes.get(name, getattr(self, name)) for name in ("special_tokens", "added_tokens")]
            texts = {text for tokens in kept for text in tokens}
            rules["whole_token_flags"] = {t: flags for t, flags in self.whole_token_flags.items() if t in texts}
        changed = replace(self, **{"hugging_face": replace(self.hugging_face, **rules)} | changes)
        if "recovered_merges" in self.__dict__ and _UNMERGED.issuperset(changes):
            changed.__dict__["recovered_merges"] = self.__dict__["recovered_merges"]
        return changed

    digest = cached_property(digest_of)

    @cached_property
    def n_tokens(self) -> int:
        """Return the number of ids that decode to a text: tokens, special, added and unknown tokens."""
        return len(self.bytes_by_id())

    def bytes_by_id(self) -> dict[int, bytes]:
        """Return the bytes of each id; `end_of_word` and SentencePiece's U+2581 become a space."""
        return derivations.bytes_by_id(self)

    @cached_property
    def splitter(self) -> Splitter:
        """Return the pattern as a function of a text in normal form."""
        return Splitter(self.pattern)

    @cached_property
    def cuts(self) -> Cuts | None:
        """Return where SentencePiece's rules cut the pieces of the pattern further."""
        return None if self.sentencepiece is None else Cuts(self)

    def split(self, text: str) -> list[str]:
        """Return the pieces of a text in normal form: split by the pattern, then cut by SentencePiece's rules."""
        pieces, cuts = self.splitter.split(text), self.cuts
        return pieces if cuts is None else [part for piece in pieces for part in cuts.cut(piece)]

    # --- derived values, see `derivations` -------------------------------------------------------------------

    names_by_id = cached_property(derivations.names_by_id)
    symbol_ids = cached_property(derivations.symbol_ids)
    equal_ranks = cached_property(derivations.equal_ranks)
    unused_parts = cached_property(derivations.unused_parts)
    recovered_merges = property(derivations.recovered_merges)
    irregularities = cached_property(derivations.irregularities)

    @property
    def round_trip(self) -> RoundTrip:
        """Return what a round trip restores (except lone surrogates).

        `exact`: every text. `normalising`: a normal form of the text, which a second round trip does not change.
        `lossy`: less; what is lost cannot be derived from the ids.
        """
        return self._round_trip[0]

    @property
    def lossy(self) -> str | None:
        """Return why decoding may not restore the text, or None if the round trip is exact."""
        return self._round_trip[1]

    @cached_property
    def _round_trip(self) -> tuple[RoundTrip, str | None]:
        return _round_trip_of(self)


def _restored(content: bytes, sha256: str) -> Model:
    return Model.restored(unpack(content, sha256))


# --- round trips --------------------------------------------------------------------------------------------------


def _round_trip_of(model: Model) -> tuple[RoundTrip, str | None]:
    """Return the kind of round trip, and why it is not exact, or None."""
    if drops_text(model.pattern):
        return "lossy", "text that the pattern leaves out is dropped"
    if model.end_of_word is not None:
        return "lossy", "end_of_word: white space around words is not kept"
    rules = model.sentencepiece
    if model.alphabet == "chars" and model.unknown is not None and not (rules and rules.spells_all):
        return "lossy", "characters outside the alphabet become the unknown token"
    marks = rules is not None and rules.escape_spaces
    if (steps := model.normalization_steps) is not None and not is_settled(steps, space_of_mark=marks):
        return "lossy", f"normalization {steps}: applied twice it may change a text again"
    if model.decoder is not None and model.decoder not in usual_decoders(rules):
        return "lossy", f"decoder {model.decoder}: it may not restore the encoded text"
    if _swallows_spaces(model):
        return "lossy", "white space around some added tokens is not kept"
    reasons = [] if model.normalization is None else [f"normalization {model.normalization}"]
    if rules is not None:
        reasons += _changes(rules)
    return ("normalising", "; ".join(reasons)) if reasons else ("exact", None)


def _swallows_spaces(model: Model) -> bool:
    """Return whether tokens that are always recognised absorb white space, or the mark before them."""
    swallows = {"lstrip", "rstrip"} if model.sentencepiece is None else {"lstrip", "rstrip", "normalized"}
    return any(swallows & set(model.whole_token_flags.get(text, ())) for text in model.added_tokens)


def _changes(rules: SentencePieceRules) -> list[str]:
    prefix, removes, escapes = rules.dummy_prefix, rules.remove_extra_spaces, rules.escape_spaces
    changes = {
        "runs of spaces become one, spaces at the ends are removed": removes,
        "a space at the start of a text is removed": not removes and prefix in ("missing", "first"),
        "a space is put before the text": prefix != "never" and not escapes,
        "U+2581 becomes a space": escapes,
    }
    return [change for change, happens in changes.items() if happens]
