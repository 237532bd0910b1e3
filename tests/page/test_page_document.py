"""The page as a document: complete, self-contained, and proof against what records may hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest
from html_document import Document, view_data
from refusals import refused

from harness.records import RecordError
from harness.report.page.runs import _attributes, _environment, render_page, script_json

PARTS = ("agreement", "speed", "compression", "memory", "training", "failures")


def test_every_part_is_there_in_order_and_linked(page_html: str) -> None:
    document = Document(page_html)
    assert [attributes["id"] for attributes in document.of("section")] == ["explorer", "run"]
    parts = [attributes["id"] for attributes in document.of("details") if attributes.get("class") == "part"]
    assert parts == [*PARTS, "provenance"]
    links = [attributes["href"] for attributes in document.of("a")]
    assert links[1:] == [f"#{name}" for name in ["explorer", "run", *PARTS]]
    text = re.sub(r"<[^>]+>", " ", page_html.partition("<script")[0])
    for expected in ("bpebench run --tour --out results/", "What this suite may favour"):
        assert expected in text
    assert [len(document.of(tag)) for tag in ("main", "nav", "header", "h1")] == [1, 1, 1, 1]
    assert document.of("html")[0]["lang"] == "en"
    assert len(document.of("caption")) == len(document.of("table"))
    assert all(attributes.get("scope") for attributes in document.of("th"))


def test_several_runs_are_sections_the_newest_first_and_their_machine_has_a_history(several_html: str) -> None:
    document = Document(several_html)
    sections = [attributes["id"] for attributes in document.of("section")]
    assert sections == ["explorer", "run", "r1-run", "r2-run", "history"]
    labels = re.findall(r'<h2 id="[^"]*run-heading">([^<]*)</h2>', several_html)
    assert [kind in label for kind, label in zip(("tour", "default", "hostile"), labels, strict=True)] == [True] * 3
    head, *rows = document.tables["table-history"]
    assert len(rows) > 5
    for row in (dict(zip(head, cells, strict=True)) for cells in rows):
        assert ("default" in row["earlier run"], "tour" in row["later run"]) == (True, True)
    ids = [attributes["id"] for _, attributes in document.elements if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    for _, attributes in document.elements:
        assert set((attributes.get("aria-labelledby") or "").split()) <= set(ids)


def test_the_explorer_shows_the_figures_of_the_table(page_html: str) -> None:
    (run,) = view_data(page_html)["runs"]
    tables = Document(page_html).tables
    cells = [
        [cell.removeprefix("≈ ") for cell in line] for name in ("speed", "training") for line in tables[f"table-{name}"]
    ]
    for workload in run["workloads"]:
        for row in workload["rows"]:
            assert any({workload["name"], row[0], row[1] or "—"} <= set(line) for line in cells), (workload, row)
        ranked = len(workload["ranked"])
        for base in range(ranked):
            for other in range(ranked):
                value, low, high = (
                    float(part) for part in re.findall(r"[\d.]+", workload["ratios"][base][other].replace(",", ""))
                )
                back = float(workload["ratios"][other][base].lstrip("≈").replace(",", "").split()[0])
                assert low <= value <= high
                assert value * back == pytest.approx(1, rel=0.02)


def test_nothing_is_loaded_from_anywhere_and_only_the_script_of_the_page_may_run(page_html: str) -> None:
    document = Document(page_html)
    for tag, attributes in document.elements:
        assert "src" not in attributes or tag == "a"
        if tag == "link":
            assert (attributes["href"] or "").startswith("data:")
    policy = document.of("meta")[1]["content"] or ""
    (script,) = re.findall(r'<script type="module">(.*?)</script>', page_html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}'; style-src")


def test_texts_of_records_are_shown_escaped_and_open_no_element(hostile_html: str) -> None:
    document = Document(hostile_html)
    assert (len(document.of("script")), document.of("img"), document.of("b")) == (2, [], [])
    assert all(not name.startswith("on") for _, attributes in document.elements for name in attributes)
    assert all(not (attributes.get("href") or "").startswith("javascript") for _, attributes in document.elements)
    body = hostile_html.partition("<script")[0]
    assert "&lt;/script&gt;&lt;script&gt;window.hacked=1" in body
    assert not set("\x1b\u202e") & set(hostile_html)
    (run,) = view_data(hostile_html)["runs"]
    assert any("</script><script>" in workload["name"] for workload in run["workloads"])


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "\u2028", "&lt;", "\ud800"])
def test_json_for_a_script_has_no_markup_and_loses_nothing(text: str) -> None:
    written = script_json({"text": text})
    assert not set("<>&") & set(written)
    assert json.loads(written) == {"text": text}


def test_a_template_escapes_what_it_is_given() -> None:
    assert _attributes({"title": "\"'>", "class": None}) == ' title="&#34;&#39;&gt;"'
    assert _environment().from_string("<p>{{ text }}</p>").render(text="<i>\x00") == "<p>&lt;i&gt;\\x00</p>"


def test_sparse_runs_make_a_page_and_damaged_ones_an_error(hostile_folder: Path, tmp_path: Path) -> None:
    refused(RecordError, "contains no records", render_page, [tmp_path])
    (tmp_path / "records.jsonl").touch()
    assert [attributes["id"] for attributes in Document(render_page([tmp_path])).of("section")] == ["run"]
    (tmp_path / "records.jsonl").write_bytes((hostile_folder / "records.jsonl").read_bytes())
    name = "</script><script>window.hacked=4</script>"
    plan = {"workloads": [{"name": name, "analysis": "Long words\nand <few> tokens."}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    page = render_page([tmp_path])
    assert "Not recorded." in page
    assert "Long words and &lt;few&gt; tokens." in page
    (tmp_path / "machine.json").write_text("{half")
    refused(RecordError, r"machine\.json: is damaged", render_page, [tmp_path])
