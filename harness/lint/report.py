"""The report on a vocabulary's health: all findings as data, and which kinds of findings there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.lint import FINDINGS
from harness.lint.reach import Reach, reach
from harness.lint.tokens import Glitch, duplicates, glitch_candidates, parts_of_characters
from harness.measure.token_use import TokenUse
from harness.printable import readable
from impls import Tokenizer


@dataclass(frozen=True, slots=True)
class Health:
    """The findings on a vocabulary."""

    name: str
    tokenizer: Tokenizer
    reach: Reach
    use: TokenUse | None
    """How a corpus uses the vocabulary."""
    duplicates: dict[str, list[tuple[int, ...]]]
    """Groups of duplicate tokens, by normal form."""
    glitches: list[Glitch]

    def ids(self, finding: str) -> list[int]:
        """Return the tokens of a kind of finding; of a group of duplicates all but the first."""
        tokens = self.reach.tokens
        if finding == "unused-byte":
            return [one.id for one in self.reach.unreached if one.is_unused_byte]
        if finding in ("unreachable", "unreached"):
            unreached = [one for one in self.reach.unreached if not one.is_unused_byte]
            return [one.id for one in unreached if one.proven == (finding == "unreachable")]
        if finding == "unmet":
            return [] if self.use is None else [i for i in sorted(tokens) if not self.use.times[i]]
        if finding == "glitch":
            return [one.id for one in self.glitches]
        if finding == "partial":
            return [i for i in parts_of_characters(tokens) if len(tokens[i]) > 1]
        return [i for group in self.duplicates[finding.removeprefix("duplicate-")] for i in group[1:]]

    def document(self, fail_on: Sequence[str]) -> dict[str, Any]:
        """Return everything as a JSON-serialisable document; `failed` are the kinds of `fail_on` that were found."""
        tokens, use = self.reach.tokens, self.use
        corpus = None if use is None else {"text": use.text, "n_documents": use.n_documents, "n_bytes": use.n_bytes}
        return {
            "model": self.name,
            "implementation": self.tokenizer.name,
            "n_tokens": len(tokens),
            "corpus": corpus,
            "findings": {finding: len(self.ids(finding)) for finding in self.looked_for},
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
            "unmet": None if use is None else self.ids("unmet"),
            "glitch": [
                {"id": one.id, "token": readable(tokens[one.id]), "reasons": list(one.reasons)} for one in self.glitches
            ],
        }  # fmt: skip

    @property
    def looked_for(self) -> list[str]:
        """Return the kinds of findings that could be looked for: without a corpus, no unmet tokens."""
        return [finding for finding in FINDINGS if finding != "unmet" or self.use is not None]

    def failed(self, fail_on: Sequence[str]) -> list[str]:
        """Return the kinds of `fail_on` that were found."""
        return [finding for finding in dict.fromkeys(fail_on) if self.ids(finding)]


def health(name: str, tokenizer: Tokenizer, use: TokenUse | None) -> Health:
    """Return the health of a tokenizer's vocabulary, with its use by a corpus."""
    found = reach(tokenizer)
    return Health(
        name,
        tokenizer,
        found,
        use,
        {"nfc": duplicates(found.tokens, "NFC"), "nfkc": duplicates(found.tokens, "NFKC")},
        glitch_candidates(tokenizer.model, found, None if use is None else use.times),
    )
