"""Prove that no text encodes to a token, from the rules of its model alone. There are three kinds of proof:

- UTF-8 never has its bytes; or its text is changed by the model's normal form, which every part of a normalised text
  is in; or an added token, or a piece that is cut out first, is a part of it; or it is marked as unused.
- Merging its own symbols does not give it, and it cannot be a whole piece that is looked up. The surrounding text does
  not matter: if a merge crossed the token's ends, it would not result, and merges inside happen in the same order.
- No match of the pattern contains its text (`Factors`).

For `Factors` a pattern is relaxed to a nondeterministic automaton: lookaheads and ends hold everywhere, possessive and
lazy repetitions are ordinary ones, the order of alternatives does not count. It matches all that the pattern matches,
and more: a text that no match of it contains is in no piece. The reverse does not follow. A stage outside the
automaton's subset of regular expressions (`impls.core.pattern.syntax`) refuses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Literal

from harness.lint.utf8 import texts_around
from harness.printable import quoted, text_of
from impls.core.model.cuts import single_characters
from impls.core.model.derivations import spellings
from impls.core.model.merging import merged
from impls.core.model.model import Model
from impls.core.pattern.classes import partition
from impls.core.pattern.syntax import FORK, JUMP, MATCH, TAKE, Code, NotExpressible, Program, parse
from impls.core.text.stages import DROPS_MATCHES
from impls.core.text.tracing import Rewriting


class Factors:
    """The texts that a piece of the given split stages can contain."""

    def __init__(self, stages: Sequence[str]) -> None:
        kept = [stage for stage in stages if not stage.startswith(DROPS_MATCHES)]
        self._automata = [automaton for stage in kept if (automaton := _automaton(stage)) is not None]
        self._last = _automaton(stages[-1]) if stages and kept and kept[-1] == stages[-1] else None

    def can_hold(self, text: str) -> bool:
        """Return False only where no piece of any text contains `text`, which has no surrogates, as no token has.

        >>> Factors([r" ?\\p{L}+|\\p{N}{1,3}|\\s+"]).can_hold("12a")
        False
        """
        return all(automaton.finds(text) for automaton in self._automata)

    def can_be(self, text: str) -> bool:
        """Return False only if no piece of any text is `text`."""
        return self.can_hold(text) and (self._last is None or self._last.matches(text))


@cache
def _automaton(stage: str) -> _Automaton | None:
    with suppress(NotExpressible, OverflowError, RecursionError):
        return _Automaton(parse(stage))
    return None


class _Automaton:
    """A nondeterministic automaton; a set of its instructions is the bits of an int."""

    def __init__(self, program: Program) -> None:
        code = program.code
        self._match = 1 << len(code) - 1
        self._class_of, member = partition(program.sources)
        closures = [_reached(code, place) for place in range(len(code))]
        takes = [(place, source) for place, (operation, source, _) in enumerate(code) if operation == TAKE]
        self._begin = closures[0]
        self._anywhere = sum(1 << place for place, _ in takes) | self._match
        self._after = [[(1 << at, closures[at + 1]) for at, source in takes if inside[source]] for inside in member]
        """Character class -> the instructions that consume it, each with those reached afterwards."""

    def finds(self, text: str) -> bool:
        """Return whether a match contains `text`."""
        return bool(self._run(self._anywhere, text))

    def matches(self, text: str) -> bool:
        """Return whether a match is `text`."""
        return bool(self._run(self._begin, text) & self._match)

    def _run(self, places: int, text: str) -> int:
        for character in text:
            following = 0
            for place, reached in self._after[self._class_of[ord(character)]]:
                if places & place:
                    following |= reached
            places = following
            if not places:
                break
        return places


def _reached(code: Code, place: int) -> int:
    """Return the instructions that consume a character or match, reached from `place` without consuming one."""
    seen, reached, waiting = 0, 0, [place]
    while waiting:
        place = waiting.pop()
        if seen & 1 << place:
            continue
        seen |= 1 << place
        operation, a, b = code[place]
        if operation in (TAKE, MATCH):
            reached |= 1 << place
        elif operation == FORK:
            waiting += (place + a, place + b)
        else:
            waiting.append(place + (a if operation == JUMP else 1))
    return reached


_ENDS = 4096
"""Number of ways to complete a character of which two bytes are missing."""
_TWO_BYTES = range(0xC2, 0xE0)
"""First bytes of two-byte characters."""
_SETTLED_FORMS = ("nfc", "nfd", "nfkc", "nfkd")
"""Normal forms closed under substrings: any part of a normalised text is normalised (UAX #15)."""

Rule = Literal["utf-8", "normalization", "added token", "unused", "merges", "pattern", "context"]


class Proofs:
    """Proofs that no text is encoded to a token."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._factors = Factors(model.pattern)
        self._single = single_characters(model) if model.alphabet == "chars" else set()
        self._made = set(model.merge_results) if model.merge_rule == "pairs" else set()
        self._looks_up = model.ignore_merges or (model.merge_rule == "concatenation" and model.sentencepiece is None)
        own = set() if model.sentencepiece is None else model.user_defined_texts
        self._cut_out = {text for text in model.added_tokens if text not in model.whole_token_flags} | own

    def of(self, i: int, token: bytes) -> tuple[Rule, str] | None:
        """Return which rule makes the token impossible, and how; None if there is no proof."""
        return self._by_bytes(i, token) or self._by_rules(i, token) or self._by_merges(i) or self._by_pattern(i, token)

    def _raw(self, i: int) -> bytes | None:
        """Return the token as merges see it; None for a byte of a character that is not a token."""
        return self._model.tokens[i] if i < len(self._model.tokens) else None

    def _by_bytes(self, i: int, token: bytes) -> tuple[Rule, str] | None:
        text = text_of(token)
        if text is None and not texts_around(token, 1):
            return "utf-8", "UTF-8 never has these bytes; only bytes that are not text are encoded to it"
        if self._raw(i) is not None:
            return None
        if text in self._single:
            return "merges", f"this byte is the character {quoted(token)}, which is a token and not spelled in bytes"
        if text is None and token[0] in _TWO_BYTES and self._single.issuperset(texts_around(token, 64)):
            return "merges", "each of the 64 characters with this byte is a token, and not spelled in bytes"
        return None

    def _by_rules(self, i: int, token: bytes) -> tuple[Rule, str] | None:
        model, text, rules = self._model, text_of(token), self._model.sentencepiece
        if rules is not None and i in model.unused_parts:
            return "unused", "it is marked as unused, and replaced by its parts"
        if rules is not None and rules.escape_spaces and self._raw(i) is None and text == " ":
            return "normalization", "a space becomes U+2581"
        if text is None or (raw := self._raw(i)) is None:
            return None
        if model.normalization in _SETTLED_FORMS and (written := Rewriting(model.normalization)(text, True)) != text:
            return "normalization", f"{model.normalization} rewrites it to {quoted(written)}"
        inside = [part for part in self._cut_out if part in text or part.encode() in raw]
        if inside and i not in model.unmade_ids:
            return "added token", f"{quoted(inside[0])} is cut out of the text first"
        return None

    def _by_merges(self, i: int) -> tuple[Rule, str] | None:
        model, raw = self._model, self._raw(i)
        if raw is None or i in model.unmade_ids:
            return None
        ends = [merged(symbols, model.merge_of)[0] for symbols in spellings(model, raw)]
        text = self._piece(raw)
        if [i] in ends or (self._looks_up and text is not None and self._factors.can_be(text)):
            return None
        also = ", and it is not a whole piece of the pattern" if self._looks_up else ""
        if not ends:
            return "merges", f"it holds a character that is not a token, so nothing merges to it{also}"
        left = " ".join(quoted(model.tokens[k] or b"") for k in ends[0])
        if model.merge_rule == "pairs" and i not in self._made:
            return "merges", f"no merge makes it: its symbols merge to {left}{also}"
        return "merges", f"its symbols merge to {left}{also}"

    def _by_pattern(self, i: int, token: bytes) -> tuple[Rule, str] | None:
        raw = self._raw(i)
        if raw is None or i in self._model.unmade_ids:
            return None
        if (text := self._piece(raw)) is not None:
            return None if self._factors.can_hold(text) else ("pattern", "no piece of the pattern can hold it")
        # If only the end of a character is missing, all texts around it can be examined.
        every = texts_around(token, _ENDS + 1) if token[0] & 0xC0 != 0x80 else []
        if not every or len(every) > _ENDS or any(map(self._factors.can_hold, every)):
            return None
        return "pattern", f"no piece of the pattern can hold it with any of the {len(every)} characters it may begin"

    def _piece(self, raw: bytes) -> str | None:
        """Return the text of a token as the pattern sees it."""
        text = text_of(raw)
        if text is not None and self._model.end_of_word is not None:
            text = text.removesuffix(self._model.end_of_word) or text
        return text
