"""Decode ids that arrive one after another: each character as soon as it is certain, and where a stop string began.

    push([0xE2, 0x82])  ""      it may become "€", another character, or U+FFFD
    push([0xAC, 0x41])  "€A"

After ids x, a text is certain if `decode(x + y)` begins with it whatever ids y of the model follow, even none. Only the
bytes of a character that may still be completed are therefore held back: if UTF-8 allows no continuation (`\\xe2\\x41`,
`\\xed\\xa0`), or the model has no token for one, the replacement is certain at once, with as many U+FFFD as in
`decode`. By the decoder of a tokenizer.json a wrong byte replaces all of a run of byte tokens, so that the run is held
back until it ends. Everything else depends on earlier ids only: the space that begins a text in SentencePiece, the
space of an `end_of_word`, the text of special tokens.

Knows a model's tokens as bytes, and no algorithm.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Sequence

from impls.core.arguments import check_text, checked_ids
from impls.operations.held_text import ByteRun, Stops, StopString, TokenTexts, may_become
from impls.operations.stream_rules import StreamRules

_REPLACED = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


class StreamDecoder:
    """Decodes one stream of ids; made by `Tokenizer.decoder`.

    The joined results of `push` and `finish` are the text `decode` gives for all ids; with `skip_special`, without
    special ones; with `stop`, up to the stop string that is complete first (of several that end at one character the
    longest). Text that may still become a stop string is held back too.
    """

    stopped: StopString | None = None
    """The stop string that ended the text; all later ids are ignored."""

    def __init__(
        self, rules: StreamRules, errors: str = "replace", *, skip_special: bool = False, stop: Iterable[str] = ()
    ) -> None:
        """Begin a text; raise LookupError for an unknown `errors`, ValueError for an empty stop string."""
        check_text(errors, "errors")
        codecs.lookup_error(errors)
        self._rules, self._errors = rules, errors
        self._skipped = frozenset(rules.special_ids) if skip_special else frozenset()
        self._stops = Stops(stop)
        self._by_runs = rules.byte_ids is not None and errors == "replace"
        self._run = ByteRun(rules.byte_continuations) if self._by_runs and rules.joins_runs else None
        self._by_names = None
        if rules.decoder is not None and not rules.decoder.joins_bytes:
            self._by_names = TokenTexts(rules.decoder)
        self._continuations: Collection[bytes] | None = None
        if not rules.has_all_bytes:
            self._continuations = rules.byte_continuations if self._by_runs else rules.continuations
        self._n_ids = self._n_characters = 0
        self._pending = b""
        self._held = ""
        self._finished = False
        self._begins = False
        self._text_by_id: dict[int, str] | None = None
        self._go_on(begins=bool(rules.ids_with_mark))

    def push(self, ids: Iterable[int]) -> str:
        """Return the text that becomes certain with `ids`, which may be empty.

        Raise `UnknownId` (its position counted from the first id of the stream) or, with `errors="strict"`,
        UnicodeDecodeError, and ignore all of these ids; ValueError after `finish`.
        """
        if self._text_by_id and not self._pending and (type(ids) is list or type(ids) is tuple) and len(ids) == 1:
            known = self._text_by_id.get(ids[0])
            if known is not None and type(ids[0]) is int:
                self._n_ids += 1
                return known
        if self._finished:
            raise ValueError("this decoder is finished; make a new one for another text")
        if self.stopped:
            return ""
        ids = checked_ids(ids)
        if self._by_names is not None:
            names = self._rules.token_names(ids, self._skipped, self._n_ids)
            self._n_ids += len(ids)
            return self._certain(self._by_names.push(names))
        begins = self._begins and self._run is None
        tokens, begins = self._rules.token_bytes(ids, begins=begins, skipped=self._skipped, n_before=self._n_ids)
        if self._run is not None:
            return self._push_runs(self._run, ids, tokens)
        text, pending = self._decoded_runs(ids, tokens) if self._by_runs else self._decoded(b"".join(tokens))
        if pending and self._continuations is not None and not may_become(pending, self._continuations):
            text, pending = text + self._replaced(pending), b""
        if self._text_by_id is not None and len(ids) == 1 and not self._pending:
            self._remember(ids[0], tokens[0], text)
        self._n_ids += len(ids)
        self._pending = pending
        self._go_on(begins=begins)
        return self._certain(text)

    def _push_runs(self, run: ByteRun, ids: Sequence[int], tokens: Sequence[bytes]) -> str:
        """Return the text that becomes certain with tokens, where a run of byte tokens is UTF-8 or all replaced."""
        byte_ids = self._rules.byte_ids or ()
        parts: list[str] = []
        for i, token in zip(ids, tokens, strict=True):
            if i not in self._skipped:
                parts.append(run.push(token) if i in byte_ids else run.end() + token.decode("utf-8", "replace"))
        text = self._without_first_space("".join(parts))
        if self._text_by_id is not None and len(ids) == 1:
            self._remember(ids[0], tokens[0], text)
        self._n_ids += len(ids)
        self._text_by_id = None
        if not run.n_bytes:
            self._go_on(begins=self._begins)
        return self._certain(text)

    def _without_first_space(self, text: str) -> str:
        """Return the next part of a text, whose first space is removed if it begins the text."""
        if self._begins and text:
            self._begins = False
            return text.removeprefix(" ")
        return text

    def _go_on(self, *, begins: bool) -> None:
        self._begins = begins
        if not (begins or self._stops.texts):
            self._text_by_id = self._rules.text_by_id

    def _remember(self, i: int, token: bytes, text: str) -> None:
        """Cache the text of an id for all decoders of the model, if it depends on nothing else."""
        if self._rules.joins_runs and i in (self._rules.byte_ids or ()):
            return  # its text depends on the bytes that follow
        if i not in self._rules.special_ids and text and text.encode("utf-8", "replace") == token:
            self._rules.text_by_id[i] = text

    def finish(self) -> str:
        """Return the rest of the text: incomplete bytes, handled as `errors` says, and text that was held back.

        Raise UnicodeDecodeError with `errors="strict"`. A second call returns "".
        """
        if self._finished or self.stopped:
            self._finished = True
            return ""
        self._text_by_id = None
        text = self._replaced(self._pending) if self._pending else ""
        if self._run is not None:
            text = self._without_first_space(self._run.end())
        elif self._by_names is not None:
            text = self._by_names.end()
        self._pending, self._finished = b"", True
        return self._certain(text)

    # --- bytes to text ---------------------------------------------------------------------------------------

    def _decoded(self, data: bytes) -> tuple[str, bytes]:
        """Return the text of the held-back bytes and `data`, and the bytes of a character that is not complete yet."""
        data = self._pending + data
        text, n_read = _read(data, self._errors)
        return text, data[n_read:]

    def _decoded_runs(self, ids: Sequence[int], tokens: Sequence[bytes]) -> tuple[str, bytes]:
        """Decode like `_decoded`, but any other token ends a run of byte tokens, and an invalid byte becomes U+FFFD."""
        byte_ids = self._rules.byte_ids or ()
        parts: list[str] = []
        pending = self._pending
        for i, token in zip(ids, tokens, strict=True):
            if i in self._skipped:
                continue
            if i in byte_ids:
                pending += token
                text, n_read = _read(pending, "surrogateescape")
                parts.append(text.translate(_REPLACED))
                pending = pending[n_read:]
            else:
                parts.append("\ufffd" * len(pending) + token.decode("utf-8", "replace"))
                pending = b""
        return "".join(parts), pending

    def _replaced(self, pending: bytes) -> str:
        """Return the text of bytes that remain incomplete."""
        return "\ufffd" * len(pending) if self._by_runs else pending.decode("utf-8", self._errors)

    # --- stop strings ----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """Return the held-back text and `text` up to a stop string, or up to what may become one."""
        if not self._stops.texts:
            return text
        text = self._held + text
        found = self._stops.first_in(text)
        if found is not None:
            self.stopped = StopString(found.text, self._n_characters + found.start)
            self._pending, n_held = b"", len(text) - found.start
        else:
            n_held = 0 if self._finished else self._stops.n_begun(text, self._next_texts())
        end = len(text) - n_held
        self._held = "" if self.stopped else text[end:]
        self._n_characters += end
        return text[:end]

    def _next_texts(self) -> tuple[bytes, str | None]:
        """Return the bytes that the next character begins with, and the text they otherwise become, if any."""
        if self._run is not None:
            return self._run.data, "\ufffd" * len(self._run.data)
        try:
            return self._pending, self._replaced(self._pending)
        except UnicodeDecodeError:
            return self._pending, None


def _read(data: bytes, errors: str) -> tuple[str, int]:
    """Return the text of `data` without a character that may still be completed, and how many bytes were read."""
    text, n_read = codecs.utf_8_decode(data, errors, False)
    # Python waits for the third byte of a surrogate, which only this handler decodes.
    if data[n_read:].startswith(b"\xed") and len(data) - n_read == 2 and data[-1] >= 0xA0 and errors != "surrogatepass":
        return text + data[n_read:].decode("utf-8", errors), len(data)
    return text, n_read
