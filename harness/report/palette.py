"""Colours, shapes and the font of charts and pages, as `palette.toml` has them."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, Literal

Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

COLOURS: dict[str, Any] = tomllib.loads((files("harness.report") / "palette.toml").read_text(encoding="utf-8"))
"""Scheme -> its colours by name."""
SHAPES: list[str] = COLOURS.pop("shapes")
"""One for each kind, in the order of `KINDS`."""
FONT: str = COLOURS.pop("font")
"""The font of pages; that of images differs, as text is measured on the machine that renders them."""
