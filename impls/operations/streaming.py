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
from collections.abc import Iterable, Sequence

from impls.core.arguments import check_text, checked_ids
from impls.core.text.text import EACH_BYTE
from impls.operations.held_text import ByteRun, Characters, Stops, StopString, TokenTexts
from impls.operations.stream_rules import StreamRules


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
        self._rules = rules
        self._skipped = frozenset(rules.special_ids) if skip_special else frozenset()
        self._stops = Stops(stop)
        by_runs = rules.byte_ids is not None and errors == "replace"
        self._byte_ids = rules.byte_ids if by_runs else None
        self._run: Characters | ByteRun = Characters(EACH_BYTE if by_runs else errors, rules)
        if by_runs and rules.joins_runs:
            self._run = ByteRun(rules)
        by_names = rules.decoder is not None and not rules.decoder.joins_bytes
        self._names = TokenTexts(rules.decoder) if rules.decoder is not None and by_names else None
        self._n_ids = self._n_characters = 0
        self._held = ""
        self._finished = False
        self._begins: bool
        self._text_by_id: dict[int, str] | None
        self._go_on(begins=bool(rules.ids_with_mark))

    def push(self, ids: Iterable[int]) -> str:
        """Return the text that becomes certain with `ids`, which may be empty.

        Raise `UnknownId` (its position counted from the first id of the stream) or, with `errors="strict"`,
        UnicodeDecodeError, and ignore all of these ids; ValueError after `finish`.
        """
        if self._text_by_id and (type(ids) is list or type(ids) is tuple) and len(ids) == 1:
            known = self._text_by_id.get(ids[0])
            if known is not None and type(ids[0]) is int:
                self._n_ids += 1
                return known
        if self._finished:
            raise ValueError("this decoder is finished; make a new one for another text")
        if self.stopped:
            return ""
        ids = checked_ids(ids)
        if self._names is not None:
            names = self._rules.token_names(ids, self._skipped, self._n_ids)
            self._n_ids += len(ids)
            return self._certain(self._names.push(names))
        joins_runs = isinstance(self._run, ByteRun)
        begins = self._begins and not joins_runs
        tokens, begins = self._rules.token_bytes(ids, begins=begins, skipped=self._skipped, n_before=self._n_ids)
        text = self._text(ids, tokens)
        if joins_runs:
            text = self._without_first_space(text)
            begins = self._begins
        if self._text_by_id is not None and len(ids) == 1:
            self._remember(ids[0], tokens[0], text)
        self._n_ids += len(ids)
        self._go_on(begins=begins)
        return self._certain(text)

    def _text(self, ids: Sequence[int], tokens: Sequence[bytes]) -> str:
        """Return the text that becomes certain with tokens; one that is not a byte token ends a run of these."""
        if self._byte_ids is None:
            return self._run.push(b"".join(tokens))
        parts: list[str] = []
        for i, token in zip(ids, tokens, strict=True):
            if i not in self._skipped:
                is_byte = i in self._byte_ids
                parts.append(self._run.push(token) if is_byte else self._run.end() + token.decode("utf-8", "replace"))
        return "".join(parts)

    def _without_first_space(self, text: str) -> str:
        """Return the next part of a text, whose first space is removed if it begins the text."""
        if self._begins and text:
            self._begins = False
            return text.removeprefix(" ")
        return text

    def _go_on(self, *, begins: bool) -> None:
        self._begins = begins
        depends = begins or self._stops.texts or self._run.n_bytes
        self._text_by_id = None if depends else self._rules.text_by_id

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
        text = self._names.end() if self._names is not None else self._without_first_space(self._run.end())
        self._finished = True
        return self._certain(text)

    # --- stop strings ----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """Return the held-back text and `text` up to a stop string, or up to what may become one."""
        if not self._stops.texts:
            return text
        text = self._held + text
        stop = self._stops.first_in(text)
        if stop is not None:
            self.stopped = StopString(stop.text, self._n_characters + stop.start)
            n_held = len(text) - stop.start
        else:
            n_held = 0 if self._finished else self._stops.n_begun(text, self._next_texts())
        end = len(text) - n_held
        self._held = "" if self.stopped else text[end:]
        self._n_characters += end
        return text[:end]

    def _next_texts(self) -> tuple[bytes, str | None]:
        """Return the bytes that the next character begins with, and the text they otherwise become, if any."""
        try:
            return self._run.data, self._run.otherwise()
        except UnicodeDecodeError:
            return self._run.data, None
