"""Translation memories (TMX 1.1 to 1.4): the text of each unit in each language, read as untrusted input.

Entities, which could grow without bound or read other files, are refused, and only the file itself is read. The markup
of the original format inside a segment (`bpt`, `ept`, `it`, `ph`, `ut`) is not text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from harness.data import DataError
from harness.evaluate.parallel_files import chosen_of, is_chosen
from harness.evaluate.texts import Text

_MARKUP = ("bpt", "ept", "it", "ph", "ut")


class _Unit(NamedTuple):
    line: int
    texts: dict[str, str]
    """Text by language."""


def tmx_texts(file: Path, chosen: Sequence[str] = ()) -> list[Text]:
    """Return a text for each language, its name in lower case; a document is a segment.

    Raise `DataError` naming the line of invalid XML, a unit that lacks a language, or an empty segment.
    """
    chosen = [one.lower() for one in chosen]
    reader = _Reader(file, chosen)
    reader.read()
    languages = chosen_of(reader.languages, chosen)
    for unit in reader.units:
        for language in languages:
            if language not in unit.texts:
                raise DataError(
                    f"{file}: line {unit.line}: the unit has no text in {language!r}; name the languages that every "
                    "unit has with --language"
                )
    return [
        Text(f"{file}:{language}", language, partial(iter, [unit.texts[language] for unit in reader.units]))
        for language in languages
    ]


class _Reader:
    """Reads the units of a file, of the chosen languages."""

    def __init__(self, file: Path, chosen: Sequence[str]) -> None:
        self.units: list[_Unit] = []
        self.languages: dict[str, None] = {}
        self._file, self._chosen = file, chosen
        self._unit: _Unit | None = None
        self._language: str | None = None
        self._segment: list[str] | None = None
        self._depth = 0
        self._markup = 0
        """Number of open elements, the outermost one of markup included; 0 in text."""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.EntityDeclHandler = self._declares_entity
        self._parser.SkippedEntityHandler = lambda name, _: self._fail(f"the entity &{name}; is not defined")

    def read(self) -> None:
        """Read all of the file."""
        try:
            with self._file.open("rb") as source:
                self._parser.ParseFile(source)
        except expat.ExpatError as error:
            raise DataError(
                f"{self._file}: line {error.lineno}: not well-formed XML: {expat.ErrorString(error.code)}"
            ) from None
        if not self.units:
            raise DataError(f"{self._file}: holds no translation unit")

    def _fail(self, what: str) -> NoReturn:
        raise DataError(f"{self._file}: line {self._parser.CurrentLineNumber}: {what}")

    def _declares_entity(self, name: str, *_: object) -> None:
        self._fail(f"it declares the entity {name!r}; entities are refused, write the text itself")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._depth and name != "tmx":
            self._fail(f"the first element is <{name}>, not <tmx>: this is no translation memory")
        self._depth += 1
        if self._markup or (self._segment is not None and name in _MARKUP):
            self._markup += 1
        elif self._segment is not None and name in ("tu", "tuv", "seg"):
            self._fail(f"a <{name}> stands in a segment")
        elif name == "tu":
            if self._unit is not None:
                self._fail("a <tu> stands in a <tu>")
            self._unit = _Unit(self._parser.CurrentLineNumber, {})
        elif name == "tuv":
            language = attributes.get("xml:lang", attributes.get("lang", "")).strip().lower()
            if self._unit is None or not language:
                self._fail("a <tuv> stands in a <tu>, and names its language by xml:lang")
            self._language = language
            self.languages[language] = None
        elif name == "seg":
            if self._language is None:
                self._fail("a <seg> stands in a <tuv>")
            self._segment = []

    def _data(self, text: str) -> None:
        if self._segment is not None and not self._markup:
            self._segment.append(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._markup:
            self._markup -= 1
        elif name == "seg" and self._segment is not None:
            self._add("".join(self._segment))
            self._segment = None
        elif name == "tuv":
            self._language = None
        elif name == "tu" and self._unit is not None:
            self.units.append(self._unit)
            self._unit = None

    def _add(self, text: str) -> None:
        unit, language = self._unit, self._language
        assert unit is not None
        assert language is not None
        if not is_chosen(language, self._chosen):
            return
        if not text.strip():
            self._fail(f"the segment of {language!r} is empty")
        if language in unit.texts:
            self._fail(f"the unit has two texts in {language!r}")
        unit.texts[language] = text
