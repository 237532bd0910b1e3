"""The report on a vocabulary's health: all findings as data, and which kinds of findings there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.grouping import grouped
from harness.lint import FINDINGS
from harness.lint.reach import Reach, reach
from harness.printable import readable, text_of
from impls import Tokenizer
from impls.core.text.normal_forms import Form, normal_form


@dataclass(frozen=True, slots=True)
class Health:
    """The findings on a vocabulary."""

    name: str
    tokenizer: Tokenizer
    reach: Reach
    duplicates: dict[str, list[tuple[int, ...]]]
    """Groups of duplicate tokens, by normal form."""

    def ids(self, finding: str) -> list[int]:
        """Return the tokens of a kind of finding; of a group of duplicates all but the first."""
        if finding == "unused-byte":
            return [token.id for token in self.reach.unreached if token.is_unused_byte]
        if finding in ("unreachable", "unreached"):
            unreached = [token for token in self.reach.unreached if not token.is_unused_byte]
            return [token.id for token in unreached if token.proven == (finding == "unreachable")]
        if finding == "partial":
            return [i for i, token in self.reach.tokens.items() if len(token) > 1 and text_of(token) is None]
        return [i for group in self.duplicates[finding.removeprefix("duplicate-")] for i in group[1:]]

    def document(self, fail_on: Sequence[str]) -> dict[str, Any]:
        """Return everything as a JSON-serialisable document; `failed` are the kinds of `fail_on` that were found."""
        tokens = self.reach.tokens
        return {
            "model": self.name,
            "implementation": self.tokenizer.name,
            "n_tokens": len(tokens),
            "findings": {finding: len(self.ids(finding)) for finding in FINDINGS},
            "failed": self.failed(fail_on),
            "unreached": [
                asdict(unreached) | {"token": readable(unreached.token)} for unreached in self.reach.unreached
            ],
            "only_in_context": [
                {"id": i, "token": readable(tokens[i]), "ids": elsewhere.ids, "text": elsewhere.text}
                for i, elsewhere in self.reach.elsewhere.items()
                if elsewhere.ids is not None
            ],
            "partial": self.ids("partial"),
            "duplicates": self.duplicates,
        }

    def failed(self, fail_on: Sequence[str]) -> list[str]:
        """Return the kinds of `fail_on` that were found."""
        return [finding for finding in dict.fromkeys(fail_on) if self.ids(finding)]


def health_of(name: str, tokenizer: Tokenizer) -> Health:
    """Return the health of a tokenizer's vocabulary."""
    reached = reach(tokenizer)
    same = {"nfc": duplicates(reached.tokens, "NFC"), "nfkc": duplicates(reached.tokens, "NFKC")}
    return Health(name, tokenizer, reached, same)


def duplicates(tokens: Mapping[int, bytes], form: Form) -> list[tuple[int, ...]]:
    """Return the groups of tokens whose text is the same in a normal form; case and white space are significant.

    >>> duplicates({1: "é".encode(), 2: "e\\u0301".encode(), 3: b"e"}, "NFC")
    [(1, 2)]
    """
    texts = {i: text for i, token in tokens.items() if (text := text_of(token)) is not None}
    groups = grouped(texts, lambda i: normal_form(form, texts[i]))
    return sorted(tuple(sorted(ids)) for ids in groups.values() if len(ids) > 1)
