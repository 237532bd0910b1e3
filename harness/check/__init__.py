"""Round trip and agreement of implementations and trainers."""

from harness.check.agreement import CheckPlan, CheckResult, check
from harness.check.trainers import TrainerPlan, TrainerResult, check_trainers

__all__ = [
    "CheckPlan",
    "CheckResult",
    "TrainerPlan",
    "TrainerResult",
    "check",
    "check_trainers",
]
