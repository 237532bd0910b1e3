"""The outcome of an implementation on a question, a corpus or a workload: the one enumeration of outcomes.

Which outcomes are faults, which mean that nothing ran and which end a process is decided here and nowhere else.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of asking one implementation; the value is what records and tables hold."""

    RIGHT = "right"
    MISMATCH = "mismatch"
    """Its answer is wrong."""
    UNVERIFIED = "unverified"
    """It answered, and nothing independent of it confirms the answer."""
    REFUSED = "refused"
    """It declines the model or the text."""
    MISSING = "missing"
    """It, its model or its corpus is not installed."""
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASH = "crash"
    """Its process died, or it raised an error that is not a refusal."""
    PANIC = "panic"
    """It raised what is not an `Exception`, such as a Rust panic."""
    PROTOCOL = "protocol"
    """It answered, but not as the protocol says, or not within the time it claims."""

    @property
    def is_fault(self) -> bool:
        """Return whether an implementation that should be exact is at fault; being too slow is not a fault."""
        return self not in _NO_FAULT

    @property
    def did_not_run(self) -> bool:
        """Return whether it gave no answer because it cannot: the model is not for it, or something is missing."""
        return self in _DID_NOT_RUN

    @property
    def ends_process(self) -> bool:
        """Return whether its process is gone or no longer to be trusted."""
        return self in _ENDS_PROCESS


_DID_NOT_RUN = (Outcome.REFUSED, Outcome.MISSING)
_NO_FAULT = (Outcome.RIGHT, Outcome.TIMEOUT, *_DID_NOT_RUN)
_ENDS_PROCESS = (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.CRASH, Outcome.PANIC, Outcome.PROTOCOL)
