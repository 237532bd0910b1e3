"""Is every token encoded and decoded, and are ids that no text encodes to: in any order, cut, repeated?"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from harness.conform import questions
from harness.conform.case import Case
from harness.conform.checks.asking import Ids, ask_all, ask_lists
from harness.conform.checks.over_texts import texts_for
from harness.conform.reference import Answer
from harness.conform.verdicts import Fault
from harness.conform.wording import answered
from harness.generators.texts import RandomIds
from harness.process.session import Failed


def tokens(case: Case) -> None:
    """Check that every token encodes as the reference does, and decodes alone and between its neighbours."""
    _vocabulary(case)
    ask_all(case, questions.tokens(case.reference.model))
    ask_all(case, questions.tokens_and_zero(case.reference.model), ("encode",))
    ask_lists(case, questions.decoded_lists(case.reference.model))


def _vocabulary(case: Case) -> None:
    """Raise a fault if the number of ids, a declared special token, or `token_bytes` of some ids is wrong."""
    by_id, model = case.reference.bytes_by_id, case.reference.model
    described = case.client.description
    sizes = {model.vocab_size, len(by_id), max(by_id) + 1}
    if described.n_vocab is not None and described.n_vocab not in sizes:
        wanted = " or ".join(map(str, sorted(sizes)))
        raise Fault("vocabulary", f"it says that it has {described.n_vocab:,} ids; the model has {wanted}")
    for text, i in described.special_tokens.items():
        known = model.whole_token_ids.get(text, i)
        if known != i:
            raise Fault("special tokens", f"it declares {text!r} with another id", text=text, expected=known, got=i)
    for i in sorted(by_id)[:: 1 + len(by_id) // 300] if case.client.offers("token_bytes") else ():
        got = case.client.ask("token_bytes", token=i)
        case.n_inputs += 1
        is_refused = isinstance(got, Failed) and not got.outcome.ends_process and i in model.whole_token_ids.values()
        if got != by_id[i] and not is_refused:
            raise Fault("vocabulary", f"token_bytes({i}) is wrong", ids=[i], expected=by_id[i], got=answered(got))


_RUNS = (2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 257, 1025)


def any_order(case: Case) -> None:
    """Check `decode`, and `decode_bytes` if offered, on lists of ids in any order; then the ids of their texts."""
    lists = list(_lists(case))
    for call in case.client.offered(("decode", "decode_bytes")):
        ask_lists(case, lists, call)
    for ids in lists[-300:]:
        text = case.reference.decode(ids)
        if not isinstance(text, Failed) and not any(name in text for name in case.reference.model.whole_token_ids):
            expected = case.reference.ids(text)
            if case.client.ids(text) != expected:
                _raise_if_decoded(case, ids, text, expected)
                return  # other checks judge `encode` alone


def _raise_if_decoded(case: Case, ids: Ids, text: str, expected: Answer) -> None:
    """Raise a fault if a text gets different ids only after it was decoded from some."""
    answers = []
    for is_decoded in (False, True):
        case.client.fresh()
        if is_decoded:
            case.client.decode(ids)
        answers.append(case.client.ids(text))
    if answers[0] == expected != answers[1]:
        reason = f"right in a fresh process, wrong after decode({list(ids)})"
        raise Fault("cache", reason, text=text, ids=list(ids), expected=expected, got=answers[1])


def _lists(case: Case) -> Iterator[Ids]:
    random = Random(f"order:{case.seed}")
    yield ()
    for text in [text for text in texts_for(case, 500) if not text.isascii() and len(text) <= 60]:
        if isinstance(ids := case.reference.ids(text), list):
            for k in range(1, min(len(ids), 8)):
                yield from (tuple(ids[:k]), tuple(ids[-k:]))
            yield from (tuple(ids[:-1]), tuple(ids[::-1]), tuple(random.sample(ids, len(ids))))
    of_model = RandomIds(case.reference.model)
    for i in random.choices(of_model.every, k=len(_RUNS)) + random.choices(of_model.cut, k=len(_RUNS)):
        yield from ((i,) * n for n in _RUNS)
    for _ in range(2_500):
        drawn = of_model.draw(random)
        yield tuple(drawn)
        random.shuffle(drawn)
        yield tuple(drawn)
