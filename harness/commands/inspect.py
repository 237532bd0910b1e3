"""`bpebench inspect`: what a vocabulary file really is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands import options
from harness.commands.verb import Verb, argument
from harness.printable import printable

if TYPE_CHECKING:
    from harness.data.inspection import Inspection


class Inspect(Verb):
    """Inspect FILE (or a folder): its format, which vocabulary it holds, its rules, anything unusual.

    Exit status 1 if something is wrong: the name of another vocabulary, rules other than its publisher's, irregular
    merges.
    """

    file: Path = argument(type=options.PATH)

    def run(self) -> bool:
        """Print what the file is; return whether something is wrong."""
        from harness.data.inspection import inspect

        found = inspect(self.file)
        about = _about(found)
        rows = [[key.replace("_", " "), _cell(value)] for key, value in about.items()]
        lines = [*(f"note: {one}" for one in found.notes), *(f"finding: {one}" for one in found.findings)]
        lines += [] if found.findings else ["nothing odd found"]
        document = {**about, "findings": list(found.findings), "notes": list(found.notes)}
        self.output(document, lambda: "\n".join([options.table(rows, ["", ""]), *map(printable, lines)]))
        return bool(found.findings)


def _about(found: Inspection) -> dict[str, Any]:
    from harness.data.inspection import round_trip
    from impls.core.text.patterns import name_of

    model = found.model
    return {
        "file": found.path,
        "format": found.format,
        "bytes": found.n_bytes,
        "sha256": found.sha256,
        "published_file": found.published_file,
        "vocabulary": found.vocabulary,
        "called": found.label,
        "ids": model.vocab_size,
        "tokens": sum(token is not None for token in model.tokens),
        "id_offset": model.id_offset,
        "alphabet": model.alphabet,
        "merge_rule": model.merge_rule,
        "merges": len(model.merges),
        "special_tokens": dict(model.special_tokens),
        "added_tokens": dict(model.added_tokens),
        "tokens_found_otherwise": {text: " ".join(flags) for text, flags in model.whole_token_flags.items()},
        "pattern": name_of(model.pattern) or list(model.pattern),
        "normalization": model.normalization,
        "round_trip": round_trip(model),
        "unreachable_tokens": found.n_unreachable,
        "tokens_the_pattern_cuts": found.n_cut_by_pattern,
        "irregularities": list(model.irregularities),
        "content_digest": model.digest,
    }


_SHOWN = 6


def _cell(value: object) -> str:
    if value is None or value == [] or value == {}:
        return "none"
    if isinstance(value, dict):
        first = ", ".join(f"{text!r}={i}" for text, i in list(value.items())[:_SHOWN])
        return first if len(value) <= _SHOWN else f"{first}, … ({len(value)} in all)"
    if isinstance(value, list):
        return " then ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


command = Inspect.command()
