"""The `decoder` of Hugging Face's tokenizer.json <-> `Model.decoder`."""

from __future__ import annotations

from typing import Any

from impls.core.errors import InvalidModel
from impls.core.model import Model
from impls.core.model.data import ModelData
from impls.core.model.derivations import names_of_others
from impls.core.text.decoder_steps import (
    BYTE_FALLBACK,
    BYTE_LEVEL,
    FUSE,
    SPACES,
    bytes_of,
    steps_of_decoder,
    usual_decoders,
)
from impls.core.text.normalization import call
from impls.formats.tokenizer_json.space_steps import flat_steps, in_sequence, read_replace, write_replace

_PLAIN: dict[str, dict[str, Any]] = {
    BYTE_LEVEL: {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    BYTE_FALLBACK: {"type": "ByteFallback"},
    FUSE: {"type": "Fuse"},
}
"""Steps without arguments -> their form in the file."""
_PLAIN_NAMES = {written["type"]: name for name, written in _PLAIN.items()}


class DecoderIgnored(UserWarning):
    """The file's decoder is not supported; ids decode as the joined texts of their tokens."""


def read_decoder(document: Any) -> str:
    """Return the steps of a `decoder`; raise `InvalidModel` naming the one that is not supported."""
    if document is None:
        return SPACES
    return "+".join(_read(step, where) for where, step in flat_steps(document, "decoder", "decoders")) or FUSE


def own_decoder(model: ModelData, steps: str) -> str | None:
    """Return the decoder of a model with these steps: None if it decodes so without them. Tokens are not looked at."""
    if model.sentencepiece is not None or model.end_of_word is not None:
        return steps
    if steps != (FUSE if model.alphabet == "chars" else BYTE_LEVEL):
        return steps
    # The library decodes some added tokens in normal form, or as the bytes that they print.
    bytes_by = str.encode if model.alphabet == "chars" else bytes_of
    texts = {i: text for text, i in model.whole_token_ids.items()}
    if model.unknown is not None and model.unknown_id is not None:
        texts[model.unknown_id] = model.unknown
    differs = any(bytes_by(name) != texts[i].encode() for i, name in names_of_others(model).items())
    return steps if differs else None


def _read(step: dict[str, Any], where: str) -> str:
    match step:
        case {"type": str(kind)} if kind in _PLAIN_NAMES:
            return _PLAIN_NAMES[kind]
        case {"type": "Replace"}:
            return read_replace(step, where)
        case {"type": "Strip", "content": str(character), "start": int(start), "stop": int(stop)}:
            return call("strip", character, str(start), str(stop))
        case {"type": "BPEDecoder", "suffix": str(suffix)}:
            return call("suffix", suffix)
        case {"type": "Metaspace", "replacement": str(mark)}:
            return call("metaspace", mark, " " if step.get("prepend_scheme", "always") == "never" else "")
    known = "ByteLevel, ByteFallback, Fuse, Replace, Strip, BPEDecoder and Metaspace"
    raise InvalidModel(f"{where}: {step.get('type')!r} is not supported as it is given here; supported are {known}")


def write_decoder(model: Model) -> dict[str, Any] | None:
    """Return the `decoder` by which the ids of a model decode as it decodes them, or nearly so."""
    written = BYTE_LEVEL if model.alphabet == "bytes" else FUSE
    if model.decoder is not None:
        written = model.decoder
    elif model.sentencepiece is not None:
        written = usual_decoders(model.sentencepiece)[0]
    elif model.end_of_word is not None:
        written = call("suffix", model.end_of_word)
    if written == SPACES:
        return None
    return in_sequence([_written(*step) for step in steps_of_decoder(written)], "decoders")


def _written(name: str, texts: list[str]) -> dict[str, Any]:
    match name, texts:
        case "replace" | "replace-regex", [old, new]:
            return write_replace(name, old, new)
        case "strip", [character, start, stop]:
            return {"type": "Strip", "content": character, "start": int(start), "stop": int(stop)}
        case "suffix", [suffix]:
            return {"type": "BPEDecoder", "suffix": suffix}
        case "metaspace", [mark, first]:
            scheme = "never" if first else "always"
            return {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": True}
    return _PLAIN[name]


def lost_decoding(model: Model) -> list[str]:
    """Return how the written decoder differs from that of a model without one."""
    rules = model.sentencepiece
    if model.decoder is not None:
        return []
    if model.end_of_word is not None:
        return ["decoding: the last word ends without a space"]
    if rules is None:
        return []
    spells, hides = bool(rules.byte_ids), rules.hides_prefix
    lost = {
        "one of several spaces at the start of a text is removed, not all": rules.remove_extra_spaces,
        "in a run of bytes that is not UTF-8 all are replaced, not only the wrong ones": spells,
        "a space spelled as the byte 0x20 is also removed at the start of a text": spells and hides,
    }
    return [f"decoding: {line}" for line, is_lost in lost.items() if is_lost]
