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
from collections.abc import Iterable

from impls.core.arguments import check_text, checked_ids
from impls.core.text.text import EACH_BYTE
from impls.operations.held_text import Characters, JoinedRuns, Stops, StopString, TokenTexts
from impls.operations.stream_rules import StreamRules


class StreamDecoder:
    """Decodes one stream of ids; made by `Tokenizer.decoder`.

    The joined results of `push` and `finish` are the text `decode` gives for all ids; with `skip_special`, without
    special ones; with `stop`, up to the stop string that is complete first (of several that end at one character the
    longest). Text that may begin a stop string is held back too.
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
        self._end: Characters | TokenTexts = Characters(errors, rules)
        if rules.decoder is not None and not rules.decoder.joins_bytes:
            self._end = TokenTexts(rules.decoder, rules)
        elif by_runs:
            self._end = JoinedRuns(rules) if rules.joins_runs else Characters(EACH_BYTE, rules, rules.byte_ids)
        self._n_ids = self._n_characters = 0
        self._held = ""
        self._finished = False
        self._text_by_id = self._known_texts()

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
        text = self._end.push(ids, self._skipped, self._n_ids)
        self._n_ids += len(ids)
        if self._text_by_id is not None and len(ids) == 1:
            (i,), rules = ids, self._rules
            is_all = text.encode("utf-8", "replace") == (rules.bytes_by_id.get(i) or None)
            if is_all and i not in rules.special_ids and i not in (rules.byte_ids or ()):
                self._text_by_id[i] = text
        self._text_by_id = self._known_texts()
        return self._certain(text)

    def _known_texts(self) -> dict[int, str] | None:
        """Return the texts of single ids if they depend on nothing else now."""
        return self._rules.text_by_id if self._end.is_clear and not self._stops.texts else None

    def finish(self) -> str:
        """Return the rest of the text: incomplete bytes, handled as `errors` says, and text that was held back.

        Raise UnicodeDecodeError with `errors="strict"`. A second call returns "".
        """
        if self._finished or self.stopped:
            self._finished = True
            return ""
        text = self._end.finish()
        self._text_by_id, self._finished = None, True
        return self._certain(text)

    # --- stop strings ----------------------------------------------------------------------------------------

    def _certain(self, text: str) -> str:
        """Return the held-back text and `text` up to a stop string, or up to what may become one."""
        if not self._stops.texts:
            return text
        text = self._held + text
        if (stop := self._stops.first_in(text)) is not None:
            self.stopped = StopString(stop.text, self._n_characters + stop.start)
            return text[: stop.start]
        end = len(text) - (0 if self._finished else self._stops.n_begun(text))
        self._held = text[end:]
        self._n_characters += end
        return text[:end]
