"""The static site as tests see it: made of the committed records, and of hostile ones; its pages as tables."""

from __future__ import annotations

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from harness.records import Counterexample, Disagreement, Measurement, RecordWriter, Text, Trained
from harness.report.run import Run
from harness.report.site.build import gather, write_site
from harness.report.site.pages import Site

ROOT = Path(__file__).resolve().parents[2]


class Document(HTMLParser):
    """Every element with its attributes, and the rows of every table."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id") or f"nameless {len(self.tables)}", [])
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("th", "td") and self._rows is not None:
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._rows = None
        elif tag in ("th", "td"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._rows:
            self._rows[-1][-1] += data

    def ids(self) -> set[str]:
        return {attributes["id"] for _, attributes in self.elements if attributes.get("id")}  # type: ignore[misc]

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@cache
def document(path: Path) -> Document:
    return Document(path.read_text(encoding="utf-8"))


def view_data(site: Path) -> dict[str, Any]:
    html = (site / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="view-data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    write_site(gather(ROOT), out)
    return out


@pytest.fixture(scope="session")
def hostile_site(hostile_folder: Path, hostile_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = hostile_text[:-1]
    found = Disagreement(
        a=hostile_text, b="tiktoken", model=text, counterexample=Counterexample(Text.of(hostile_text), [1], [2]),
        difference="fault", agreement_class="equal under conditions", versions={text: text},
    )  # fmt: skip
    tag = "<img src=x onerror=window.hacked=9>"
    folder = tmp_path_factory.mktemp("hostile") / tag
    folder.mkdir()
    facts = dict.fromkeys(("date", "cpu", "command", "profile"), tag)
    machine = facts | {"warnings": [tag], "packages": {tag: tag}, "usable_cores": tag, tag: {tag: [tag]}}
    (folder / "machine.json").write_text(json.dumps(machine))
    (folder / "plan.json").write_text(json.dumps({"workloads": [{"name": f"{tag}/m/c", "analysis": tag}]}))
    timed: dict[str, Any] = {"task": "encode", "model": tag, "corpus": tag, "n_bytes": 10, "n_texts": 1, "digest": "d"}
    example = Counterexample(Text.of(tag), [1], [2])
    with RecordWriter(folder) as writer:
        for name, status in ((tag, "ok"), ("tiktoken", "ok"), (f"{tag}2", "mismatch"), (f"{tag}3", "crash")):
            writer.write(
                Measurement(
                    workload=f"{tag}/m/c", implementation=name, status=status, reason=tag, samples_seconds=[0.1],  # type: ignore[arg-type]
                    reference="tiktoken", counterexample=example, **timed,
                )
            )  # fmt: skip
        writer.write(
            Trained(
                model=tag, implementation=tag, corpus=tag, vocab_size=300, n_merges=4, n_bytes=9, seconds=1.0,
                digest="", merge_counts=[9, 5, 2, 1], first_tokens=[Text.of(tag)],
            )
        )  # fmt: skip
    run = Run(f"</code>{tag}", folder)
    out = folder.parent / "site"
    methodology = "# M\n\n[x](javascript:alert(1)) <script>window.hacked=8</script>"
    write_site(Site([run, Run("hostile", hostile_folder)], [found], methodology), out)
    return out
