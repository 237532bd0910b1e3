"""Fetching: against a stand-in for pip, and against pip itself with a folder in the place of an index."""

from __future__ import annotations

import base64
import errno
import hashlib
import io
import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from harness.data import DataError, fetch, is_fetched, load_corpus
from harness.data import catalogue as catalogue_module
from harness.data import packages as packages_module
from harness.data.documents import pack
from impls.errors import UnknownName

_TEXTS = ["print('one')\n", "print('iki')\n", "print('три')\n"]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _wheel(name: str, files: dict[str, str]) -> bytes:
    info = f"{name}-1.0.dist-info"
    entries = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    entries[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*entries, f"{info}/RECORD"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        for path, text in entries.items():
            wheel.writestr(zipfile.ZipInfo(path), text)
    return buffer.getvalue()


def _sdist(name: str, files: dict[str, str], marker: Path) -> bytes:
    """A source distribution whose `setup.py` leaves a file behind where it is executed."""
    entries = {
        **files,
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "setup.py": f"open({str(marker)!r}, 'w').close()\nimport setuptools\nsetuptools.setup(name={name!r})\n",
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for path, text in entries.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


@dataclass
class Index:
    """A folder of packages, tables that name them, and what was asked of it."""

    folder: Path
    cache: Path
    executed: Path
    """Exists when code of the source distribution has run."""
    asked: list[str] = field(default_factory=list)
    before_copy: Callable[[Path], None] = lambda scratch: None

    def run_pip(self, arguments: list[str], environment: dict[str, str], look: Callable[[], None]) -> tuple[int, str]:
        """In the place of pip: checks nothing and copies the file asked for."""
        requirement = Path(arguments[arguments.index("--requirement") + 1]).read_text("utf-8")
        assert "--require-hashes" in arguments
        assert " --hash=sha256:" in requirement
        name = requirement.partition("==")[0]
        self.asked.append(name)
        scratch = Path(environment["TMPDIR"])
        (scratch / "half").write_bytes(b"\0" * 50)
        look()
        self.before_copy(scratch)
        (file,) = self.folder.glob(f"{name}-1.0*")
        shutil.copy(file, arguments[arguments.index("--dest") + 1])
        return 0, ""

    def leftovers(self) -> list[Path]:
        """Temporary files left in the cache."""
        return [file for file in self.cache.rglob("*") if file.is_file() and "corpora" not in file.parts]


def _corpus_table(name: str, package: str, member: str, documents: list[str]) -> str:
    return (
        f'[corpora.{name}]\ndescription = "d"\nlanguage = "x"\nlicence = "MIT"\npackage = "{package}"\n'
        f'reader = "files"\nsha256 = "{_sha256(b"".join(pack(documents)))}"\nmembers = {{ "{member}" = "" }}\n'
        f"n_bytes = {sum(len(text.encode()) for text in documents)}\nn_documents = {len(documents)}\n"
    )


def _in_order(texts: list[str]) -> list[str]:
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest()[8:])


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    folder, datasets = tmp_path / "index", tmp_path / "datasets"
    folder.mkdir()
    datasets.mkdir()
    made = Index(folder, tmp_path / "cache", tmp_path / "executed")
    files = {
        "first-1.0-py3-none-any.whl": _wheel("first", {"first/a.py": _TEXTS[0], "first/b.py": _TEXTS[1], "c.md": "no"}),
        "second-1.0.tar.gz": _sdist("second", {"second/a.py": _TEXTS[2]}, made.executed),
    }
    tables = ""
    for file, content in files.items():
        (folder / file).write_bytes(content)
        kind = "wheel" if file.endswith(".whl") else "sdist"
        tables += (
            f'[packages.{file.partition("-")[0]}]\nversion = "1.0"\nkind = "{kind}"\nfile = "{file}"\n'
            f'sha256 = "{_sha256(content)}"\nn_bytes = {len(content)}\n'
        )
    tables += _corpus_table("one", "first", "first/*.py", _in_order(_TEXTS[:2]))
    tables += _corpus_table("two", "second", "second/a.py", _TEXTS[2:])
    (datasets / "corpora.toml").write_text(tables, "utf-8")
    (datasets / "vocabularies.toml").write_text("[packages]\n[vocabularies]\n", "utf-8")
    monkeypatch.setenv("BPEBENCH_CACHE", str(made.cache))
    monkeypatch.setattr(catalogue_module, "datasets_folder", lambda: datasets)
    catalogue_module.vocabularies.cache_clear()
    catalogue_module.real_corpora.cache_clear()
    yield made
    catalogue_module.vocabularies.cache_clear()
    catalogue_module.real_corpora.cache_clear()


@pytest.fixture
def stand_in(index: Index, monkeypatch: pytest.MonkeyPatch) -> Index:
    """The index with a stand-in for pip."""
    monkeypatch.setattr(packages_module, "run_pip", index.run_pip)
    return index


def test_what_is_fetched_is_there_without_a_network_afterwards(stand_in: Index) -> None:
    assert not is_fetched("one")
    assert [fetched.fresh for fetched in fetch()] == [True, True]
    assert stand_in.asked == ["first", "second"]
    shutil.rmtree(stand_in.folder)
    assert [fetched.fresh for fetched in fetch()] == [False, False]
    assert stand_in.asked == ["first", "second"]
    assert list(load_corpus("one").documents()) == _in_order(_TEXTS[:2])
    assert list(load_corpus("two").documents()) == _TEXTS[2:]
    assert stand_in.leftovers() == []


def test_a_corpus_is_fetched_on_first_use_and_tells_of_it_on_standard_error(
    stand_in: Index, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_corpus("two").n_documents == 1
    assert stand_in.asked == ["second"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "fetching two" in captured.err


def test_a_kept_corpus_has_the_digest_of_its_documents(stand_in: Index) -> None:
    corpus = load_corpus("one")
    assert corpus.digest == _sha256(b"".join(pack(corpus.documents())))
    assert corpus.digest == catalogue_module.real_corpora()["one"].items[0].sha256


def test_an_interrupted_fetch_goes_on_where_it_stopped(stand_in: Index) -> None:
    def interrupt(scratch: Path) -> None:
        if stand_in.asked == ["first", "second"]:
            raise KeyboardInterrupt

    stand_in.before_copy = interrupt
    with pytest.raises(KeyboardInterrupt):
        fetch()
    assert is_fetched("one")
    assert not is_fetched("two")
    assert stand_in.leftovers() == []
    fetch()
    assert stand_in.asked == ["first", "second", "second"]
    assert is_fetched("two")


def test_a_wrong_digest_names_the_file_and_both_digests_and_keeps_nothing(stand_in: Index) -> None:
    file = stand_in.folder / "first-1.0-py3-none-any.whl"
    right = _sha256(file.read_bytes())
    file.write_bytes(file.read_bytes() + b"x")
    with pytest.raises(DataError) as caught:
        fetch(["one"])
    for part in (file.name, right, _sha256(file.read_bytes())):
        assert part in str(caught.value)
    assert list(stand_in.cache.rglob("*.documents")) == []
    assert stand_in.leftovers() == []


def test_documents_other_than_the_declared_ones_are_refused(stand_in: Index) -> None:
    tables = catalogue_module.datasets_folder() / "corpora.toml"
    tables.write_text(tables.read_text("utf-8").replace('"first/*.py" = ""', '"first/a.py" = ""'), "utf-8")
    with pytest.raises(DataError, match=r"one\.documents: wrong digest: expected sha256 [0-9a-f]{64}, got "):
        fetch(["one"])


def test_a_member_with_another_digest_is_refused_by_name(stand_in: Index) -> None:
    tables = catalogue_module.datasets_folder() / "corpora.toml"
    text = tables.read_text("utf-8").replace('"second/a.py" = ""', f'"second/a.py" = "{"0" * 64}"')
    tables.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"second/a\.py: wrong digest"):
        fetch(["two"])


def test_a_member_that_is_not_in_the_package_is_named(stand_in: Index) -> None:
    tables = catalogue_module.datasets_folder() / "corpora.toml"
    tables.write_text(tables.read_text("utf-8").replace("second/a.py", "second/z.py"), "utf-8")
    with pytest.raises(DataError, match=r"second-1\.0\.tar\.gz: holds no second/z\.py"):
        fetch(["two"])


def test_a_damaged_file_of_the_cache_is_fetched_again(stand_in: Index) -> None:
    fetch(["one"])
    file = stand_in.cache / "corpora" / "one.documents"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert load_corpus("one").n_documents == 2
    assert file.read_bytes() == whole
    assert stand_in.asked == ["first", "first"]


def test_a_full_disk_is_one_clear_error_and_leaves_nothing_half_written(
    stand_in: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(DataError, match=r"the disk is full.*BPEBENCH_CACHE"):
            fetch(["one"])
    assert [file for file in stand_in.cache.rglob("*") if file.is_file()] == []
    fetch(["one"])


def test_a_full_disk_while_downloading_is_named(stand_in: Index) -> None:
    def full(scratch: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    stand_in.before_copy = full
    with pytest.raises(DataError, match="the disk is full"):
        fetch(["one"])


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("WARNING: Retrying … NewConnectionError … Connection refused\nERROR: from versions: none", "refused"),
        ("NameResolutionError(…)\nERROR: No matching distribution found for first==1.0", "cannot be resolved"),
        ("ERROR: ReadTimeoutError: Read timed out.", "no answer in time"),
        ("ERROR: Could not find a version … (from versions: 0.9, 1.1)\nERROR: No matching distribution", "gone"),
        ("ERROR: Could not find a version … (from versions: none)", "nothing of that name"),
        ("ERROR: Could not install … [Errno 28] No space left on device", "the disk is full"),
        ("/usr/bin/python: No module named pip", "ensurepip"),
        (f"  Expected sha256 {'a' * 64}\n       Got        {'b' * 64}\n", f"got {'b' * 64}"),
        ("ERROR: something of its own", "something of its own"),
        ("", "it said nothing"),
    ],
)
def test_every_failure_of_pip_is_one_line_that_says_what_to_do(
    index: Index, monkeypatch: pytest.MonkeyPatch, output: str, message: str
) -> None:
    monkeypatch.setattr(packages_module, "run_pip", lambda arguments, environment, look: (1, output))
    with pytest.raises(DataError, match=message) as caught:
        fetch(["one"])
    assert "\n" not in str(caught.value)
    assert index.leftovers() == []


def test_progress_never_goes_back_and_ends_at_the_total(stand_in: Index) -> None:
    states: list[tuple[int, int]] = []
    fetch(progress=lambda state: states.append((state.done_bytes, state.total_bytes)))
    assert states == sorted(states)
    assert states[-1][0] == states[-1][1] == sum(file.stat().st_size for file in stand_in.folder.iterdir())


def test_an_unknown_name_lists_what_there_is(stand_in: Index) -> None:
    with pytest.raises(UnknownName, match="known: one, two"):
        fetch(["three"])
    assert stand_in.asked == []


def test_what_a_killed_fetch_left_is_removed_by_a_later_one(stand_in: Index) -> None:
    old = stand_in.cache / "downloads" / "fetch-old"
    new = stand_in.cache / "downloads" / "fetch-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    fetch(["one"])
    assert not old.exists()
    assert new.exists()


def test_pip_does_not_outlive_an_interrupted_fetch(tmp_path: Path) -> None:
    before = set(psutil.Process().children())

    def interrupt() -> None:
        raise KeyboardInterrupt

    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        packages_module.run_pip([sys.executable, "-c", "while True: pass"], environment, interrupt)
    assert set(psutil.Process().children()) == before


# --- pip itself, with a folder in the place of an index ---------------------------------------------------------


@pytest.fixture
def offline_pip(index: Index, monkeypatch: pytest.MonkeyPatch) -> Index:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index.folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return index


def test_pip_brings_wheels_and_source_distributions_without_running_their_code(
    offline_pip: Index, capfd: pytest.CaptureFixture[str]
) -> None:
    assert [fetched.name for fetched in fetch()] == ["one", "two"]
    assert not offline_pip.executed.exists()
    assert offline_pip.leftovers() == []
    assert capfd.readouterr().out == ""


def test_pip_itself_refuses_a_file_with_another_digest(offline_pip: Index) -> None:
    file = offline_pip.folder / "first-1.0-py3-none-any.whl"
    file.write_bytes(_wheel("first", {"first/a.py": "other"}))
    with pytest.raises(DataError, match=f"wrong digest.*got {_sha256(file.read_bytes())}"):
        fetch(["one"])


def test_pip_itself_says_that_a_version_is_gone(offline_pip: Index) -> None:
    file = offline_pip.folder / "first-1.0-py3-none-any.whl"
    file.rename(offline_pip.folder / "first-1.1-py3-none-any.whl")
    with pytest.raises(DataError, match=r"first 1\.0: gone from the package index"):
        fetch(["one"])


def test_an_index_that_cannot_be_reached_is_named_as_the_reason(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(DataError, match=r"cannot be reached.*refused"):
        fetch(["one"])


def test_the_tables_hold_digests_and_no_addresses() -> None:
    for name in ("corpora.toml", "vocabularies.toml"):
        assert "://" not in (catalogue_module.datasets_folder() / name).read_text("utf-8")
    for item in catalogue_module.all_items().values():
        assert len(base64.b16decode(item.sha256.upper())) == 32
        assert len(base64.b16decode(item.package.sha256.upper())) == 32
