"""METHODOLOGY.md as a part of a page: its headings linked, its tables in boxes that scroll."""

from __future__ import annotations

import re
from itertools import count, pairwise

from markdown_it import MarkdownIt

from harness.report.page.templates import slug


def html_of(text: str) -> str:
    """Return CommonMark with tables as HTML, without its first heading, since a page has one of its own.

    No HTML in it is passed on, and no link: files of the repository are not on the site.
    """
    markdown = (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "image", "autolink", "reference"])
    )
    tokens = markdown.parse(text)
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    taken: set[str] = set()
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            name = slug(after.content)
            token.attrSet("id", name if name not in taken else f"{name}-{len(taken)}")
            taken.add(name)
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    number = count(1)
    box = '<div class="scroll" role="region" tabindex="0" aria-label="Table %d"><table>'
    html = re.sub("<table>", lambda _: box % next(number), html)
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
