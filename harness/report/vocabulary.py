"""A vocabulary on its training text and on held-out text, with everything derived from that: tables, charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.measure.token_use import KINDS, TokenUse, all_of, ordinary_tokens, script_of
from harness.report import wording
from harness.report.charts.chart import Chart
from harness.report.charts.growth import merge_chart, size_chart
from harness.report.table import Row, Table, grouped, ratio, table_of
from harness.training.vocabulary_curve import Curve, plateau
from impls.core.model.model import Model

_N_SIZES = 60
_N_EXAMPLES = 8
_LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17, 33)
"""Lower bound in bytes of each class of token lengths."""


@dataclass(frozen=True)
class VocabularyReport:
    """A vocabulary, and how its training text and held-out text use it; everything else is made on demand."""

    name: str
    model: Model
    trained: Sequence[TokenUse]
    """One use for each corpus it was trained on."""
    held_out: Sequence[TokenUse]
    curve: Curve | None
    """The curve over the held-out text; None for a model that cannot be truncated."""

    @cached_property
    def rows(self) -> dict[str, list[Row]]:
        """Return the raw rows of each table by name; tables without rows are left out."""
        every = {
            "vocabulary-merges": list(self._merges()),
            "vocabulary-curve": list(self._curve()),
            "vocabulary-corpora": list(self._corpora()),
            "vocabulary-scripts": list(self._by_class({i: script_of(t) for i, t in self._tokens().items()}, KINDS)),
            "vocabulary-lengths": list(self._by_length()),
            "vocabulary-unused": list(self._unused()),
        }
        return {name: rows for name, rows in every.items() if rows}

    def document(self) -> dict[str, Any]:
        """Return everything as a JSON-serialisable document: every merge, every size of the curve, the unused ids."""
        rows = {name.removeprefix("vocabulary-"): some for name, some in self.rows.items()}
        return {"held_out": all_of(self.held_out).text, "plateau_merge": self.plateau, **rows}

    def charts(self) -> list[Chart]:
        """Return the charts of merges and of sizes."""
        points = [row | {"model": self.name} for row in self.rows.get("vocabulary-curve", [])]
        short, title = Path(self.name).stem, f"Bytes per token by size: {wording.text(self.name)}"
        return [
            *merge_chart(f"merges-{short}", self.name, self.model.merge_counts or ()),
            *size_chart(f"sizes-{short}", title, "model", points, all_of(self.held_out).text),
        ]

    @property
    def plateau(self) -> int | None:
        """Return the merge after which the frequency of merges flattens; None if unknown."""
        return plateau(self.model.merge_counts or ())

    def tables(self) -> list[Table]:
        """Return the tables; those of merges and sizes only have the 1st, 2nd, 5th, 10th, 20th, … row."""
        flattened = "" if self.plateau is None else f" They flatten after merge {self.plateau:,}."
        text, shown = wording.text(all_of(self.held_out).text), _round_numbers(len(self.model.merges))
        return [
            table_of(name, [row for row in rows if row.get("n_merges", 0) in shown], plateau=flattened, text=text)
            for name, rows in self.rows.items()
        ]

    def _tokens(self) -> dict[int, bytes]:
        return ordinary_tokens(self.model)

    def _merges(self) -> Iterator[Row]:
        by_id, counts = self.model.bytes_by_id(), self.model.merge_counts
        for rank, i in enumerate(self.model.merge_results):
            token = by_id[i].decode("utf-8", "backslashreplace")
            count = None if counts is None else counts[rank]
            yield {"n_merges": rank + 1, "id": i, "token": token, "count": count}

    def _curve(self) -> Iterator[Row]:
        if self.curve is None:
            return
        smallest = self.model.vocab_size - len(self.model.merges)
        for n_merges, interval in zip(self.curve.sizes, self.curve.intervals(), strict=True):
            several = len(self.curve.n_bytes) > 1
            low, high = (interval.low, interval.high) if several else (None, None)
            yield {
                "n_merges": n_merges, "vocab_size": smallest + n_merges,
                "n_tokens": int(self.curve.n_tokens[n_merges]), "bytes_per_token": interval.value, "low": low,
                "high": high, "interval": f"{low:.3f}–{high:.3f}" if several else wording.ABSENT,
            }  # fmt: skip

    def _corpora(self) -> Iterator[Row]:
        for part, uses in (("trained on", self.trained), ("held out", self.held_out)):
            whole = all_of(uses)
            for use in uses:
                yield {
                    "part": part, "corpus": use.text, "n_documents": use.n_documents, "n_bytes": use.n_bytes,
                    "byte_share": ratio(use.n_bytes, whole.n_bytes), "n_tokens": use.n_tokens,
                    "token_share": ratio(use.n_tokens, whole.n_tokens),
                    "bytes_per_token": use.n_bytes / use.n_tokens if use.n_tokens else None,
                }  # fmt: skip

    def _by_class(self, class_of: dict[int, str], order: Sequence[str]) -> Iterator[Row]:
        """Yield for each class of tokens their number, how many the held-out text uses, and how often."""
        held_out, ids_of = all_of(self.held_out), grouped(class_of, class_of.__getitem__)
        for name in order:
            if ids := ids_of.get(name):
                times = held_out.times[ids]
                yield {
                    "class": name, "n_tokens": len(ids), "share": len(ids) / len(class_of),
                    "n_used": int((times > 0).sum()), "use_share": ratio(int(times.sum()), held_out.n_tokens),
                }  # fmt: skip

    def _by_length(self) -> Iterator[Row]:
        names = {
            least: f"{least}" if following - least == 1 else f"{least}–{following - 1}"
            for least, following in pairwise(_LENGTHS)
        } | {_LENGTHS[-1]: f"{_LENGTHS[-1]} and more"}
        class_of = {
            i: names[max(least for least in _LENGTHS if least <= max(1, len(token)))]
            for i, token in self._tokens().items()
        }
        return self._by_class(class_of, list(names.values()))

    def _unused(self) -> Iterator[Row]:
        """Yield how many base symbols and learned tokens the held-out text never uses, and which."""
        tokens, base = self._tokens(), self.model.symbol_ids
        trained, held_out = all_of(self.trained).times, all_of(self.held_out).times
        for kind, ids in (("learned", tokens.keys() - base), ("base", tokens.keys() & base)):
            unused = [i for i in sorted(ids) if not held_out[i]]
            never = [i for i in unused if not trained[i]]
            examples = [repr(tokens[i].decode("utf-8", "backslashreplace")) for i in unused[:_N_EXAMPLES]]
            yield {
                "tokens": kind, "n_tokens": len(ids), "n_unused": len(unused), "share": ratio(len(unused), len(ids)),
                "n_never": len(never), "unused_ids": unused, "never_ids": never, "first": " ".join(examples),
            }  # fmt: skip


def curve_sizes(n_merges: int) -> list[int]:
    """Return the numbers of merges at which the curve is evaluated: 0, all, round ones, some evenly by logarithm."""
    even = {round(n_merges ** (i / _N_SIZES)) for i in range(_N_SIZES + 1)} if n_merges else set()
    return sorted({*_round_numbers(n_merges), *even})


def _round_numbers(most: int) -> set[int]:
    """Return 0, 1, 2, 5, 10, 20, … up to `most`, and `most` itself."""
    found = {step * 10**power for power in range(len(str(most))) for step in (1, 2, 5)}
    return {0, most, *(number for number in found if number <= most)}
