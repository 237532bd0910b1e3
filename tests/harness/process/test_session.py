"""A session: every question has an answer or an outcome, and a process that died is replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from refusals import refused

from harness.outcome import Outcome
from harness.process.limits import Limits, NotStarted
from harness.process.session import Answer, Failed, FailedError, Session, functions
from impls import Missing, Unsupported

_HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_HERE))
        with functions(Limits(memory_bytes=300_000_000)) as session:
            yield session


def test_a_process_keeps_what_it_loaded_until_it_dies_and_is_then_replaced(session: Session) -> None:
    import process_tasks

    first = session.call(os.getpid).result()
    assert session.call(os.getpid) == Answer(first)
    died = session.call(process_tasks.die_of, 2)
    assert died == Failed(Outcome.CRASH, "the process ended with exit status 7")
    assert not session.is_running
    assert session.call(os.getpid).result() != first


def test_what_waits_for_a_processor_is_not_late(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    import process_tasks

    waited = count()
    monkeypatch.setattr("harness.process.memory.waiting_seconds", lambda pid: float(next(waited)))
    assert isinstance(session.call(process_tasks.sleep, 0.8, seconds=0.5), Answer)


def test_what_a_function_raises_is_an_outcome_and_the_error_itself(session: Session) -> None:
    import process_tasks

    for error, outcome in (
        (Missing("nothing", "not installed"), Outcome.MISSING),
        (Unsupported("nothing", "not this model"), Outcome.REFUSED),
        (ValueError("no"), Outcome.CRASH),
        (KeyboardInterrupt("no"), Outcome.PANIC),
        (MemoryError(), Outcome.OUT_OF_MEMORY),
    ):
        failed = session.call(process_tasks.raise_this, error)
        assert isinstance(failed, Failed)
        assert (failed.outcome, type(failed.raised)) == (outcome, type(error))
    refused(Unsupported, None, session.call(process_tasks.raise_this, Unsupported("nothing", "not this model")).result)
    with pytest.raises(FailedError, match="raised Unsendable: this: has two arguments"):
        session.call(process_tasks.raise_what_cannot_be_sent).result()


def test_the_answers_of_a_program_must_be_of_the_shape_asked_for() -> None:
    program = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'id': asked['id'], **asked['answer']}), flush=True)\n"
    )
    with Session([sys.executable, "-c", program]) as session:
        assert session.ask("encode", shape=list[int], answer={"result": [1, 2]}) == Answer([1, 2])
        refused = session.ask("encode", answer={"error": "ValueError", "message": "no"})
        assert refused == Failed(Outcome.REFUSED, "ValueError: no", "ValueError", "no")
        assert session.is_running
        malformed = session.ask("encode", shape=list[int], answer={"result": ["1"]})
        panicked = session.ask("encode", answer={"error": "Panic", "message": "no", "status": "panic"})
        assert not session.is_running
        outcomes = [one.outcome for one in (malformed, panicked) if isinstance(one, Failed)]
        assert outcomes == [Outcome.PROTOCOL, Outcome.PANIC]
        for status in ("right", "timeout", "fine"):
            odd = session.ask("encode", answer={"error": "E", "message": "", "status": status})
            assert odd == Failed(Outcome.PROTOCOL, f"answered with the unknown status {status!r}")
    with Session(["no-such-program"]) as session, pytest.raises(NotStarted, match="no such program"):
        session.ask("encode")
