"""The static site as documents: whole, linked, light, read without a script, and proof against what records hold."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from built_site import ROOT, document, view_data

from harness.records import RecordError
from harness.report.run import Run
from harness.report.site.build import MOST_BYTES, gather, write_site
from harness.report.site.pages import Site, page_texts


def test_every_page_is_there_and_the_site_is_light(site_folder: Path) -> None:
    files = [path for path in site_folder.rglob("*") if path.is_file()]
    assert {path.name for path in site_folder.glob("*.html")} == {f"{name}.html" for name in page_texts()}
    runs = [path.parent.name for path in (ROOT / "results").glob("*/records.jsonl") if path.parent.name != "local"]
    assert {path.stem for path in (site_folder / "runs").iterdir()} == set(runs)
    assert len(list((site_folder / "badges").glob("*.svg"))) > 50
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES


def test_every_link_leads_somewhere_and_nothing_is_loaded(site_folder: Path) -> None:
    n_links = 0
    for page in [*site_folder.rglob("*.html"), *site_folder.rglob("*.svg")]:
        for tag, attributes in document(page).elements:
            assert not {"src", "srcset", "data", "xlink:href"} & set(attributes), page
            href = attributes.get("href")
            if href is None or href == "data:,":
                continue
            assert tag == "a", page
            if href.startswith(("https://", "http://")):
                continue
            file, _, fragment = href.partition("#")
            target = page if not file else (page.parent / unquote(file)).resolve()
            assert target.is_file(), f"{page}: {href}"
            assert not fragment or fragment in document(target).ids(), f"{page}: {href}"
            n_links += 1
    assert n_links > 500


def test_every_page_nests_has_unique_ids_and_labelled_landmarks(site_folder: Path) -> None:
    for page in site_folder.rglob("*.html"):
        found = document(page)
        ids = [attributes["id"] for _, attributes in found.elements if attributes.get("id")]
        assert len(set(ids)) == len(ids), page
        assert [len(found.of(tag)) for tag in ("main", "nav", "h1")] == [1, 1, 1]
        named = [name for _, a in found.elements for name in (a.get("aria-labelledby") or "").split()]
        assert set(named) <= set(ids), page


def test_without_a_script_the_first_view_is_a_table_equal_to_the_data(site_folder: Path) -> None:
    data = view_data(site_folder)
    workload = next(
        w for run in data["runs"] if run["id"] == data["main"] for w in run["workloads"] if w["name"] == data["begin"]
    )
    shown = document(site_folder / "index.html").tables["view-table"][1:]
    assert [cells[0] for cells in shown] == [row[0] for row in workload["rows"]]
    for cells, row in zip(shown, workload["rows"], strict=True):
        assert cells[1].removeprefix("≈ ") == (row[1] if row[1] is not None else row[7])


def test_texts_of_records_open_no_element(hostile_site: Path) -> None:
    for page in hostile_site.rglob("*.html"):
        found = document(page)
        assert len(found.of("script")) == (2 if page.name == "index.html" else 1)
        assert found.of("img") == []
        assert all(not name.startswith("on") for _, attributes in found.elements for name in attributes)
        assert all(not (attributes.get("href") or "").startswith("javascript") for _, attributes in found.elements)
        assert not set("\x1b\u202e") & set(page.read_text(encoding="utf-8"))
    for badge in hostile_site.rglob("*.svg"):
        assert {tag for tag, _ in document(badge).elements} <= {"svg", "title", "a", "rect", "path", "g", "text"}


# --- the folder written -----------------------------------------------------------------------------------------


def test_a_folder_of_other_files_is_left_alone_and_a_site_is_replaced(hostile_folder: Path, tmp_path: Path) -> None:
    site, out = Site([Run("r", hostile_folder)]), tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    with pytest.raises(RecordError, match="holds other files than a site"):
        write_site(site, out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]
    written = write_site(site, tmp_path / "site")
    (tmp_path / "site" / "stale.html").touch()
    assert write_site(site, tmp_path / "site") == written
    assert not (tmp_path / "site" / "stale.html").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "site"]


def test_the_command_names_what_is_missing(bpebench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bpebench("site", "--out", "site")
    assert ended.status == 2
    assert "no run in results" in ended.err
    (tmp_path / "empty").mkdir()
    ended = bpebench("site", "empty", "--out", "site")
    assert ended.status == 2
    assert "holds no records.jsonl" in ended.err
    assert not (tmp_path / "site").exists()


def test_the_command_writes_the_site_of_a_run_named(
    bpebench: Any, run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bpebench("site", str(run_folder), "--out", "site", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert Path(found["first_page"]).is_file()
    assert found["n_files"] == sum(path.is_file() for path in (tmp_path / "site").rglob("*")) - 1
    assert (tmp_path / "site" / "runs" / "made-up.html").is_file()


def test_runs_of_ones_own_are_taken_where_there_are_no_others(run_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(run_folder, tmp_path / "results" / "local" / "mine")
    assert [run.label for run in gather(tmp_path).runs] == ["results/local/mine"]
    shutil.copytree(run_folder, tmp_path / "results" / "kept")
    assert [run.label for run in gather(tmp_path).runs] == ["results/kept"]


def test_runs_that_timed_nothing_make_a_site_too(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "records.jsonl").touch()
    write_site(Site([Run("empty", tmp_path / "empty")]), tmp_path / "site")
    assert "No run has timed anything" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert (tmp_path / "site" / "runs" / "empty.html").is_file()
