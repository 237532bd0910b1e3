"""The conformance kit as a test class: subclass it, name your tokenizer, and pytest runs one test per check.

    from harness.conform.pytest_class import ConformanceTests

    class TestMyTokenizer(ConformanceTests):
        target = "mytokenizer:MyTokenizer"

The run happens once per class, on its first test. Needs pytest, which is not installed with this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from harness.conform.checks.catalogue import CHECKS
from harness.conform.report import failure_text
from harness.conform.run import run
from harness.conform.verdicts import ConformanceReport
from harness.targets import DEFAULT_MODEL


class ConformanceTests:
    """One test per check. Checks that the tokenizer does not support or that could not run are skipped with the reason.

    A run that could judge nothing fails.
    """

    target: ClassVar[str]
    """Like TARGET of `bpebench conform`: `module:object`, a model file, `cmd:COMMAND`, …"""
    reference: ClassVar[str] = "tiktoken"
    model: ClassVar[str] = DEFAULT_MODEL
    """Name or path of the vocabulary both sides run."""
    library: ClassVar[str | None] = None
    """The library that runs the target, where that is a model file."""
    only: ClassVar[tuple[str, ...]] = ()
    """Checks to run; empty for all."""
    expected_failures: ClassVar[Mapping[str, str]] = {}
    """Check -> why it is known to fail; such a test is an expected failure, and fails once the check passes."""

    @pytest.fixture(scope="class")
    def conformance(self) -> ConformanceReport:
        """Run the kit and return its report."""
        cls = type(self)
        return run(cls.target, cls.reference, cls.model, library=cls.library, only=cls.only)

    @pytest.mark.parametrize("check", [check.name for check in CHECKS])
    def test_conforms(self, conformance: ConformanceReport, check: str) -> None:
        """Fail or skip by the verdict of one check."""
        verdict = next((found for found in conformance.verdicts if found.check == check), None)
        if verdict is None:
            pytest.skip("not chosen")
        if conformance.unjudged and not conformance.failed:
            pytest.fail(f"{conformance.unjudged}: {verdict.status}: {verdict.reason}", pytrace=False)
        if verdict.status in ("not offered", "not asked"):
            pytest.skip(f"{verdict.status}: {verdict.reason}")
        known = self.expected_failures.get(check)
        if verdict.status == "failed":
            if known is not None:
                pytest.xfail(known)
            pytest.fail(failure_text(verdict), pytrace=False)
        if known is not None:
            pytest.fail(f"{check} passes now; take it out of expected_failures ({known})", pytrace=False)
