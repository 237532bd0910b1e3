"""The order of a run: which process measures what in which round, and which implementation is timed twice."""

from __future__ import annotations

import msgspec
import pytest
from toy_runs import PROFILE, workload

from harness.measure.run.session import copied_implementation
from harness.measure.schedule import Plan, keys, turns
from harness.records import Measurement

COPIED = msgspec.structs.replace(PROFILE, rounds=2, copies=True)


def test_workloads_of_a_label_share_a_process_with_one_another_alone() -> None:
    labels = ["", "", "", "one", "one", "two"]
    together = tuple(workload(f"w{number}", process=label) for number, label in enumerate(labels))
    plan = Plan(profile=PROFILE, implementations=("a",), workloads=together)
    assert sorted(len(turn.workloads) for turn in turns(plan)) == [1, 1, 2, 2, 3, 3]
    assert all(len({some.process for some in turn.workloads}) == 1 for turn in turns(plan))


def ran(name: str, n: int, status: str = "ok", copy: int = 0) -> list[Measurement]:
    return [
        Measurement(
            workload=f"w{number}", implementation=name, task="encode", model="m", corpus="c", status=status, copy=copy
        )  # type: ignore[arg-type]
        for number in range(n)
    ]


@pytest.mark.parametrize(
    ("records", "copied"),
    [
        ([*ran("a", 8), *ran("tiktoken", 6)], "tiktoken"),
        ([*ran("a", 8), *ran("tiktoken", 5)], "a"),
        ([*ran("a", 8), *ran("tiktoken", 8, "unsupported")], "a"),
        ([*ran("b", 3), *ran("tokenizers", 3), *ran("a", 3)], "tokenizers"),
        ([*ran("a", 8), *ran("tiktoken", 8), *ran("b", 1, copy=1)], "b"),
        (ran("a", 3, "missing"), None),
    ],
)
def test_a_copy_is_of_the_preferred_one_among_those_that_ran_three_quarters(
    records: list[Measurement], copied: str | None
) -> None:
    plan = Plan(profile=COPIED, implementations=("a", "b", "tokenizers", "tiktoken"), workloads=())
    assert copied_implementation(plan, records) == copied
    assert copied_implementation(msgspec.structs.replace(plan, profile=PROFILE), records) is None


def test_who_is_copied_changes_nothing_of_what_runs_before_the_choice() -> None:
    plan = Plan(profile=PROFILE, implementations=("a", "b", "c"), workloads=(workload("w0"), workload("w1")))
    alone = [turn for turn in turns(plan) if turn.round == 0]
    for name in plan.implementations:
        first = [turn for turn in turns(plan, name) if turn.round == 0]
        assert first[: len(alone)] == alone
        assert {(turn.implementation, turn.copy) for turn in first[len(alone) :]} == {(name, 1)}


def test_the_order_depends_on_the_seed_and_not_on_what_has_run() -> None:
    plan = Plan(
        profile=PROFILE,
        implementations=("a", "b", "c"),
        workloads=tuple(workload(f"w{number}") for number in range(6)),
    )
    assert list(turns(plan)) == list(turns(plan))
    other = Plan(**{name: getattr(plan, name) for name in plan.__struct_fields__} | {"seed": 1})
    assert list(turns(plan)) != list(turns(other))
    assert {key for turn in turns(plan) for key in keys(turn)} == {key for turn in turns(other) for key in keys(turn)}
