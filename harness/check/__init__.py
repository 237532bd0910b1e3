"""Round trip and agreement of implementations and trainers, and the smallest text that shows a disagreement."""

from harness.check.agreement import CheckPlan, CheckResult, check
from harness.check.shrink import smallest_text
from harness.check.trainers import TrainerPlan, TrainerResult, check_trainers

__all__ = [
    "CheckPlan",
    "CheckResult",
    "TrainerPlan",
    "TrainerResult",
    "check",
    "check_trainers",
    "smallest_text",
]
