"""Write the site: collect runs, and write a folder of plain files, replacing it as a whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness.records import RECORDS_FILE, Disagreement, RecordError, of_kind, read_lines
from harness.report.run import Run
from harness.report.site.pages import Site
from harness.report.site.versions import date_of

MOST_BYTES = 3_000_000
"""A site larger than this is written with a warning."""
_MARK = ".bpebench-site"
"""A file that marks a folder as a site, which may be replaced."""


class Written(NamedTuple):
    """The size of a written site."""

    n_files: int
    n_bytes: int


def gather(root: Path, more: Sequence[Path] = ()) -> Site:
    """Return the site of all runs under `root/results`, and of those in the folders `more`.

    Runs under `results/local` are used only if there are no others. Raise `RecordError` if there is no run at all, and
    for a folder of `more` that holds none.
    """
    results = root / "results"
    folders = [path.parent for path in sorted(results.glob(f"*/{RECORDS_FILE}")) if path.parent.name != "local"]
    if not folders and not more:
        folders = [path.parent for path in sorted(results.glob(f"local/**/{RECORDS_FILE}"))]
    known = {folder.resolve() for folder in folders}
    runs = [Run(folder.relative_to(root).as_posix(), folder) for folder in folders]
    for folder in more:
        if folder.resolve() not in known:
            known.add(folder.resolve())
            runs.append(Run(folder.resolve().name, folder.resolve()))
    if not runs:
        raise RecordError(f"no run in {results}; go to the folder of the repository, or name the folder of a run")
    names = [run.folder.name for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise RecordError(f"two runs are called {name!r}; rename one of the folders")
    runs.sort(key=lambda run: (date_of(run), run.folder.name), reverse=True)
    kept, methodology = results / "counterexamples.jsonl", _methodology(root)
    return Site(
        runs,
        list(of_kind(read_lines(kept), Disagreement)) if kept.is_file() else [],
        methodology.read_text(encoding="utf-8") if methodology.is_file() else "",
    )


def _methodology(root: Path) -> Path:
    """Return METHODOLOGY.md of `root`, else of the repository that this code is part of."""
    own = root / "METHODOLOGY.md"
    return own if own.is_file() else Path(__file__).resolve().parents[3] / "METHODOLOGY.md"


def write_site(site: Site, out: Path) -> Written:
    """Write the site into `out`, replacing an earlier site; raise `RecordError` if the folder holds other files."""
    out = out.resolve()
    if out.exists() and any(out.iterdir()) and not (out / _MARK).is_file():
        raise RecordError(f"{out}: holds other files than a site; name an empty folder, or a new one")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".site-", dir=out.parent) as scratch:
        made = Path(scratch, "site")
        made.mkdir()
        (made / _MARK).write_text("Made by `bpebench site`, which replaces this folder.\n", encoding="utf-8")
        n_files = n_bytes = 0
        for name, content in site.pages():
            path = made / name
            path.parent.mkdir(exist_ok=True)
            encoded = content.encode("utf-8", "backslashreplace")
            path.write_bytes(encoded)
            n_files, n_bytes = n_files + 1, n_bytes + len(encoded)
        if out.exists():
            out.rename(Path(scratch, "before"))
        made.rename(out)
        shutil.rmtree(Path(scratch, "before"), ignore_errors=True)
    return Written(n_files, n_bytes)
