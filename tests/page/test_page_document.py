"""The page as a document: complete, self-contained, and proof against what records may hold."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.records import RecordError
from harness.report.page.run import render_page
from harness.report.page.templates import _attributes, _environment, script_json, slug

VOID = {"meta", "link", "input", "img", "br", "hr"}


class Outline(HTMLParser):
    """Every element with its attributes, and whether they nest."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID and tag not in ("circle", "path"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("circle", "path"):
            return
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def outline(html: str) -> Outline:
    parser = Outline()
    parser.feed(html)
    parser.close()
    return parser


@pytest.fixture
def page(page_html: str) -> str:
    return page_html


@pytest.fixture
def hostile_page(hostile_html: str) -> str:
    return hostile_html


# --- what it holds ----------------------------------------------------------------------------------------------


def test_every_section_is_there_in_order_and_linked(page: str) -> None:
    sections = [attributes["id"] for attributes in outline(page).of("section")]
    assert sections == [
        "summary", "turkish", "agreement", "speed", "compression", "scaling", "memory", "threads", "training",
        "failures", "provenance",
    ]  # fmt: skip
    links = [attributes["href"] for attributes in outline(page).of("a")]
    assert links[1:] == [f"#{name}" for name in sections]


def test_ids_are_unique_and_labels_point_at_them(page: str) -> None:
    ids = [attributes["id"] for _, attributes in outline(page).elements if attributes.get("id")]
    assert len(set(ids)) == len(ids)
    for _, attributes in outline(page).elements:
        for label in (attributes.get("aria-labelledby") or "").split():
            assert label in ids


def test_landmarks_captions_and_alternatives_are_there(page: str) -> None:
    found = outline(page)
    assert [len(found.of(tag)) for tag in ("main", "nav", "header", "h1")] == [1, 1, 1, 1]
    assert found.of("html")[0]["lang"] == "en"
    assert len(found.of("caption")) == len(found.of("table"))
    plots = [attributes for attributes in found.of("div") if attributes.get("class") == "plot"]
    assert len(plots) > 10
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in plots)
    assert all(attributes.get("scope") for attributes in found.of("th"))


def test_noise_bias_and_the_command_are_said(page: str) -> None:
    text = re.sub(r"<[^>]+>", " ", page.partition("<script")[0])
    assert "bpebench run --profile default --out results/made-up" in text
    assert "Two copies of one implementation differed by at most" in text
    assert "What this suite may favour" in text
    assert "the load was 1.2 before the run" in text


def test_trainers_and_hostile_texts_have_their_tables(page: str) -> None:
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.partition("<script")[0])))
    assert "Trainers: do two of them learn the same merges?" in text
    assert "3 sentencepiece n/a D ≠27" in text
    assert "tiktoken (first met) sentencepiece (shortest) 27" in text
    assert "' b'+'ir' ×255 = ' b'+'v\\n' ×255" in text
    assert "missing: no" in text
    assert "Where they break: texts that real text never is" in text


def test_every_chart_of_the_figures_has_its_specification(page: str) -> None:
    found = outline(page)
    named = {attributes["data-chart"] for attributes in found.of("div") if "data-chart" in attributes}
    assert named == set(chart_data(page)["charts"])


def chart_data(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    data: dict[str, Any] = json.loads(match[1])
    return data


# --- self-contained ---------------------------------------------------------------------------------------------


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    found = outline(page)
    for tag, attributes in found.elements:
        assert "src" not in attributes or tag == "a"
        if tag == "link":
            assert (attributes["href"] or "").startswith("data:")
    policy = found.of("meta")[1]["content"] or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")


def test_the_policy_allows_exactly_the_scripts_of_the_page(page: str) -> None:
    policy = outline(page).of("meta")[1]["content"] or ""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert "unsafe-inline" not in policy.partition("script-src")[2].partition(";")[0]


# --- hostile records --------------------------------------------------------------------------------------------


def test_texts_of_records_open_no_element(hostile_page: str) -> None:
    found = outline(hostile_page)
    assert len(found.of("script")) == 3
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
    data = chart_data(hostile_page)
    assert any("</script><script>" in name for name in data["charts"])


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
    html = render_page(tmp_path)
    assert [attributes["id"] for attributes in outline(html).of("section")] == ["provenance"]
    assert "its noise is unknown" in html


def test_a_folder_without_records_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="holds no records"):
        render_page(tmp_path)


def test_a_damaged_machine_file_is_an_error_and_an_absent_one_is_shown_as_unknown(
    hostile_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "records.jsonl").write_bytes((hostile_folder / "records.jsonl").read_bytes())
    assert "Not recorded." in render_page(tmp_path)
    (tmp_path / "machine.json").write_text("{half")
    with pytest.raises(RecordError, match=r"machine\.json: is damaged"):
        render_page(tmp_path)


def test_the_workloads_own_words_are_shown(hostile_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes((hostile_folder / "records.jsonl").read_bytes())
    name = "</script><script>window.hacked=4</script>"
    plan = {"workloads": [{"name": name, "analysis": "Long words\nand <few> tokens."}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert "Long words and &lt;few&gt; tokens." in render_page(tmp_path)
