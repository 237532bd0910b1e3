"""`bpebench sweep`: decide what to train: which size, pattern and amount of text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from harness.commands import inputs, options
from harness.commands.verb import Verb, option
from harness.printable import printable
from impls.core.errors import UnknownName
from impls.core.text.patterns import NAMED, resolve

if TYPE_CHECKING:
    from harness.data import Corpus
    from harness.evaluate.sweep import SweepPlan
    from harness.evaluate.texts import CountedText, Documents


class Sweep(Verb):
    """Show what a vocabulary of your own would gain: bytes per token on held-out text by size.

    Each vocabulary is learned once, to the largest size, and truncated. Published vocabularies (-m) are counted on the
    same text, and the output says which of those trained here take fewer tokens than the first of them. Every figure
    has a 95 % interval over documents (METHODOLOGY.md). Nothing is saved: use `train` for that.
    """

    corpora: tuple[str, ...] = options.corpora
    vocab_sizes: str = option(
        "Vocabulary sizes: 8k,16k,32768, or a range to double through.", default="1k..128k", metavar="SIZES"
    )
    patterns: tuple[str, ...] = option(
        "Names (`list patterns`) separated by commas, or a regular expression; repeatable.  [default: gpt2]",
        multiple=True,
        metavar="PATTERNS",
    )
    fractions: str = option("Shares of the documents to train on: 1%,10%,100%.", default="100%", metavar="SHARES")
    held_out: tuple[str, ...] = options.held_out(
        "Text to measure on; repeatable. Without it: a tenth of each corpus.", multiple=True, default=()
    )
    models: tuple[str, ...] = options.model_option("Published vocabulary to compare with; repeatable.", multiple=True)
    width: int = option("Width of the embedding table.", type=options.POSITIVE, default=4096)
    price: float | None = option("Price of a million tokens.", type=options.Number(min=0), metavar="AMOUNT")
    max_bytes: int | None = options.max_bytes
    as_csv: bool = options.as_csv

    def run(self) -> None:
        """Learn, measure, print and write."""
        from harness.evaluate import sweep_output
        from harness.evaluate.sweep import sweep
        from harness.progress import progress

        options.ensure(self.corpora, "name a text with -c")
        plan = self._plan()
        with progress("sweeping") as bar:
            result = sweep(plan, bar)
        for missed in result.unreached if self.as_csv else ():
            options.say(f"warning: {sweep_output.missing_sizes(missed)}", err=True)
        self.output_rows(
            list(map(asdict, result.rows)),
            [sweep_output.table(plan, result)],
            sweep_output.about(plan, result),
            findings=map(printable, sweep_output.findings(plan, result)),
            empty=sweep_output.NO_ROW,
        )

    def _plan(self) -> SweepPlan:
        from harness.evaluate.sizes import parse_shares, parse_sizes
        from harness.evaluate.sweep import N_BASE, SweepPlan

        sizes, shares = parse_sizes(self.vocab_sizes, N_BASE + 1), parse_shares(self.fractions)
        patterns = self._patterns()
        trained, held_out = _parts(self.corpora, self.held_out, self.max_bytes)
        models = list(dict.fromkeys(self.models))
        return SweepPlan(sizes, patterns, trained, held_out, shares, models, self.width, self.price)

    def _patterns(self) -> list[str]:
        patterns: list[str] = []
        for value in self.patterns or ("gpt2",):
            names = [name.strip() for name in value.split(",")]
            if all(re.fullmatch(r"[\w.-]+", name) for name in names):
                if unknown := [name for name in names if name not in NAMED]:
                    raise UnknownName("pattern", unknown[0], list(NAMED))
                patterns += names
            else:
                patterns.append(value)
        for pattern in patterns:
            resolve(pattern)
        return list(dict.fromkeys(patterns))


def _parts(corpora: Sequence[str], held_out: Sequence[str], max_bytes: int | None) -> tuple[Documents, CountedText]:
    """Return the documents to learn from and the text to measure on; warn if some of these are learned from too."""
    from harness.data.documents import shared_documents
    from harness.evaluate.texts import CountedText

    learned, measured = corpus_parts(corpora, held_out, max_bytes)
    trained = partial(all_documents, learned)
    label = ", ".join(corpus.name if corpus.split is None else f"{corpus.name}/{corpus.split}" for corpus in measured)
    text = CountedText(label, None, partial(all_documents, measured))
    shared = shared_documents(text.documents(), trained())
    if shared.n_trained_on:
        options.say(
            f"warning: {shared.n_trained_on} of the {shared.n_documents} documents of {text.name} are also in the "
            "training text, so its figures are too good; give another text with --held-out",
            err=True,
        )
    return trained, text


def corpus_parts(
    names: Sequence[str], held_out: Sequence[str], max_bytes: int | None
) -> tuple[list[Corpus], list[Corpus]]:
    """Return the corpora to train on and those held out; raise `DataError` if one holds no text.

    The corpora of `held_out` are used for the latter, of a named corpus only its held-out part. Without any, about a
    tenth of the documents of each training corpus is held out, also of the user's files.
    """
    from harness.data import DataError

    trained, others = (
        [inputs.load_corpus(name, max_bytes=max_bytes) for name in dict.fromkeys(some)] for some in (names, held_out)
    )

    def part(corpus: Corpus, split: Literal["train", "held-out"]) -> Corpus:
        chosen = replace(corpus, split=split) if corpus.has_split or not others else corpus
        if not any(chosen.documents()):
            raise DataError(f"{corpus.name}: its {split} part has no text; name a text to measure on with --held-out")
        return chosen

    return [part(corpus, "train") for corpus in trained], [part(corpus, "held-out") for corpus in others or trained]


def all_documents(corpora: Sequence[Corpus]) -> Iterator[str]:
    """Yield the documents of all corpora."""
    return chain.from_iterable(corpus.documents() for corpus in corpora)
