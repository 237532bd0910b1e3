"""The same text must give the same answers: after others, after errors, on other threads, in a child, once loaded."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from harness.conform import questions
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all
from harness.conform.checks.over_texts import texts_for
from harness.conform.client import NoAnswerElsewhere, TargetClient
from harness.conform.digests import CALLS, Digests
from harness.conform.reference import Answer
from harness.conform.verdicts import Fault, Stage
from harness.conform.wording import expression
from harness.process.session import Failed

HASH_SEED = "0"
"""Hash seed of the other process; that of the current one is random."""
_TEXTS = 500
_LONGEST = 2_000  # characters
_OTHERS = 1_000
_ALL_PIECES_AT = 2e5  # characters a second; slower targets are asked fewer pieces
_BETWEEN = 5_000  # texts asked between two timings
_SLOWER, _SLOWER_SECONDS = 5.0, 20e-6
_SAVED_TEXTS, _DECODED = 300, 50
HELD_CALLS = 100_000
_MOST_BYTES_A_CALL, _MOST_FILES = 60.0, 8
_HELD_SECONDS = 15.0
_ELSEWHERE: tuple[tuple[str, Stage, str], ...] = (
    ("thread", "threads", "in another thread"),
    ("beside", "threads", "while another thread encodes"),
    ("child", "process", "in a child that was forked after the first call"),
)


def state(case: Case) -> str:
    """Check a text again after others, a batch, errors, many pieces, in other threads and processes."""
    remarks: list[str] = []
    for first_texts in (questions.in_turn(case.seed), questions.alike(case.seed)):
        case.client.fresh()
        remarks.append(ask_all(case, first_texts, ("encode",)))
    case.client.fresh()
    texts = [text for text in texts_for(case, _TEXTS) if 0 < len(text) <= _LONGEST]
    calls = [call for call in CALLS[:-1] if call in ("encode", "decode") or case.client.offers(call)]
    first = case.client.digests(texts, calls)

    def again(what: str, stage: Stage = "cache", client: TargetClient = case.client, where: str = "here") -> None:
        case.n_inputs += len(texts)
        _same(case, texts, calls, first, lambda: client.digests(texts, calls, where), f"{what}", stage)

    list(case.client.ids_of_all(texts_for(case)[-_OTHERS:]))
    again(f"after {_OTHERS:,} other texts")
    if case.client.offers("encode_batch"):
        case.client.ask("encode_batch", texts=texts)
        again("after a batch")
    for _ in _errors(case):
        again("after an error", "bad input")
    for where, stage, what in _ELSEWHERE if case.client.offers("digests") else ():
        again(what, stage, where=where)
    with case.client.another({"PYTHONHASHSEED": HASH_SEED}) as other:
        again(f"in another process (PYTHONHASHSEED={HASH_SEED})", "determinism", other)
    if not case.client.offers("digests"):
        remarks.append("not asked: threads and a forked child, since the target is not a Python object")
    remarks += [_many_pieces(case), _held(case)]
    again("after many pieces")
    return "; ".join(dict.fromkeys(filter(None, remarks)))


def _same(
    case: Case,
    texts: list[str],
    calls: list[str],
    first: Digests,
    answer: Callable[[], Digests],
    what: str,
    stage: Stage,
) -> None:
    """Raise a fault if an answer is not the first one."""
    try:
        got = answer()
    except NoAnswerElsewhere as error:
        if (
            error.failed.kind == "RuntimeError" or error.failed.outcome.ends_process
        ):  # no answer; anything else is a stated refusal
            raise Fault(stage, f"{what}: {error.failed}") from None
        return
    for call in calls:
        wrong = [text for text, a, b in zip(texts, first[call], got[call], strict=False) if a != b]
        if got[call] and wrong and not (stage == "process" and set(got[call]) == {None}):
            text = min(wrong, key=len)
            if stage == "cache" and call == "encode" and isinstance(now := case.client.ids(text), list):
                raise case.explain(text, now, case.agrees)
            raise Fault(stage, f"{what} {call} gives another answer for {expression(text)}", text=text)


def _errors(case: Case) -> Iterator[None]:
    """Make calls that end in errors, one kind after the other."""
    beyond = case.reference.model.vocab_size + 1_000
    case.client.decode([beyond])
    yield
    case.client.ids("a\ud83d")
    if case.client.offers("disallowed_special"):
        for name in sorted(case.reference.model.special_tokens)[:2]:
            case.client.ids(f"a{name}", disallowed_special="all")
    yield


def _many_pieces(case: Case) -> str:
    """Ask a million distinct pieces of one process, fewer of a slow target."""
    speed = case.client.characters_per_second or _ALL_PIECES_AT
    n_pieces = questions.N_PIECES if speed >= _ALL_PIECES_AT else int(questions.N_PIECES * speed / _ALL_PIECES_AT)
    before, texts, n_asked = _pace(case), questions.many_pieces(n_pieces), 0
    while some := list(islice(texts, _BETWEEN)):
        ask_all(case, some, ("encode",))
        n_asked, after = n_asked + len(some), _pace(case)
        if after > _SLOWER * before and after > before + _SLOWER_SECONDS:
            case.client.fresh()
            if after > _SLOWER * (afresh := _pace(case)):
                then = f"{after * 1e6:,.0f} µs after {n_asked:,} others"
                raise Fault("resources", f"a text takes {then}, {afresh * 1e6:,.0f} µs in a fresh process")
    return f"{n_pieces:,} of {questions.N_PIECES:,} pieces, of a slow target" if n_pieces < questions.N_PIECES else ""


def _pace(case: Case) -> float:
    """Return the least processor seconds of a call, where the target can say."""
    if not case.client.offers("timed_encode"):
        return 0.0
    first = case.client.asked.calls  # texts that are new to the process
    times = [case.client.ask("timed_encode", text=f"the state of {first + n}", loops=1) for n in range(20)]
    return min((seconds for seconds in times if not isinstance(seconds, Failed)), default=0.0)


def _held(case: Case) -> str:
    """Raise a fault if equal calls leave memory or open files behind."""
    if not case.client.offers("held"):
        return "not asked: what equal calls leave in memory, since the target is not a Python object"
    seconds = min(_HELD_SECONDS, case.client.limits.call_seconds / 4)
    answer = case.client.ask("held", text="hello world", n_calls=HELD_CALLS, seconds_left=seconds)
    if isinstance(answer, Failed):
        raise Fault("memory", f"{HELD_CALLS:,} equal calls end in {answer}", text="hello world")
    few = [n for n, _, _ in answer.values() if n < HELD_CALLS]
    for call, (n, n_bytes, n_files) in answer.items():
        case.n_inputs += n
        if n_bytes > _MOST_BYTES_A_CALL * (HELD_CALLS / n if n else 1):
            reason = f"each of {n:,} equal calls of {call} leaves {n_bytes:,.0f} bytes in memory"
            raise Fault("memory", reason, text="hello world", expected="none", got=f"{n_bytes:,.0f} bytes")
        if n_files > _MOST_FILES:
            raise Fault("memory", f"{n:,} equal calls of {call} leave {n_files:,} files open", text="hello world")
    return f"memory after {min(few):,} of {HELD_CALLS:,} equal calls, of a slow target" if few else ""


def save_load(case: Case) -> None:
    """Check for the same answers after `save(path)`, and after `load(path)` in a fresh process."""
    texts = texts_for(case, _SAVED_TEXTS)
    specials = [f"a {name} b" for name in sorted(case.reference.model.special_tokens)[:_DECODED]]

    def answers() -> list[tuple[str, str, Answer | str]]:
        """Return (operation, text, answer) for ids, what they decode to, and ids with special tokens."""
        found = list(zip(texts, case.client.ids_of_all(texts), strict=True))
        decoded = [(text, case.client.decode(ids)) for text, ids in found[-_DECODED:] if isinstance(ids, list)]
        allowed: dict[str, Any] = {}
        if case.client.offers("allowed_special"):
            allowed = {"allowed_special": "all", "disallowed_special": []}
        special = [(text, case.client.ids(text, **allowed)) for text in specials]
        return [
            *(("ids", *one) for one in found),
            *(("text of its ids", *one) for one in decoded),
            *(("ids with special tokens", *one) for one in special),
        ]

    before = answers()
    with tempfile.TemporaryDirectory() as folder:
        for operation in ("save", "load"):
            answer = case.client.ask(operation, path=str(Path(folder) / "saved"))
            if isinstance(answer, Failed):
                raise Fault("saving", f"{operation} failed with {answer}")
            after = answers()
            case.client.fresh()
            for (what, text, expected), (_, _, got) in zip(before, after, strict=True):
                case.n_inputs += 1
                if expected != got and not (isinstance(expected, Failed) and isinstance(got, Failed)):
                    reason = f"after {operation} it gives other {what}"
                    raise Fault("saving", reason, text=text, expected=expected, got=got)
