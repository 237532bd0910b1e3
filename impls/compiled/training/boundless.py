"""BoundlessBPE in kernels: counts pieces, and the rows of pieces that merges may join, then learns from both.

A row holds a cell for each piece. A piece that is not one symbol yet keeps its neighbours apart, as a separator does;
when its last two symbols merge, all its cells get the new symbol in the same step, so that a pair still gains
occurrences only while its newer symbol is made. This requires that no merge makes a symbol that exists, which is the
rule of `impls.boundless` anyway.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from impls.compiled.codegen.native import address, native
from impls.compiled.layout import PAD_BYTES
from impls.compiled.pages import aligned_zeros
from impls.compiled.pretokenize.split_context import SplitContext
from impls.compiled.pretokenize.splitting import splitting_of, windows_wanted
from impls.compiled.training.count import planned, safe_cut
from impls.compiled.training.layout import CELL_BYTES, FIRST_WAITING, MOST_WEIGHT, SEPARATOR
from impls.compiled.training.learning import MOST_CELLS, Learner
from impls.compiled.training.parts import batches, count_parts
from impls.compiled.training.words import Words
from impls.core.counts import gathered
from impls.core.errors import Unsupported
from impls.core.model import Model
from impls.core.model.data import JoinedPieces, may_be_joined
from impls.core.specification import TrainingSpec
from impls.core.text.files import TextFiles, check_unchanged
from impls.core.text.patterns import resolve
from impls.core.training import base_symbols, first_base_id, merge_budget, trained_model


def train(texts: Iterable[str], spec: TrainingSpec, join: JoinedPieces) -> Model:
    """Learn the model that `impls.boundless` defines, from texts or from files (read in kernels)."""
    words = _counted(texts, resolve(spec.pattern), join)
    base = base_symbols((), spec)
    learner = _Learner(base, min(words.most_merges, merge_budget(base, spec)), spec)
    learner.fill(words)
    merges, counts = learner.learn()
    first = first_base_id(spec)
    pairs = [(left + first, right + first) for left, right in merges]
    return trained_model(spec, base, pairs, counts).with_(joined_pieces=join)


def _counted(texts: Iterable[str], pattern: tuple[str, ...], join: JoinedPieces) -> _Words:
    words = _Words(pattern, join)
    # No two words meet at a line break; other pieces may, and they are joined only within one text.
    is_cut = join == "words"
    if isinstance(texts, TextFiles):
        parts = planned(texts, 1, None, resumable=False)
        count_parts(parts, pattern, words=words, joins_lines=is_cut)
        check_unchanged(parts)
    else:
        for batch in batches(texts, safe_cut(pattern) if is_cut else None):
            words.add(batch)
    words.collect()
    return words


class _Words(Words):
    """Counts pieces, and in `rows` the sequences of two or more that may be joined, as sequences of piece numbers."""

    def __init__(self, pattern: tuple[str, ...], join: JoinedPieces) -> None:
        splitting, _ = splitting_of(pattern, with_windows=windows_wanted())
        context = SplitContext(splitting)
        super().__init__(context, pattern, splits=splitting is not None)
        self.rows = Words(context, pattern, splits=False)
        self._may_be_joined = may_be_joined(join)
        self._joins = np.zeros(PAD_BYTES, np.uint8)
        self._n_known = 0

    @property
    def most_merges(self) -> int:
        """Return the maximum number of merges: each takes a symbol from some piece, or a piece from some row."""
        return int(self.lengths.sum(dtype=np.int64) + self.rows.lengths.sum(dtype=np.int64) // 4)

    def add_texts(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Count the texts and their rows."""
        numbers = np.empty(int(sizes.sum()) + len(sizes) + PAD_BYTES, np.int32)
        self.hold("numbers", numbers)
        self["n_numbers"] = 0
        super().add_texts(data, sizes)
        self._note_joins()
        rows, places = self.rows, (address(numbers), self["n_numbers"], address(self._joins))
        rows["position"] = 0
        rows.enlarging(4 * len(numbers), lambda: native.count_rows(rows.address, *places), numbers, self._joins)

    def _add_split(self, data: bytes) -> None:
        super()._add_split(data)
        self.held("numbers")[self["n_numbers"]] = -1
        self["n_numbers"] += 1

    def _note_joins(self) -> None:
        """Note which of the new pieces may be joined."""
        known, n_pieces = self._n_known, self["n_pieces"]
        if len(self._joins) < n_pieces + PAD_BYTES:
            self._joins = np.append(self._joins, np.zeros(n_pieces + PAD_BYTES, np.uint8))
        lengths = self.held("lengths")[known:n_pieces].astype(np.int64)
        text = gathered(self.held("arena"), self.held("starts")[known:n_pieces], lengths).tobytes()
        begin = 0
        for number, end in enumerate(np.cumsum(lengths).tolist(), known):
            self._joins[number] = self._may_be_joined(text[begin:end].decode())
            begin = end
        self._n_known = n_pieces

    def collect(self) -> None:
        """Bring the counts of pieces and of rows up to date."""
        super().collect()
        self.rows.collect()


class _Learner(Learner):
    """Learns from words and from rows of pieces."""

    def _fill(self, words: _Words) -> None:  # type: ignore[override]
        super()._fill(words)
        cells = self.held("cells").view(np.int32).reshape(-1, 2)[: self["n_cells"]]
        rows = words.rows
        lengths = rows.lengths.astype(np.int64)
        numbers = gathered(rows.held("arena"), rows.held("starts")[: len(lengths)], lengths).view(np.int32)
        if rows.counts.max(initial=0) > MOST_WEIGHT:
            raise Unsupported("compiled", f"a row of pieces that occurs more than {MOST_WEIGHT:,} times")
        n_cells = len(cells) + len(numbers) + len(lengths)
        if n_cells > MOST_CELLS:
            raise Unsupported("compiled", f"distinct rows of {len(numbers):,} pieces; it trains on fewer")
        # What stands for a piece in a row: its only symbol, or the placeholder of a symbol to come.
        pieces = (FIRST_WAITING - np.arange(len(words.lengths))).astype(np.int32)
        alone = np.flatnonzero(words.lengths == 1)
        inner, _ = self._symbols()
        pieces[alone] = inner[words.held("arena")[words.held("starts")[alone]]]
        separators = np.flatnonzero(cells[:, 0] == SEPARATOR)[:-1]
        longer = np.flatnonzero(words.lengths > 1)
        cells[separators, 0] = pieces[np.repeat(longer, -(-words.counts[longer] // MOST_WEIGHT))]
        joined = aligned_zeros(CELL_BYTES * n_cells).view(np.int32).reshape(-1, 2)
        joined[: len(cells)] = cells
        in_rows = joined[len(cells) :]
        in_rows[:, 0] = SEPARATOR
        sizes = lengths // 4
        places = np.arange(len(numbers)) + np.repeat(np.arange(len(sizes)), sizes)
        in_rows[places, 0] = pieces[numbers]
        in_rows[places, 1] = np.repeat(rows.counts, sizes)
        self.hold("cells", joined)
        self["rows"], self["n_cells"] = len(cells), n_cells
        self.hold("whole", np.empty(len(separators) + 1, np.int32))
        self.hold("waiting_starts", np.zeros(len(pieces) + 1, np.int64))
        self._know_base()

    def _know_base(self) -> None:
        """Create the table of known symbols, at first only the base symbols."""
        bits = max(10, (2 * (self["n_base"] + self["most_merges"])).bit_length())
        known = np.full(1 << bits, -1, np.int32)
        self.hold("known", known)
        self["known_shift"] = 64 - bits
        base = np.arange(self["n_base"], dtype=np.int32)
        with self._reachable():
            native.index_tokens(self["token_text"], self["token_starts"], base, len(base), known, self["known_shift"])

    def _list(self) -> None:
        """List pairs, and the pieces in rows that are not one symbol yet."""
        symbols = self.held("cells")[self["rows"] : self["n_cells"], 0]
        waiting = FIRST_WAITING - symbols[symbols <= FIRST_WAITING]
        starts = self.held("waiting_starts")
        starts[:-1] = np.cumsum(np.bincount(waiting, minlength=len(starts) - 1))
        starts[-1] = len(waiting)
        self.hold("waiting", np.empty(len(waiting) + 1, np.int32))
        with self._reachable():
            native.list_waiting(self.address)
        super()._list()
