"""A folder of packages in the place of a package index, tables that name them, and a stand-in for pip."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.data import catalogue as catalogue_module
from harness.data import packages as packages_module
from harness.data.documents import pack

TEXTS = ["print('one')\n", "print('iki')\n", "print('три')\n"]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def wheel_of(name: str, files: dict[str, str]) -> bytes:
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


def sdist_of(name: str, files: dict[str, str], marker: Path) -> bytes:
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
        f'reader = "files"\nsha256 = "{sha256(b"".join(pack(documents)))}"\nmembers = {{ "{member}" = "" }}\n'
        f"n_bytes = {sum(len(text.encode()) for text in documents)}\n"
    )


def in_order(texts: list[str]) -> list[str]:
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest()[8:])


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    folder, datasets = tmp_path / "index", tmp_path / "datasets"
    folder.mkdir()
    datasets.mkdir()
    made = Index(folder, tmp_path / "cache", tmp_path / "executed")
    files = {
        "first-1.0-py3-none-any.whl": wheel_of("first", {"first/a.py": TEXTS[0], "first/b.py": TEXTS[1], "c.md": "no"}),
        "second-1.0.tar.gz": sdist_of("second", {"second/a.py": TEXTS[2]}, made.executed),
    }
    tables = ""
    for file, content in files.items():
        (folder / file).write_bytes(content)
        kind = "wheel" if file.endswith(".whl") else "sdist"
        tables += (
            f'[packages.{file.partition("-")[0]}]\nversion = "1.0"\nkind = "{kind}"\nfile = "{file}"\n'
            f'sha256 = "{sha256(content)}"\nn_bytes = {len(content)}\n'
        )
    tables += _corpus_table("one", "first", "first/*.py", in_order(TEXTS[:2]))
    tables += _corpus_table("two", "second", "second/a.py", TEXTS[2:])
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
