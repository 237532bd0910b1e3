"""The report on a vocabulary's health: all findings as data, and which kinds of findings there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.lint import FINDINGS
from harness.lint.proofs import text_of
from harness.lint.reach import Reach, reach
from harness.printable import readable
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
            return [one.id for one in self.reach.unreached if one.is_unused_byte]
        if finding in ("unreachable", "unreached"):
            unreached = [one for one in self.reach.unreached if not one.is_unused_byte]
            return [one.id for one in unreached if one.proven == (finding == "unreachable")]
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
                {"id": one.id, "token": readable(one.token), "proven": one.proven, "rule": one.rule, "why": one.why,
                 "ids": None if one.ids is None else list(one.ids)}
                for one in self.reach.unreached
            ],
            "only_in_context": [
                {"id": i, "token": readable(tokens[i]), "ids": list(found.ids), "text": found.text}
                for i, found in self.reach.elsewhere.items()
                if found.ids is not None
            ],
            "partial": self.ids("partial"),
            "duplicates": {form: [list(group) for group in groups] for form, groups in self.duplicates.items()},
        }  # fmt: skip

    def failed(self, fail_on: Sequence[str]) -> list[str]:
        """Return the kinds of `fail_on` that were found."""
        return [finding for finding in dict.fromkeys(fail_on) if self.ids(finding)]


def health(name: str, tokenizer: Tokenizer) -> Health:
    """Return the health of a tokenizer's vocabulary."""
    found = reach(tokenizer)
    forms: tuple[Form, ...] = ("NFC", "NFKC")
    return Health(name, tokenizer, found, {form.lower(): duplicates(found.tokens, form) for form in forms})


def duplicates(tokens: Mapping[int, bytes], form: Form) -> list[tuple[int, ...]]:
    """Return the groups of tokens whose text is the same in a normal form; case and white space are significant.

    >>> duplicates({1: "é".encode(), 2: "e\\u0301".encode(), 3: b"e"}, "NFC")
    [(1, 2)]
    """
    groups: dict[str, list[int]] = {}
    ascii_ids: dict[str, int] = {}
    for i, token in tokens.items():
        if token.isascii():
            ascii_ids[token.decode()] = i
        elif (text := text_of(token)) is not None:
            groups.setdefault(normal_form(form, text), []).append(i)
    for text, ids in groups.items():
        if text in ascii_ids:
            ids.append(ascii_ids[text])
    return sorted(tuple(sorted(ids)) for ids in groups.values() if len(ids) > 1)
