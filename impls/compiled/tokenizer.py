"""`Compiled`: the kernels behind the interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from impls.compiled import files, plain
from impls.compiled.batches import Batches, Density, Ready, thread_count
from impls.compiled.dropping import Dropping
from impls.compiled.files import last_safe_cut
from impls.compiled.layout import AUTOMATON
from impls.compiled.own_pieces import OwnPieces, without_hidden_space
from impls.compiled.pattern.tables import cuts_at_line_breaks
from impls.compiled.plain import Uncovered
from impls.compiled.pool import Pool, Worker
from impls.compiled.specials import Sought, Specials
from impls.compiled.spelling import borders
from impls.compiled.split_context import Splitting
from impls.compiled.splitting import cuts_of, splitting_of, windows_wanted, with_borders
from impls.compiled.stage_times import stage_seconds
from impls.compiled.tables import tables_of
from impls.dropout import Dropout
from impls.errors import Unsupported
from impls.interface import SpecialSet, Tokenizer, TrainingSpec, listed
from impls.model import Model
from impls.text import repair_surrogates


class Compiled(Tokenizer):
    """Byte pair encoding in Numba kernels: an automaton splits, a cache knows pieces, a perfect hash knows pairs."""

    name = "compiled"
    summary = "Numba kernels: the pattern as an automaton, a piece cache, perfect-hash pairs"
    kind: ClassVar[Literal["pure", "compiled", "production", "peer", "third-party"]] = "compiled"

    def __init__(self, model: Model) -> None:
        """Prepares tables, or reads them from the user's cache; compiles the kernels on first use ever."""
        super().__init__(model)
        if model.end_of_word is not None:
            raise Unsupported(self.name, "end_of_word changes the last character of each piece")
        if model.ignore_merges and model.sentencepiece is not None:
            raise Unsupported(self.name, "ignore_merges after SentencePiece's rules")
        splitting, self.splitting = splitting_of(model.pattern, with_windows=windows_wanted())
        """How texts are split: 'automaton', or 'regex: ' and the reason."""
        self._automaton = splitting is not None
        if splitting is not None and model.alphabet == "chars" and (tables := borders(model)) is not None:
            splitting, self.splitting = with_borders(splitting, tables, with_windows=windows_wanted())
        self._own_pieces = OwnPieces(model)
        self._cuts_at_line_breaks = (
            splitting is not None and model.sentencepiece is None and cuts_at_line_breaks(splitting.automata)
        )
        self._specials = Specials(model)
        sought = Sought.of(model.whole_token_ids)
        cuts = None if splitting is None or model.sentencepiece else cuts_of(splitting, sought.rests)
        self._pool = Pool(tables_of(model), splitting or Splitting(AUTOMATON, None), sought.table(), cuts)
        self._dropping = Dropping(model)
        self._density = Density()
        # One worker serves every call that holds the interpreter lock; a long text marks it as busy meanwhile.
        self._own = self._pool.new()
        builtins = self._own.builtins
        self._fast = builtins if self._automaton else None
        rewrites = model.rewrites_text or bool(self._own_pieces)
        if self._fast is not None and rewrites:
            self._fast = self._fast.after(self._written)
        self._fast_decode = builtins
        fast = self._fast
        self._list = _never if fast is None else fast.encode_to_list
        self._as_array = _never if fast is None else fast.encode_to_array
        # What `encode` tries first; it looks for special tokens in the text as it is given.
        looking = None if rewrites else fast
        self._list_unless_special = _never if looking is None else looking.encode_to_list_unless_special
        self._array_unless_special = _never if looking is None else looking.encode_to_array_unless_special

    @classmethod
    def train_model(cls, texts: Iterable[str], spec: TrainingSpec) -> Model:
        """Learn merges in kernels; see `impls.compiled.training`."""
        from impls.compiled.training import train

        return train(texts, spec)

    # --- encoding ------------------------------------------------------------------------------------------

    def encode(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> list[int]:
        """Ids of `text`; see `Tokenizer.encode`."""
        try:
            if not (disallowed_special or allowed_special or self._added):
                ids = self._list(text)
            else:
                ids = self._list_unless_special(text)
                if ids is None and self._specials.absent(text):
                    ids = self._list(text)
        except UnicodeEncodeError:
            ids = None
        if ids is not None:
            return ids
        return super().encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

    def encode_array(
        self, text: str, *, allowed_special: SpecialSet = (), disallowed_special: SpecialSet = "all"
    ) -> np.ndarray:
        """Ids of `text` as uint32 of shape (n_tokens,)."""
        try:
            if not (disallowed_special or allowed_special or self._added):
                array = self._as_array(text)
            else:
                array = self._array_unless_special(text)
                if array is None and self._specials.absent(text):
                    array = self._as_array(text)
        except UnicodeEncodeError:
            array = None
        if array is not None:
            return array
        if not self._specials.absent(text):
            ids = super().encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special)
            return np.array(ids, np.uint32)
        return self._array(self._model.normalize(repair_surrogates(text)))

    def encode_ordinary(self, text: str) -> list[int]:
        """Ids of a text in which nothing is special and no surrogate is left."""
        builtins = self._own.builtins if self._fast is not None and self._own_pieces.absent(text) else None
        found = None if builtins is None else builtins.encode_to_list(text)
        ids: list[int] = self._array(text).tolist() if found is None else found
        return ids

    def _written(self, text: str) -> str | None:
        """What the kernels encode of a text, or None where that is more than theirs."""
        written = self._model.normalize(text)
        return written if self._own_pieces.absent(written) else None

    def _array(self, text: str) -> np.ndarray:
        return self._own_pieces.encode(text, self._merged) if self._own_pieces else self._merged(text)

    def _merged(self, text: str) -> np.ndarray:
        with self._pool.worker() as worker:
            if self._automaton:
                try:
                    return plain.encode(worker.context, text)
                except Uncovered:
                    pass
            return plain.encode_pieces(worker.context, text, self._splitter.split(text))

    def encode_ordinary_with_dropout(self, text: str, dropout: Dropout) -> list[int]:
        """As `encode_ordinary`, with merges left out; see `impls.dropout`. Only over bytes."""
        if self._model.alphabet == "chars":
            raise Unsupported(self.name, "leaves merges out (BPE-dropout) only over bytes")
        with self._pool.worker() as worker:
            return self._dropping.encode(worker.context, text, self._piece_ends(worker, text), dropout)

    def _piece_ends(self, worker: Worker, text: str) -> np.ndarray:
        """Where the pieces of a text end, in bytes: int32."""
        if self._automaton:
            try:
                return plain.piece_ends(worker.context, text)
            except Uncovered:
                pass
        return plain.ends_of(text, self._splitter.split(text))

    def stage_seconds(self, text: str) -> dict[str, float]:
        """Seconds by stage of one encoding of `text`, special text read as ordinary text."""
        text = self._model.normalize(repair_surrogates(text))
        worker = self._timed_worker
        if self._automaton:
            try:
                return stage_seconds(worker, text, None)
            except Uncovered:
                pass
        return stage_seconds(worker, text, self._splitter.split)

    @cached_property
    def _timed_worker(self) -> Worker:
        return self._pool.new()

    def count(self, text: str) -> int:
        """How many tokens `text` has, special text read as ordinary text; no id is built."""
        if self._fast is not None and not self._model.added_tokens:
            try:
                counted = self._fast.count_ids(text)
            except UnicodeEncodeError:
                counted = None
            if counted is not None:
                return counted
        return super().count(text)

    def encode_batch(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[list[int]]:
        """One list of ids per text, in order; the threads run outside the interpreter lock."""
        batches = self._batches(allowed_special, disallowed_special)
        return batches.lists(list(listed(texts)), thread_count(threads))

    def encode_array_batch(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> list[np.ndarray]:
        """One array of ids (uint32) per text, in order; as `encode_batch`."""
        batches = self._batches(allowed_special, disallowed_special)
        return batches.arrays(list(listed(texts)), thread_count(threads))

    def encode_ragged(
        self,
        texts: Sequence[str],
        threads: int | None = None,
        *,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> tuple[np.ndarray, np.ndarray]:
        """All ids of all texts, uint32, and where each text's begin, int64 of shape (n_texts + 1,)."""
        batches = self._batches(allowed_special, disallowed_special)
        return batches.ragged(list(listed(texts)), thread_count(threads))

    def _batches(self, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> Batches:
        def one(text: str) -> np.ndarray:
            return self.encode_array(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

        ready = None if self._fast is None else self._ready(allowed_special, disallowed_special)
        return Batches(self._run_claimed, self._pool, ready, one, self._density)

    def _run_claimed(self, job: int, run: Callable[[Worker], bool]) -> None:
        """Run it, and close the job, with this tokenizer's own worker, or where it is in use one nobody else uses."""
        builtins = self._own.builtins
        if builtins is not None and builtins.run_claimed(job, run, self._own) is not None:
            return
        with self._pool.worker() as worker:
            if worker.builtins is not None:
                worker.builtins.run_claimed(job, run, worker)

    def _ready(self, allowed_special: SpecialSet, disallowed_special: SpecialSet) -> Ready:
        """How batches go the fast way."""
        look = int(not self._specials.none and bool(allowed_special or disallowed_special or self._added))
        if not self._model.rewrites_text and not self._own_pieces:
            return lambda texts: (texts, look)
        if not look:
            return lambda texts: (list(map(self._written, texts)), 0)

        # Special tokens are sought in the text as it was given.
        def normalized(text: str) -> str | None:
            return self._written(text) if self._specials.absent(text) else None

        return lambda texts: (list(map(normalized, texts)), 0)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The text of the first `max_tokens` tokens, less a last character they hold only in part.

        Special text is read as ordinary text. No more of a long text is encoded than is needed.
        """
        if max_tokens < 0:
            raise ValueError(f"max_tokens must be at least 0, not {max_tokens}")
        size = 16 * max_tokens + 256
        while True:
            whole = size >= len(text)
            head = repair_surrogates(text[:size])
            if not whole:
                data = head.encode()
                head = data[: last_safe_cut(data) if self._cuts_at_line_breaks else 0].decode()
            ids = self.encode_array(head, disallowed_special=())
            if whole and len(ids) <= max_tokens:
                return text
            if len(ids) > max_tokens or whole:
                return self.decode_bytes(ids[:max_tokens]).decode("utf-8", "ignore")
            size = 4 * size if self._cuts_at_line_breaks else len(text)

    def encode_file(
        self,
        source: str | Path,
        target: str | Path,
        *,
        progress: Callable[[int, int], None] | None = files.print_progress,
        allowed_special: SpecialSet = (),
        disallowed_special: SpecialSet = "all",
    ) -> int:
        """Encodes a UTF-8 text file to `.npy` or `.bin`, uint16 where every id fits, else uint32; returns how many ids.

        The file is one text; memory stays bounded where the pattern certainly cuts at a line break between letters.
        """

        def encode(text: str) -> np.ndarray:
            return self.encode_array(text, allowed_special=allowed_special, disallowed_special=disallowed_special)

        kind: np.dtype[np.unsignedinteger] = np.dtype(np.uint16 if self._model.vocab_size <= 1 << 16 else np.uint32)
        whole = self._model.whole_token_ids
        steps = self._cuts_at_line_breaks and not (
            self._model.whole_token_flags or any("\n" in special for special in whole)
        )
        return files.encode_file(Path(source), Path(target), encode, kind, last_safe_cut if steps else None, progress)

    # --- decoding ------------------------------------------------------------------------------------------

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:
        """The text of the ids; see `Tokenizer.decode`."""
        if self._model.sentencepiece is not None:
            ids = list(ids)
            try:
                return self.decode_bytes(ids).decode()
            except UnicodeDecodeError:
                return super().decode(ids, errors)
        if self._fast_decode is not None and errors == "replace" and type(ids) is list:
            text = self._fast_decode.decode_to_str(ids)
            if text is not None:
                return text
        return super().decode(ids, errors)

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids; see `Tokenizer.decode_bytes`."""
        ids = list(ids) if not isinstance(ids, list | np.ndarray) else ids
        if self._fast_decode is not None and type(ids) is list:
            data = self._fast_decode.decode_to_bytes(ids)
        else:
            data = self._plain_decode(ids)
        rules = self._model.sentencepiece
        if data is not None and rules is not None:
            data = without_hidden_space(data, ids, self._bytes_by_id, self._ids_with_mark, rules)
        return super().decode_bytes(ids) if data is None else data

    def _plain_decode(self, ids: list[int] | np.ndarray) -> bytes | None:
        try:
            array = np.asarray(ids)
        except (OverflowError, ValueError, TypeError):
            return None
        # What is no array of whole numbers, or has masked ones, is looked at id by id.
        if array.ndim != 1 or array.dtype.kind not in "iub" or np.ma.isMaskedArray(ids):
            return None
        if bool((array < 0).any()) or bool((array >= 1 << 32).any()):
            return None
        with self._pool.worker() as worker:
            return plain.decode(worker.context, np.ascontiguousarray(array, np.uint32))


def _never(text: str) -> None:
    """Stands where no built-in is."""
