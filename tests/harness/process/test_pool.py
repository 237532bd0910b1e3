"""Tasks on a pool of processes: each has its answer, or the verdict on the process it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from refusals import refused

from harness.outcome import Outcome
from harness.process.pool import Pool
from harness.process.session import Failed

_HERE = Path(__file__).resolve().parent


def run_tasks(*arguments: Any, **options: Any) -> list[Any]:
    with Pool() as pool:
        return pool.run(*arguments, **options)


@pytest.fixture(autouse=True)
def tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(_HERE))
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def test_answers_are_in_order_and_only_the_task_that_ends_its_process_is_without_one() -> None:
    import process_tasks

    ended: list[int] = []
    answers = run_tasks(process_tasks.die_of, [(n,) for n in (5, 4, 2, 0)], ended.append)
    assert [answers[n] for n in (0, 1, 3)] == [5, 4, 0]
    assert answers[2] == Failed(Outcome.CRASH, "the process ended with exit status 7")
    assert sorted(ended) == [0, 1, 2, 3]
    assert run_tasks(process_tasks.die_of, []) == []


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

    assert run_tasks(process_tasks.kill_second_of_a_process, [(n,) for n in range(4)]) == [0, 1, 2, 3]


def test_a_task_that_takes_too_long_has_its_verdict() -> None:
    import process_tasks

    assert run_tasks(process_tasks.sleep, [(60,)], seconds=1.0) == [Failed(Outcome.TIMEOUT, "took longer than 1 s")]


def test_errors_of_a_task_are_raised_here_and_its_output_is_in_ours(
    capfd: pytest.CaptureFixture[str],
) -> None:
    import process_tasks

    refused(FileNotFoundError, None, run_tasks, os.stat, [(str(_HERE / "nowhere"),)])
    assert run_tasks(process_tasks.talk, [("some words",)]) == [""]
    captured = capfd.readouterr()
    assert (captured.out, captured.err.count("some words")) == ("", 2)


_RUN = "from harness.process.pool import Pool; import process_tasks, pathlib; "


def test_no_worker_is_left_when_we_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    program = f"{_RUN}Pool().run(process_tasks.write_pid_and_wait, [(pathlib.Path({str(path)!r}),)])"
    killed = subprocess.Popen([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(_HERE)})
    while not path.exists() or not path.read_text():
        assert killed.poll() is None
        time.sleep(0.05)
    worker = psutil.Process(int(path.read_text()))
    killed.kill()
    killed.wait()
    assert not psutil.wait_procs([worker], timeout=20)[1]
