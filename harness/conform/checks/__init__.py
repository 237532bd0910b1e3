"""The checks of the conformance kit, one function each."""

from harness.conform.checks.catalogue import CHECKS, Check

__all__ = ["CHECKS", "Check"]
