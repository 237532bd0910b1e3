"""SentencePiece's models in Hugging Face's library and its files, and theirs in SentencePiece's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tokenizers
from sentencepiece_models import random_texts

import impls
from impls.formats import load, losses, save


def test_a_written_tokenizer_json_runs_there_and_is_read_again(trained: Any, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save(trained.model, path, "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    again = load(path)
    ours = {name: impls.load(name, again) for name in ("naive", "priority", "backtracking", "sentencepiece")}
    as_published = "user-defined" not in trained.name and not trained.model.charsmap
    for text in random_texts(120, seed=7):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert not as_published or ids == trained.library.encode(text), text
        for name, tokenizer in ours.items():
            if name != "sentencepiece" or as_published:
                assert tokenizer.encode(text, disallowed_special=()) == ids, (name, text)
        assert theirs.decode(ids, skip_special_tokens=False) == ours["priority"].decode(ids)


def test_what_a_tokenizer_json_would_lose_is_reported(trained: Any) -> None:
    reported = {line.partition(":")[0] for line in losses(trained.model, "tokenizer.json")}
    wanted = {"special_tokens"}
    wanted |= {"decoding"} if trained.options["remove_extra_whitespaces"] or trained.options["byte_fallback"] else set()
    wanted |= {"normalization"} if trained.model.normalization else set()
    wanted |= {"user_defined_ids"} if "user_defined_symbols" in trained.options else set()
    wanted |= set() if trained.options["byte_fallback"] else {"unknown_text"}
    assert reported == wanted
