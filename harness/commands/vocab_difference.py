"""`bpebench vocab A --against B`: the difference of two vocabularies, printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands import options
from harness.progress import progress

if TYPE_CHECKING:
    from harness.data import Corpus
    from harness.evaluate.difference import Change, CorpusChange, Difference


def compare(one: str, other: str, corpora: Sequence[Corpus], prices: Path | None) -> Difference:
    """Return the difference of two vocabularies by name; warn if a price is missing."""
    from harness.data import load_model
    from harness.evaluate.difference import difference
    from harness.evaluate.prices import Prices, read_prices
    from harness.evaluate.run import fastest

    known = Prices() if prices is None else read_prices(prices)
    tokenizers = fastest(load_model(one)), fastest(load_model(other))
    for name in (one, other) if prices is not None else ():
        if known.of(name) is None:
            options.say(f"warning: {prices} has no price of {name}", err=True)
    with progress(f"comparing {one} with {other}", unit="bytes") as bar:
        return difference((one, other), tokenizers, corpora, known, bar)


def shown_difference(found: Difference) -> str:
    """Return the difference as text."""
    from harness.report.round_trips import named

    sides = zip(found.names, found.tokenizers, strict=True)
    one, other = (named(name, tokenizer.model.round_trip) for name, tokenizer in sides)
    n_shared, special = len(found.shared), found.special
    rows = [
        ("in both", n_shared, special["shared"]),
        ("of these under another id", found.n_moved, special["moved"]),
        (f"only in {one}", len(found.only[0]), special["only_one"]),
        (f"only in {other}", len(found.only[1]), special["only_other"]),
    ]
    counted = [(what, f"{n:,}", f"{n_special:,}") for what, n, n_special in rows]
    lines = [options.table(counted, ["", "tokens", "special and added"]), ""]
    scripts = [(script, *(f"{n:,}" for n in counts)) for script, counts in found.scripts().items()]
    lines.append(options.table(scripts, ["script", "in both", f"only in {one}", f"only in {other}"]))
    if found.corpora:
        lines += ["", options.table(list(_corpora(found)), ["", *(change.corpus for change in found.corpora)])]
        lines += [line for change in found.corpora for line in _documents(change, one, other)]
        lines += ["", "±: half the width of the 95 % interval over documents; --json gives its ends."]
    return "\n".join(lines)


def _corpora(found: Difference) -> Iterator[list[str]]:
    """Yield the lines of a table with a column for each corpus."""
    from harness.report.wording import money

    one, other = found.names
    corpora = found.corpora
    yield ["documents", *(f"{change.n_documents:,}" for change in corpora)]
    yield ["bytes", *(f"{change.n_bytes:,}" for change in corpora)]
    yield [f"tokens, {one}", *(f"{change.before:,}" for change in corpora)]
    yield [f"tokens, {other}", *(f"{change.after:,}" for change in corpora)]
    yield ["× tokens", *(_factor(change) for change in corpora)]
    yield ["documents with more", *(f"{change.n_more:,}" for change in corpora)]
    yield ["documents with fewer", *(f"{change.n_fewer:,}" for change in corpora)]
    if any(found.prices.of(name) is not None for name in found.names):
        currency = found.prices.currency or ""
        yield [f"{currency} {one}", *(money(found.cost(0, change.before)) for change in corpora)]
        yield [f"{currency} {other}", *(money(found.cost(1, change.after)) for change in corpora)]


def _factor(change: CorpusChange) -> str:
    from harness.report.wording import plus_minus

    return plus_minus(change.factor)


def _documents(change: CorpusChange, one: str, other: str) -> Iterator[str]:
    for what, changes in (("more", change.more), ("fewer", change.fewer)):
        if changes:
            yield f"\n{change.corpus}: documents whose tokens become {what}, most first\n"
            headers = ["document", one, other, "change", "text"]
            yield options.table([_document(document) for document in changes], headers)


def _document(change: Change) -> tuple[str, ...]:
    text = repr(change.text[:60])
    grown = change.after - change.before
    return f"{change.number:,}", f"{change.before:,}", f"{change.after:,}", f"{grown:+,}", text
