"""Round trip, agreement, and what a disagreement is made of."""

from harness.check.agreement import CheckPlan, CheckResult, check
from harness.check.shrink import smallest_text

__all__ = ["CheckPlan", "CheckResult", "check", "smallest_text"]
