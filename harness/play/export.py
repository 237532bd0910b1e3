"""Export a view as one file that needs no server: the page with its style and modules, and the answers it shows."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape

import msgspec

from harness.play import tasks
from harness.play.app import page_files
from harness.play.messages import Column
from harness.play.store import Store

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) ([\w$]+))", re.MULTILINE)


def exported(store: Store, columns: list[Column], text: str) -> str:
    """Return the page with the answers of `columns` on `text`; let exceptions of loading and encoding through."""
    answers = {}
    for column, source in zip(columns, store.sources(columns), strict=True):
        tasks.prepare([source])
        answers[f"{column.implementation} {column.model}"] = tasks.follow("saved", None, 0, 0, text)
    choices = {
        "implementations": [{"name": name} for name in dict.fromkeys(column.implementation for column in columns)],
        "models": [{"name": name} for name in dict.fromkeys(column.model for column in columns)],
        "beginning": {"text": text, "columns": columns},
    }
    files = {name: content.decode() for name, content in page_files().items()}
    script = _bundled({name[:-3]: source for name, source in files.items() if name.endswith(".js")})
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    data = msgspec.json.encode({"choices": choices, "answers": answers}).decode().replace("<", "\\u003c")
    module = f'<script type="module">{script}</script>'
    meta = '<meta charset="utf-8">'
    replacements = {
        meta: f'{meta}\n<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<link rel="stylesheet" href="style.css">': f"<style>{files['style.css']}</style>",
        '<script type="module" src="main.js"></script>': "",
        "</body>": f'<script id="saved" type="application/json">{data}</script>{module}</body>',
    }
    page = files["index.html"]
    for old, new in replacements.items():
        page = page.replace(old, new)
    return page


def _bundled(modules: dict[str, str]) -> str:
    """Return modules as one script: a function for each that returns its exports, after those it imports."""
    parts: list[str] = []
    done: set[str] = set()

    def add(name: str) -> None:
        if name in done:
            return
        done.add(name)
        source = modules[name]
        for _, imported in _IMPORT.findall(source):
            add(imported)
        exports = ", ".join(found for _, found in _EXPORT.findall(source))
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;", source))
        parts.append(f"modules.{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();")

    add("main")
    return "\n".join(["const modules = {};", *parts])
