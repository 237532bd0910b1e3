"""By specifications they support, other libraries' trainers learn the same merges as ours."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from literal_training import as_bytes, random_corpus

import impls
from impls import TrainingSpec, Unsupported
from impls.core.text.files import TextFile, TextFiles

N_CORPORA = 40
BYTES = "aab cçİ\n1'😀\0▁"
CONDITIONS: dict[str, dict[str, Any]] = {
    "tokenizers": {"base_order": "gpt2", "ties": "smallest"},
    "tiktoken": {"ties": "first"},
    "sentencepiece": {"ties": "shortest", "alphabet": "chars"},
    "sentencepiece, bytes": {"ties": "shortest"},
}
PATTERNS = ["gpt2", "cl100k-0.14", "turkish", "none", r"\w+|\W+"]


def test_hugging_face_reads_a_file_by_lines(tmp_path: Path) -> None:
    chance, path, spec = random.Random(5), tmp_path / "text.txt", TrainingSpec(vocab_size=300, base_order="gpt2")
    for _ in range(40):
        content = "".join(chance.choices("aab cçİ\n\n1'😀▁", k=chance.randint(0, 90)))
        path.write_text(content, newline="")
        files = TextFiles([TextFile(path, "lines")])
        theirs, own = (impls.get(name).train_model(files, spec) for name in ("tokenizers", "priority"))
        assert as_bytes(theirs) == as_bytes(own), content


@pytest.mark.parametrize("library", CONDITIONS)
def test_the_libraries_trainers_learn_what_priority_learns(library: str) -> None:
    chance = random.Random(library)
    conditions, name = CONDITIONS[library], library.split(",")[0]
    n_merges = 0
    for _ in range(N_CORPORA):
        texts = ["ab", *random_corpus(chance, BYTES, 60)]
        spec = TrainingSpec(
            vocab_size=chance.choice([258, 262, 275, 900]),
            pattern=chance.choice(PATTERNS),
            special_tokens=chance.choice([(), ("<s>", "<e>")]),
            special_ids=chance.choice(["first", "last"]),
            unknown=chance.choice([None, "<unk>"]),
            max_merges=chance.choice([None, None, 5]),
            **conditions,
        )
        spec = replace(spec, min_count=chance.choice([1, 2, 3])) if name == "tokenizers" else spec
        spec = replace(spec, vocab_size=spec.vocab_size + 4)
        own, theirs = (impls.get(trainer).train_model(texts, spec) for trainer in ("priority", name))
        assert as_bytes(theirs) == as_bytes(own), (texts, spec)
        assert theirs == own.with_(merge_counts=None), (texts, spec)
        n_merges += len(own.merges)
    assert n_merges > 3 * N_CORPORA


@pytest.mark.parametrize("library", CONDITIONS)
def test_what_has_no_pairs_and_what_a_pattern_leaves_out(library: str) -> None:
    conditions, name = CONDITIONS[library], library.split(",")[0]
    for texts in (["a"], ["", "a", "b"], ["a" * 50]):
        spec = TrainingSpec(vocab_size=300, pattern="none", **conditions)
        own = impls.get("priority").train_model(texts, spec)
        assert as_bytes(impls.get(name).train_model(texts, spec)) == as_bytes(own)
    with pytest.raises(impls.InvalidPattern, match="leaves out '1'"):
        impls.get(name).train_model(["ab1"], TrainingSpec(vocab_size=300, pattern="[a-z]+", **conditions))


REFUSED: dict[str, list[dict[str, Any]]] = {
    "tokenizers": [
        {"alphabet": "chars", "base_order": "raw"}, {"ties": "first"}, {"base_order": "raw"}, {"max_token_bytes": 3},
        {"pattern": r"\b|[\s\S]"},
    ],
    "tiktoken": [
        {"alphabet": "chars"}, {"ties": "smallest"}, {"base_order": "gpt2"}, {"min_count": 2}, {"max_token_bytes": 3},
        {"special_tokens": ("ab",)},
    ],
    "sentencepiece": [{"ties": "smallest"}, {"min_count": 2}, {"max_token_bytes": 3}, {"end_of_word": "</w>"}],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_specification_a_library_cannot_follow_is_refused_by_field(name: str) -> None:
    for fields in REFUSED[name]:
        spec = TrainingSpec(**{"vocab_size": 300, **CONDITIONS[name], **fields})
        with pytest.raises(Unsupported, match=rf"^{name}: TrainingSpec\.({'|'.join(fields)}): "):
            impls.get(name).train_model(["abab"], spec)


def test_sentencepiece_refuses_pieces_it_would_cut() -> None:
    spec = TrainingSpec(vocab_size=300, pattern="none", **CONDITIONS["sentencepiece"])
    with pytest.raises(Unsupported, match="pieces of up to 512 symbols, and one has 600"):
        impls.get("sentencepiece").train_model(["ab" * 300], spec)
