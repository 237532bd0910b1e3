"""The same text must give the same answers: after others, after errors, on other threads, in a child."""

from __future__ import annotations

from functools import partial
from itertools import count, cycle, islice, pairwise

from harness.conform import questions
from harness.conform.adapter import N_THREADS
from harness.conform.case import Case
from harness.conform.checks.asking import ask_all
from harness.conform.checks.over_texts import texts_for
from harness.conform.client import TargetClient
from harness.conform.digests import CALLS, Digests
from harness.conform.verdicts import Fault, NotAsked, Stage
from harness.conform.wording import expression
from harness.generators.texts import prose
from harness.outcome import Outcome
from harness.process.session import Failed

ENVIRONMENT = {"PYTHONHASHSEED": "0", "LC_ALL": "C"}
"""What the other process has; the hash seed of the current one is random."""
_LONGEST = 2_000  # characters
_OTHERS = 1_000
_ALL_PIECES_AT = 2e5  # characters a second; slower targets are asked fewer pieces
_SLOWER, _SLOWER_SECONDS = 5.0, 20e-6
_NUMBERS = count()
_CHILD_SLOWER = 4
"""How much slower a forked child may be: it has half the time of a call, however busy the machine."""
_LONGER = 3_000  # characters; long enough that calls overlap
HELD_CALLS, _HELD_SECONDS = 100_000, 7.5  # for each of six calls
_HELD_TEXTS = "hello, wörld \ufffd", "hello world", ""
_MOST_BYTES_A_CALL, _MOST_FILES = 60.0, 8


def state(case: Case) -> None:
    """Check a text again after others, a batch, errors, many pieces, in other threads and processes."""
    for first_texts in (questions.in_turn(case.seed), questions.alike(case.seed)):
        case.client.fresh()
        ask_all(case, first_texts, ("encode",))
    case.client.fresh()
    texts = [text for text in texts_for(case, 500) if 0 < len(text) <= _LONGEST]
    calls = case.client.offered((*CALLS[:-1], "special"))
    texts = case.affordable_part(texts, _CHILD_SLOWER * len(calls))
    first = case.client.digests(texts, calls)

    def again(what: str, stage: Stage = "cache", where: str = "here", client: TargetClient = case.client) -> None:
        fault = _changed(case, texts, first, client, where, what, stage)
        case.n_inputs += len(texts)
        if fault is not None:
            raise case.in_overtime(partial(_explained, case, fault), fault) if stage == "cache" else fault

    case.client.digests(texts_for(case)[-_OTHERS:])
    again(f"after {_OTHERS:,} other texts")
    if case.client.offers("encode_batch"):
        case.client.ask("encode_batch", texts=texts)
        again("after a batch")
    case.client.decode([case.reference.model.vocab_size + 1_000])
    case.client.ids("a\ud83d")
    again("after errors", "bad input")
    if case.client.offers("digests"):
        again("in another thread", "threads", "thread")
        again("in a child that was forked after the first call", "process", "child")
        again("after a child was forked", "process")
        again("by another object", "determinism", "another object")
        again("by a pickled copy", "determinism", "copy")
        again("after another object was made", "determinism")
    else:
        case.remarks.append("not asked: threads and a forked child, since the target is not a Python object")
    with case.client.another(ENVIRONMENT) as other:
        again(f"in another process ({', '.join(map('='.join, ENVIRONMENT.items()))})", "determinism", client=other)
    _many_pieces(case)
    _held(case)
    again("after many pieces")


def _explained(case: Case, fault: Fault) -> Fault:
    """Return the fault of ids that are wrong now, or the given one of an answer that was another before."""
    answer = case.client.ids(fault.text)
    return case.explain(fault.text, answer, case.has_wrong_ids) if case.has_wrong_ids(fault.text, answer) else fault


def _changed(
    case: Case, texts: list[str], first: Digests, client: TargetClient, where: str, what: str, stage: Stage
) -> Fault | None:
    """Return the fault if an answer given elsewhere or later is not the first one; note what was refused."""
    if where == "here":
        got: Digests | Failed = client.digests(texts, list(first))
    else:
        seconds = client.session.limits.call_seconds / 2  # a child that takes longer hangs
        got = client.ask("digests", texts=texts, calls=list(first), seconds_left=seconds, where=where)
    if isinstance(got, Failed):  # no answer is a fault, anything else a stated refusal, also of room for two objects
        is_too_much = where in ("another object", "copy") and got.outcome in (Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)
        if got.kind == "RuntimeError" or (got.outcome.ends_process and not is_too_much):
            return Fault(stage, f"{what}: {got}")
        case.remarks.append(f"not asked {what}: {got}")
        return None
    for call, known in first.items():
        pairs = zip(cycle(zip(texts, known, strict=True)), got[call], strict=False)
        wrong = [text for (text, a), b in pairs if a != b]
        if wrong and not (stage == "process" and set(got[call]) == {None}):
            text = min(wrong, key=len)
            beside = tuple(other for other in texts if other != text)[:8]
            reason = f"{what} {call} gives another answer for {expression(text)}"
            return Fault(stage, reason, text=text, after=beside if where == "threads" else ())
    return None


def threads(case: Case) -> None:
    """Check that many threads that call all methods of one object at once have the answers of one thread."""
    texts = [text for text in texts_for(case, 120) if 0 < len(text) <= _LONGEST]
    texts += [*(f"a {name} b" for name in case.special_names[:2]), prose(_LONGER, case.seed)]
    calls = case.client.offered((*CALLS, "special"))
    texts = case.affordable_part(texts, N_THREADS["threads"] * len(calls))
    alone = case.client.digests(texts, calls)
    if set(alone["encode"]) == {None}:
        raise NotAsked(f"encode refuses all of {len(texts):,} texts")
    if (fault := _changed(case, texts, alone, case.client, "here", "asked again", "cache")) is not None:
        raise case.in_overtime(partial(_explained, case, fault), fault)

    def fault_of(some: tuple[str, ...], where: str = "threads") -> Fault | None:
        of_some = {call: [numbers[texts.index(text)] for text in some] for call, numbers in alone.items()}
        case.n_inputs += len(some)
        return _changed(case, list(some), of_some, case.client, where, f"on {N_THREADS[where]} threads", "threads")

    short = tuple(sorted(texts, key=len)[1:9])
    for some in (tuple(texts), short * 20) * 3:
        if (fault := fault_of(some)) is not None:
            raise case.smallest_fault(some, fault_of, fault, pairwise(short))
    few = tuple(sorted(texts, key=len)[: len(texts) // 2 : max(1, len(texts) // 16)])
    if not case.affordable(N_THREADS["many threads"] * len(calls) * sum(map(len, few))):
        case.remarks.append(f"not asked: {N_THREADS['many threads']} threads at once, since the target is slow")
    elif (fault := fault_of(few, "many threads")) is not None:
        raise fault
    for _ in range(2):
        case.client.fresh()
        if (fault := fault_of(short)) is not None:
            fault.reason = f"among the first calls of a process: {fault.reason}"
            raise fault


def _many_pieces(case: Case) -> None:
    """Ask a million distinct pieces of one process, fewer of a slow target."""
    speed = case.client.characters_per_second or _ALL_PIECES_AT
    n_pieces = int(questions.N_PIECES * min(1.0, speed / (_ALL_PIECES_AT or speed)))
    if n_pieces < questions.N_PIECES:
        case.remarks.append(f"{n_pieces:,} of {questions.N_PIECES:,} pieces, since the target is slow")
    before, texts, n_asked = _pace(case), questions.many_pieces(n_pieces), 0
    while some := list(islice(texts, 5_000)):
        ask_all(case, some, ("encode",))
        n_asked, after = n_asked + len(some), _pace(case)
        if after > _SLOWER * before and after > before + _SLOWER_SECONDS:
            case.client.fresh()
            if after > _SLOWER * (afresh := _pace(case)):
                then = f"{after * 1e6:,.0f} µs after {n_asked:,} others"
                raise Fault("resources", f"a text takes {then}, {afresh * 1e6:,.0f} µs in a fresh process")


def _pace(case: Case) -> float:
    """Return the least processor seconds of a call, where the target can say."""
    if not case.client.offers("timed_encode"):
        return 0.0
    texts = [f"the state of {next(_NUMBERS)}" for _ in range(20)]  # new to the process
    times = [case.client.ask("timed_encode", text=text) for text in texts]
    return min((seconds for seconds in times if not isinstance(seconds, Failed)), default=0.0)


def _held(case: Case) -> None:
    """Raise a fault if equal calls leave memory or open files behind."""
    if not case.client.offers("held"):
        case.remarks.append("not asked: what equal calls leave in memory, since the target is not a Python object")
        return
    text = next(text for text in _HELD_TEXTS if isinstance(case.reference.ids(text), list))
    calls = case.client.offered(CALLS)
    before = case.client.digests([text], calls)
    seconds = min(_HELD_SECONDS, case.client.seconds_a_call / 4)
    answer = case.client.ask("held", text=text, n_calls=HELD_CALLS, seconds_left=seconds)
    if isinstance(answer, Failed):
        raise Fault("memory", f"{HELD_CALLS:,} equal calls end in {answer}", text=text)
    if (fault := _changed(case, [text], before, case.client, "here", "after many equal calls", "cache")) is not None:
        raise fault
    few = [n for n, _, _ in answer.values() if n < HELD_CALLS]
    case.is_cut |= bool(few) and seconds < _HELD_SECONDS
    for call, (n, n_bytes, n_files) in answer.items():
        case.n_inputs += n
        if n_bytes > _MOST_BYTES_A_CALL * (HELD_CALLS / n if n else 1):
            reason = f"each of {n:,} equal calls of {call} leaves {n_bytes:,.0f} bytes in memory"
            raise Fault("memory", reason, text=text, expected="none", got=f"{n_bytes:,.0f} bytes")
        if n_files > _MOST_FILES:
            raise Fault("memory", f"{n:,} equal calls of {call} leave {n_files:,} files open", text=text)
    if few:
        case.remarks.append(f"memory after {min(few):,} of {HELD_CALLS:,} equal calls, since the target is slow")
