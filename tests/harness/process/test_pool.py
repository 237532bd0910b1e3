"""Tasks on a pool of processes: each has its answer, or the verdict on the process it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.process import pool, session
from harness.process.limits import worker_limits
from harness.process.pool import Pool, run_tasks
from harness.process.session import Failed

_HERE = Path(__file__).resolve().parent


@pytest.fixture(autouse=True)
def tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_HERE))
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def test_answers_are_in_the_order_of_the_tasks_and_each_end_is_reported_once() -> None:
    import process_tasks

    ended: list[int] = []
    assert run_tasks(process_tasks.die_of, [(n,) for n in (5, 4, 3)], ended.append) == [5, 4, 3]
    assert sorted(ended) == [0, 1, 2]
    assert run_tasks(process_tasks.die_of, []) == []


def test_only_the_task_that_ends_its_process_is_without_an_answer() -> None:
    import process_tasks

    answers = run_tasks(process_tasks.die_of, [(n,) for n in range(5)])
    assert [answers[n] for n in (0, 1, 3, 4)] == [0, 1, 3, 4]
    assert isinstance(answers[2], Failed)
    assert answers[2].outcome == "crash"
    assert "the process ended with exit status 7" in answers[2].reason


def test_workers_stay_from_run_to_run_but_not_one_that_died_nor_any_after_the_pool() -> None:
    import process_tasks

    with Pool() as workers:
        first = workers.run(process_tasks.process_unless, [(0,), (1,)])
        assert set(workers.run(process_tasks.process_unless, [(0,), (1,), (3,)])) <= set(first)
        answers = workers.run(process_tasks.process_unless, [(2,), (0,)])
        assert isinstance(answers[0], Failed)
        later = {*workers.run(process_tasks.process_unless, [(0,), (1,), (3,), (4,)])}
        assert answers[1] in first
        assert all(psutil.pid_exists(process) for process in later)
    used = {*first, *later}
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, used)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, used))


def test_a_task_that_dies_of_what_ran_before_it_runs_again_in_a_process_of_its_own() -> None:
    import process_tasks

    assert run_tasks(process_tasks.kill_second_of_a_process, [(n,) for n in range(6)]) == [0, 1, 2, 3, 4, 5]


def test_a_task_that_takes_too_long_or_too_much_memory_has_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    import process_tasks

    with monkeypatch.context() as patch:
        patch.setattr(pool, "TASK_SECONDS", 1.0)
        (late,) = run_tasks(process_tasks.sleep, [(60,)])
    assert isinstance(late, Failed)
    assert (late.outcome, "took longer than 1 s" in late.reason) == ("timeout", True)
    monkeypatch.setattr(session, "worker_limits", lambda: worker_limits(300_000_000))
    (heavy,) = run_tasks(process_tasks.hold_for_a_while, [(400_000_000,)])
    assert isinstance(heavy, Failed)
    assert heavy.outcome == "out-of-memory"


def test_what_a_task_raises_is_raised_here_and_what_it_prints_is_on_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    import process_tasks

    with pytest.raises(RuntimeError, match="Unsendable: this: has two arguments"):
        run_tasks(process_tasks.raise_what_cannot_be_sent, [()])
    with pytest.raises(FileNotFoundError):
        run_tasks(os.stat, [(str(_HERE / "nowhere"),)])
    assert run_tasks(process_tasks.talk, [("some words",)]) == [""]
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.count("some words") == 2


_RUN = "from harness.process.pool import run_tasks; import process_tasks, pathlib; "


def test_no_worker_is_left_when_we_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    program = f"{_RUN}run_tasks(process_tasks.write_pid_and_wait, [(pathlib.Path({str(path)!r}),)])"
    killed = subprocess.Popen([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(_HERE)})
    while not path.exists() or not path.read_text():
        assert killed.poll() is None
        time.sleep(0.05)
    worker = psutil.Process(int(path.read_text()))
    killed.kill()
    killed.wait()
    assert not psutil.wait_procs([worker], timeout=20)[1]
