"""A page as a document: its elements, which must nest, the rows of its tables, and the data of its scripts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

_VOID = {"meta", "link", "input", "img", "br", "hr"}
_SHAPES = {"circle", "path", "line", "rect"}
"""Elements of images, which close themselves."""


class Document(HTMLParser):
    """Every element with its attributes, in order, and the cells of every table."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag not in _VOID | _SHAPES:
            self._open.append(tag)
        if tag == "table":
            self._rows = self.tables.setdefault(attributes.get("id") or f"nameless {len(self.tables)}", [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("th", "td"):
            self._rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _SHAPES:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & set(self._open):
            self._rows[-1][-1] += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def view_data(html: str) -> dict[str, Any]:
    """The data that the explorer of a page reads."""
    match = re.search(r'<script type="application/json" id="view-data">(.*?)</script>', html, re.DOTALL)
    return json.loads(match[1])
