"""The checks of the conformance kit, in the order they run: what is asked, one function each."""

from harness.conform.checks.catalogue import CHECKS, Check

__all__ = ["CHECKS", "Check"]
