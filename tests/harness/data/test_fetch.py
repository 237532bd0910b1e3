"""Fetching, against a stand-in for pip: what is kept, what is refused, what an interruption leaves."""

from __future__ import annotations

import os
import shutil
from errno import ENOSPC
from pathlib import Path
from unittest.mock import Mock

import pytest
from package_index import TEXTS, Index, in_order, sha256
from refusals import refused

from harness.data import DataError, fetch, is_fetched, load_corpus
from harness.data import catalogue as catalogue_module
from harness.progress import Bar
from impls.core.errors import UnknownName


def test_what_is_fetched_is_there_without_a_network_afterwards(stand_in: Index) -> None:
    assert not is_fetched("one")
    assert [fetched.fresh for fetched in fetch()] == [True, True]
    assert stand_in.asked == ["first", "second"]
    shutil.rmtree(stand_in.folder)
    assert [fetched.fresh for fetched in fetch()] == [False, False]
    assert stand_in.asked == ["first", "second"]
    assert list(load_corpus("one").documents()) == in_order(TEXTS[:2])
    assert list(load_corpus("two").documents()) == TEXTS[2:]
    assert stand_in.leftovers() == []


def test_a_corpus_is_fetched_on_first_use_and_says_so(stand_in: Index, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(load_corpus("two").documents())) == 1
    assert stand_in.asked == ["second"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "fetching two" in captured.err


def test_a_mixed_corpus_fetches_its_sources_and_takes_of_each_what_it_says(stand_in: Index) -> None:
    tables = catalogue_module.datasets_folder() / "corpora.toml"
    mixed = '[corpora.both]\ndescription = "d"\nlanguage = "x"\nlicence = "MIT"\nsha256 = ""\nn_bytes = 9\n'
    tables.write_text(tables.read_text("utf-8") + mixed + "mixed_of = { one = 20, two = 100 }\n", "utf-8")
    assert [fetched.name for fetched in fetch(["both"])] == ["one", "two"]
    assert is_fetched("both")
    assert sorted(load_corpus("both").documents()) == sorted([in_order(TEXTS[:2])[0], TEXTS[2]])
    refused(UnknownName, "both/one", load_corpus, "both/one")


def test_an_interrupted_fetch_goes_on_where_it_stopped(stand_in: Index) -> None:
    def interrupt(scratch: Path) -> None:
        if stand_in.asked == ["first", "second"]:
            raise KeyboardInterrupt

    stand_in.before_copy = interrupt
    refused(KeyboardInterrupt, None, fetch)
    assert is_fetched("one")
    assert not is_fetched("two")
    assert stand_in.leftovers() == []
    fetch()
    assert stand_in.asked == ["first", "second", "second"]
    assert is_fetched("two")


def test_a_wrong_digest_names_the_file_and_both_digests_and_keeps_nothing(stand_in: Index) -> None:
    file = stand_in.folder / "first-1.0-py3-none-any.whl"
    right = sha256(file.read_bytes())
    file.write_bytes(file.read_bytes() + b"x")
    caught = refused(DataError, None, fetch, ["one"])
    for part in (file.name, right, sha256(file.read_bytes())):
        assert part in str(caught)
    assert list(stand_in.cache.rglob("*.documents")) == []
    assert stand_in.leftovers() == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"first/*.py" = ""', '"first/a.py" = ""', r"one\.documents: wrong digest: expected sha256 [0-9a-f]{64}, got "),
        ('"second/a.py" = ""', f'"second/a.py" = "{"0" * 64}"', r"second/a\.py: wrong digest"),
        ("second/a.py", "second/z.py", r"second-1\.0\.tar\.gz: contains no second/z\.py"),
    ],
)
def test_what_is_not_as_declared_is_refused_by_name(stand_in: Index, old: str, new: str, message: str) -> None:
    tables = catalogue_module.datasets_folder() / "corpora.toml"
    tables.write_text(tables.read_text("utf-8").replace(old, new), "utf-8")
    refused(DataError, message, fetch, ["one", "two"])


def test_a_damaged_file_of_the_cache_is_fetched_again(stand_in: Index) -> None:
    fetch(["one"])
    file = stand_in.cache / "corpora" / "one.documents"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert len(list(load_corpus("one").documents())) == 2
    assert file.read_bytes() == whole
    assert stand_in.asked == ["first", "first"]


def test_a_full_disk_is_one_error_and_leaves_nothing_behind(stand_in: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", Mock(side_effect=OSError(ENOSPC, os.strerror(ENOSPC))))
        refused(DataError, r"the disk is full.*BPEBENCH_CACHE", fetch, ["one"])
    assert [file for file in stand_in.cache.rglob("*") if file.is_file()] == []
    fetch(["one"])


def test_progress_never_goes_back_and_ends_at_the_total(stand_in: Index) -> None:
    class Kept(Bar):
        def __init__(self) -> None:
            self.steps: list[float] = []

        def advance(self, steps: float = 1, what: str = "") -> None:
            self.steps.append(steps)

        def total(self, steps: float) -> None:
            self.whole = steps

    bar = Kept()
    fetch(bar=bar)
    assert min(bar.steps) >= 0
    assert sum(bar.steps) == bar.whole == sum(file.stat().st_size for file in stand_in.folder.iterdir())


def test_what_a_killed_fetch_left_is_removed_by_a_later_one(stand_in: Index) -> None:
    old = stand_in.cache / "downloads" / "fetch-old"
    new = stand_in.cache / "downloads" / "fetch-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    (old.parent / "loop").symlink_to("loop")
    fetch(["one"])
    assert not old.exists()
    assert new.exists()
