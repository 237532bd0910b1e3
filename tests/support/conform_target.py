"""A target in a process of its own, whose failures are raised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.conform.client import TargetClient
from harness.process.limits import DEFAULT_LIMITS, Limits
from harness.process.session import Failed, Session
from harness.targets import TargetSpec


class Target(TargetClient):
    def __init__(self, spec: TargetSpec, limits: Limits = DEFAULT_LIMITS, env: Mapping[str, str] | None = None) -> None:
        super().__init__(lambda more: Session(spec.command(), limits, {**(env or {}), **more}))

    def call(self, operation: str, **arguments: Any) -> Any:
        answer = self.ask(operation, **arguments)
        return answer.result() if isinstance(answer, Failed) else answer

    def encode(self, text: str, **options: Any) -> Any:
        return self.call("encode", text=text, **options)

    def restart(self, limits: Limits) -> None:
        self.session.limits = limits
        self.fresh()
