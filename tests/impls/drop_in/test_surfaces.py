"""The public names of both libraries: provided by the drop-ins, or refused by name, and the page that says so."""

from __future__ import annotations

import inspect

import pytest
import surfaces
import tiktoken.model
from hf_calls import BYTE_LEVEL, both
from refusals import refused
from tokenizer_json_shapes import a_file

import bpebench
from impls.core.errors import BPEError
from impls.drop_in import hf
from impls.drop_in.hf.not_provided import NOT_PROVIDED


def test_the_page_is_not_stale() -> None:
    assert surfaces.PAGE.read_text(encoding="utf-8") == surfaces.page()


def test_nothing_of_tokenizers_is_absent() -> None:
    assert [row for row in surfaces.rows(surfaces.TOKENIZERS, refuses=True) if row[2] == "absent"] == []


def test_what_programs_use_of_tiktoken_is_there() -> None:
    rows = surfaces.rows(surfaces.TIKTOKEN, refuses=False)
    absent = {"raise_disallowed_special_token", "ENCODINGS", "ENCODING_CONSTRUCTORS"}
    assert {name for _, name, state, _ in rows if state == "absent"} == absent
    assert bpebench.tiktoken.__version__ == tiktoken.__version__
    assert bpebench.tiktoken.model.MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert bpebench.tiktoken.model.MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING


@pytest.mark.parametrize("kind", NOT_PROVIDED)
def test_what_is_refused_raises_by_name(kind: str) -> None:
    ours, _ = both(a_file("bytes", normalizer={"type": "NFC"}, decoder=BYTE_LEVEL))
    things = {
        "module": hf,
        "Tokenizer": ours,
        "Encoding": ours.encode("a"),
        "BPE": ours.model,
        "Normalizer": ours.normalizer,
        "PreTokenizer": ours.pre_tokenizer,
        "Decoder": ours.decoder,
    }
    known = {row[1] for row in surfaces.rows(surfaces.TOKENIZERS, refuses=True) if row[0] == kind}
    assert NOT_PROVIDED[kind].keys() <= known
    for name in NOT_PROVIDED[kind]:
        refused(BPEError, rf"{name} is not provided; \S", getattr, things[kind], name)


def test_every_parameter_of_the_library_is_taken() -> None:
    for _, library, ours in surfaces.TOKENIZERS[1:3]:
        for name in surfaces.public_names(library):
            theirs = getattr(getattr(library, name), "__text_signature__", None)
            if theirs is None or not hasattr(ours, name):
                continue
            parameters = inspect.signature(getattr(ours, name)).parameters
            expected = [part.partition("=")[0].strip() for part in theirs.strip("()").split(",")]
            own = [name for name in parameters if name not in ("implementation", "max_length") or name in expected]
            assert own == expected, name


def test_every_parameter_of_tiktoken_has_its_name() -> None:
    for name in surfaces.public_names(tiktoken.Encoding):
        library, ours = getattr(tiktoken.Encoding, name), getattr(bpebench.tiktoken.Encoding, name)
        if callable(library):
            expected = inspect.signature(library).parameters
            own = inspect.signature(ours).parameters
            assert [(p.name, p.kind) for p in own.values()] == [(p.name, p.kind) for p in expected.values()], name
