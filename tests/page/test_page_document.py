"""The page as a document: complete, self-contained, and proof against what records may hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from pathlib import Path

import pytest
from html_document import Document, view_data

from harness.records import RecordError
from harness.report.page.runs import render_page
from harness.report.page.templates import _attributes, _environment, script_json, slug


@pytest.fixture
def page(page_html: str) -> str:
    return page_html


@pytest.fixture
def hostile_page(hostile_html: str) -> str:
    return hostile_html


# --- what it holds ----------------------------------------------------------------------------------------------


PARTS = [
    "agreement", "speed", "compression", "scaling", "memory", "training", "failures",
]  # fmt: skip


def test_every_part_is_there_in_order_and_linked(page: str) -> None:
    found = Document(page)
    assert [attributes["id"] for attributes in found.of("section")] == ["explorer", "run"]
    parts = [attributes["id"] for attributes in found.of("details") if attributes.get("class") == "part"]
    assert parts == [*PARTS, "provenance"]
    links = [attributes["href"] for attributes in found.of("a")]
    assert links[1:] == [f"#{name}" for name in ["explorer", "run", *PARTS]]


def test_several_runs_are_sections_the_newest_first_and_their_machine_has_a_history(several_html: str) -> None:
    found = Document(several_html)
    assert [attributes["id"] for attributes in found.of("section")] == [
        "explorer", "run", "r1-run", "r2-run", "history",
    ]  # fmt: skip
    labels = re.findall(r'<h2 id="[^"]*run-heading">([^<]*)</h2>', several_html)
    assert labels == ["later", "made-up", "hostile"]
    head, *rows = found.tables["table-history"]
    assert len(rows) > 50
    for row in (dict(zip(head, cells, strict=True)) for cells in rows):
        assert row["earlier run"] == "made-up"
        assert row["later run"] == "later"


def test_ids_are_unique_and_labels_point_at_them(several_html: str) -> None:
    elements = Document(several_html).elements
    ids = [attributes["id"] for _, attributes in elements if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    for _, attributes in elements:
        for label in (attributes.get("aria-labelledby") or "").split():
            assert label in ids


def test_landmarks_captions_and_alternatives_are_there(page: str) -> None:
    found = Document(page)
    assert [len(found.of(tag)) for tag in ("main", "nav", "header", "h1")] == [1, 1, 1, 1]
    assert found.of("html")[0]["lang"] == "en"
    assert len(found.of("caption")) == len(found.of("table"))
    assert all(attributes.get("scope") for attributes in found.of("th"))


def test_noise_bias_and_the_command_are_said(page: str) -> None:
    text = re.sub(r"<[^>]+>", " ", page.partition("<script")[0])
    assert "bpebench run --profile default --out results/made-up" in text
    assert "Two copies of one implementation may differ by at most" in text
    assert "What this suite may favour" in text
    assert "the load was 1.2 before the run" in text


def test_trainers_have_their_tables(page: str) -> None:
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.partition("<script")[0])))
    assert "Trainers: do they learn the same merges?" in text
    assert "3 sentencepiece n/a ≠27" in text
    assert "tiktoken sentencepiece first met 27 ' b'+'ir' ' b'+'v\\n'" in text
    assert "missing: no" in text


# --- self-contained ---------------------------------------------------------------------------------------------


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    found = Document(page)
    for tag, attributes in found.elements:
        assert "src" not in attributes or tag == "a"
        if tag == "link":
            assert (attributes["href"] or "").startswith("data:")


def test_the_policy_allows_exactly_the_script_of_the_page(page: str) -> None:
    policy = Document(page).of("meta")[1]["content"] or ""
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}'; style-src")


# --- hostile records --------------------------------------------------------------------------------------------


def test_texts_of_records_open_no_element(hostile_page: str) -> None:
    found = Document(hostile_page)
    assert len(found.of("script")) == 2
    assert found.of("img") == []
    assert found.of("b") == []
    assert all(not name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert all(not (attributes.get("href") or "").startswith("javascript") for _, attributes in found.elements)


def test_texts_of_records_are_shown_escaped(hostile_page: str) -> None:
    body = hostile_page.partition("<script")[0]
    assert "&lt;/script&gt;&lt;script&gt;window.hacked=1" in body
    assert "\x1b" not in hostile_page
    assert "\u202e" not in hostile_page


def test_json_in_the_page_holds_the_hostile_text_and_cannot_end_its_script(hostile_page: str) -> None:
    (run,) = view_data(hostile_page)["runs"]
    assert any("</script><script>" in workload["name"] for workload in run["workloads"])


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "&lt;", "\ud800"])
def test_json_for_a_script_has_no_markup_and_loses_nothing(text: str) -> None:
    written = script_json({"text": text})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"text": text}


def test_a_template_escapes_what_it_is_given() -> None:
    assert _attributes({"title": "\"'>", "class": None}) == ' title="&#34;&#39;&gt;"'
    assert _environment().from_string("<p>{{ text }}</p>").render(text="<i>\x00") == "<p>&lt;i&gt;\\x00</p>"
    assert slug("encode/cl100k_base · ç") == "encode-cl100k-base"


# --- sparse runs ------------------------------------------------------------------------------------------------


def test_a_run_without_records_still_makes_a_page(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").touch()
    html = render_page([tmp_path])
    assert [attributes["id"] for attributes in Document(html).of("section")] == ["run"]
    assert "measured no implementation twice" in html


def test_a_folder_without_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="holds no records"):
        render_page([tmp_path])


def test_a_damaged_machine_file_is_an_error_and_an_absent_one_is_shown_as_unknown(
    hostile_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "records.jsonl").write_bytes((hostile_folder / "records.jsonl").read_bytes())
    assert "Not recorded." in render_page([tmp_path])
    (tmp_path / "machine.json").write_text("{half")
    with pytest.raises(RecordError, match=r"machine\.json: is damaged"):
        render_page([tmp_path])


def test_the_workloads_own_words_are_shown(hostile_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes((hostile_folder / "records.jsonl").read_bytes())
    name = "</script><script>window.hacked=4</script>"
    plan = {"workloads": [{"name": name, "analysis": "Long words\nand <few> tokens."}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert "Long words and &lt;few&gt; tokens." in render_page([tmp_path])
