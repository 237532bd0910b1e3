"""The templates of pages: HTML in `templates/*.html`, rendered by jinja2, which escapes every value.

Unprintable characters are replaced by backslash escapes first. Only a page's own script is allowed, by its digest
(Content-Security-Policy), so that even a fault in escaping runs nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from harness.report import palette, wording


def render(template: str, script: str = "", **values: object) -> str:
    """Render `templates/TEMPLATE` with `values` and return the page, in which only `script` may run."""
    colours = {scheme: _variables(scheme) for scheme in palette.SCHEMES}
    page = _environment().get_template(template)
    return page.render(policy=_policy(script), script=Markup(script), colours=colours, font=palette.FONT, **values)


def script_json(value: object) -> Markup:
    """Return JSON that is safe inside a script element: without `<`, nothing can end it or open another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def slug(text: str) -> str:
    """Return a text as an HTML id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


@cache
def asset(name: str) -> Markup:
    """Return the content of a file of `assets`."""
    return Markup(_source("assets", name))


def _source(folder: str, name: str) -> str:
    return (files("harness.report.page") / folder / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(partial(_source, "templates")),
        autoescape=True,
        finalize=_printable,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals["asset"] = asset
    environment.filters["attributes"] = _attributes
    return environment


def _printable(value: object) -> object:
    return value if isinstance(value, Markup) else wording.text(value)


def _attributes(values: Mapping[str, object]) -> Markup:
    """Return HTML attributes, each preceded by a space; those that are None are left out."""
    shown = {name: value for name, value in values.items() if value is not None}
    return Markup("").join(Markup(' {}="{}"').format(name, _printable(value)) for name, value in shown.items())


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"


def _variables(scheme: palette.Scheme) -> str:
    """Return the colours of a scheme as CSS variables."""
    values = {name: colours[scheme] for name, colours in palette.PAGE.items()}
    values |= {f"kind-{kind}": c for kind, c in zip(wording.KINDS, palette.KIND_COLOURS[scheme], strict=True)}
    return "".join(f"--{name}:{value};" for name, value in values.items())
