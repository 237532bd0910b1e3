"""Judging answers: digests, where two answers part, and shrinking to the smallest text that shows it."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure.jobs.answers import (
    NotIds,
    Wrong,
    as_uint32,
    digest_of_counts,
    digest_of_ids,
    digest_of_model,
    first_difference,
    read_ids,
    write_ids,
)
from harness.measure.jobs.judge import judge, smallest_counterexample
from harness.measure.jobs.prepared import PreparedJob
from harness.measure.protocol import Expected, Job
from harness.process.limits import without_paths
from impls import Model, Tokenizer

BYTES = Model(tokens=(*(bytes([byte]) for byte in range(256)), b"ab"))
TOKEN_BYTES = BYTES.bytes_by_id()

some_ids = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=8), max_size=6)


@given(some_ids, some_ids)
def test_digests_are_equal_only_where_ids_and_their_division_into_texts_are(
    a: list[list[int]], b: list[list[int]]
) -> None:
    assert (digest_of_ids(a) == digest_of_ids(b)) == (a == b)
    assert digest_of_ids(a) == digest_of_ids(np.array(ids, dtype=np.uint32) for ids in a)
    assert digest_of_ids(a)[1] == digest_of_counts(map(len, a))[1] == sum(map(len, a))


def test_a_digest_is_the_same_on_every_machine() -> None:
    little_endian = struct.pack("<5I", 2, 1, 2, 1, 3)
    assert digest_of_ids([[1, 2], [3]])[0] == hashlib.sha256(little_endian).hexdigest()


@given(some_ids)
def test_ids_written_are_read_back(texts_ids: list[list[int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_ids(Path(folder) / "ids", texts_ids)
        assert read_ids(Path(folder) / "ids") == texts_ids


@pytest.mark.parametrize(
    "answer", [None, "ids", [-1], [2**32], [[1, 2]], [1.5, "x"], np.zeros((2, 2)), [1.0], ["12"], np.array([1.5])]
)
def test_what_is_no_list_of_ids_is_refused(answer: object) -> None:
    with pytest.raises(NotIds):
        as_uint32(answer)  # type: ignore[arg-type]


def test_merges_in_another_order_have_another_digest() -> None:
    tokens, merges = (*BYTES.tokens, b"ba"), ((97, 98), (98, 97))
    one, other = (Model(tokens=tokens, merges=some) for some in (merges, merges[::-1]))
    assert digest_of_model(one) != digest_of_model(other)


def test_the_first_difference_is_cut_out_of_the_text_where_both_meet_again() -> None:
    text = b"one ab two ab three"
    a = [*b"one ", 256, *b" two ab three"]
    b = list(text)
    found = first_difference([b"same", text], [list(b"same"), a], [list(b"same"), b], TOKEN_BYTES)
    assert found is not None
    assert (found.windows[0], found.expected, found.got) == (b"ab", [256], [97, 98])
    assert found.windows[-1] == text


ids_of_text = st.text(alphabet="abc \n\u00e9", min_size=1, max_size=30)


@given(ids_of_text, st.data())
def test_every_window_is_part_of_the_text_and_grows(text: str, data: st.DataObject) -> None:
    content = text.encode()
    got = list(content)
    got[data.draw(st.integers(0, len(got) - 1))] = 255
    if got == list(content):
        return
    found = first_difference([content], [list(content)], [got], TOKEN_BYTES)
    assert found is not None
    sizes = [len(window) for window in found.windows]
    assert sizes == sorted(set(sizes))
    for window in found.windows:
        assert window in content
        window.decode()


def test_equal_answers_have_no_difference_and_a_missing_text_is_one() -> None:
    assert first_difference([b"a"], [[97]], [[97]], TOKEN_BYTES) is None
    assert first_difference([b"a", b"b"], [[97], [98]], [[97]], TOKEN_BYTES) is not None


class RightBytes(Tokenizer):
    name = "right"

    def _encode_text(self, text: str) -> list[int]:
        return list(text.encode())


class WrongBytes(RightBytes):
    name = "wrong"

    def _encode_text(self, text: str) -> list[int]:
        return [256 if "xy" in text else 0, *super()._encode_text(text)] if "xy" in text else list(text.encode())


class Raises(RightBytes):
    name = "raises"

    def _encode_text(self, text: str) -> list[int]:
        if "!" in text:
            raise ValueError("no exclamation")
        return super()._encode_text(text)


def test_no_counterexample_is_searched_after_its_time() -> None:
    assert smallest_counterexample((b"xy",), WrongBytes(BYTES), RightBytes(BYTES), seconds=-1) is None


def test_the_smallest_counterexample_holds_both_answers_or_the_error() -> None:
    candidates = (b"nothing here", b"a long text with xy and ! in it")
    found = smallest_counterexample(candidates, WrongBytes(BYTES), RightBytes(BYTES), seconds=10)
    assert found is not None
    assert (found.text.text, found.expected, found.got) == ("xy", [120, 121], [256, 120, 121])
    found = smallest_counterexample(candidates, Raises(BYTES), RightBytes(BYTES), seconds=10)
    assert found is not None
    assert (found.text.text, found.got) == ("!", None)
    assert "no exclamation" in found.note
    assert smallest_counterexample(candidates, RightBytes(BYTES), RightBytes(BYTES), seconds=10) is None


class OnlyLastText(RightBytes):
    name = "last-text"
    last = ""

    def _encode_text(self, text: str) -> list[int]:
        self.last = text
        return super()._encode_text(text)

    def decode_bytes(self, ids: object) -> bytes:
        return self.last.encode()


@pytest.mark.parametrize(("kind", "right"), [(RightBytes, True), (OnlyLastText, False)])
@pytest.mark.parametrize("text", ["one text and no other", "a", "\u00e9\u00e9"])
def test_decoding_is_not_believed_of_who_hands_back_what_it_encoded_last(
    tmp_path: Path, text: str, kind: type[RightBytes], right: bool
) -> None:
    tokenizer = kind(BYTES)
    ids = tokenizer.encode(text)
    write_ids(tmp_path / "ids", [ids])
    expected = Expected(digest="", n_tokens=len(ids), reference="right", ids_file=str(tmp_path / "ids"))
    job = Job(task="decode", state="warm-same")
    work = PreparedJob(job=job, tokenizer=tokenizer, passes=[[text.encode()]], run=list)
    if right:
        judge(work, [[tokenizer.decode(ids)]], expected)
    else:
        with pytest.raises(Wrong, match="in another order") as caught:
            judge(work, [[tokenizer.decode(ids)]], expected)
        assert (caught.value.failed.status, caught.value.failed.candidates[-1]) == ("mismatch", text.encode())


def test_training_that_no_reference_repeats_is_unverified() -> None:
    work = PreparedJob(job=Job(task="train", state="warm-same"), tokenizer=None, passes=[[b"ab"]], run=list)
    with pytest.raises(Wrong) as caught:
        judge(work, [BYTES], None)
    assert caught.value.failed.status == "unverified"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("cannot open /usr/lib/thing.so: gone", "cannot open thing.so: gone"),
        ("File '/home/me/x.py', line 3", "File 'x.py', line 3"),
        (r"C:\Users\me\x.dll not found", "x.dll not found"),
        ("ratio 1/2 and a / b", "ratio 1/2 and a / b"),
    ],
)
def test_reasons_name_no_folder(text: str, clean: str) -> None:
    assert without_paths(text) == clean
