"""`bpebench evaluate`: what texts cost under several vocabularies, in every language, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import inputs, options
from harness.commands.verb import Verb, flag, option

if TYPE_CHECKING:
    from harness.evaluate.texts import CountedText


class Evaluate(Verb):
    """Show what each corpus takes under each vocabulary: tokens, the ratio to the fewest, words cut, cost.

    Measured shares and ratios have a 95 % interval over documents (METHODOLOGY.md: formulas and caveats). Lossy
    vocabularies are marked and not ranked. For a corpus that holds a model's training text, use `--split held-out`.
    """

    models: tuple[str, ...] = options.models
    corpora: tuple[str, ...] = options.corpus_option(
        "Corpus, file or glob; repeatable.  [default: samples; parallel text: parallel]", multiple=True
    )
    parallel: bool = flag(
        "The corpora are translations of one text: `parallel`, files of equal line count, or a TSV file."
    )
    flores: Path | None = option("The folder of FLORES-200 or FLORES+, with dev and devtest.", type=options.FOLDER)
    language: tuple[str, ...] = option(
        "Only this language of parallel text, or those matching a pattern ('*_Latn'); repeatable.",
        multiple=True,
        metavar="LANG",
        advanced=True,
    )
    protocol: str = option(
        "For parallel text: encode each document, or a whole language joined by spaces, as Petrov et al. 2023.",
        type=click.Choice(["documents", "petrov"]),
        default="documents",
        advanced=True,
    )
    price: tuple[str, ...] = option("Price of a million tokens; repeatable.", multiple=True, metavar="[NAME=]AMOUNT")
    morphology: tuple[str, ...] = options.morphology_option(
        "Only compare token borders with morphs, of built-in words or a TSV file; repeatable.", multiple=True
    )
    sampled: Path | None = option(
        "Only count the lists of ids (JSON, one per line) that `encode` does not give for their text.",
        type=options.FILE,
    )
    split: str | None = options.split
    max_bytes: int | None = options.max_bytes
    as_csv: bool = options.as_csv
    as_latex: bool = options.as_latex

    def run(self) -> None:
        """Count, print and write."""
        from harness.evaluate import output
        from harness.evaluate.run import evaluate
        from harness.progress import progress

        options.ensure(self.models, "name at least one vocabulary with -m")
        if self.morphology:
            self._compare_with_morphs()
            return
        if self.sampled is not None:
            self._drift(self.sampled)
            return
        self._check_parallel()
        prices = _given_prices(self.price, self.models)
        texts = self._texts()
        languages = [text.language or text.name for text in texts] if self._is_parallel else [None]
        # Parallel languages are compared with English, if it is there.
        pivot = next((name for name in ("en", "eng_Latn", "eng") if name in languages), languages[0])
        with progress("evaluating", unit="bytes") as bar:
            rows = evaluate(self.models, texts, prices, pivot, bar)
        self.output_rows(list(map(output.cells, rows)), output.tables(rows))

    def _drift(self, file: Path) -> None:
        from harness.evaluate.run import drift_rate
        from harness.report.wording import percent

        options.ensure_alone(self, "sampled", "models")
        rows = [drift_rate(model, file) for model in self.models]
        headers = ["model", "lists", "drifting", "ids", "ids before the first drift", "rate"]
        columns = ("model", "n_lists", "n_drifting", "n_ids", "n_canonical_ids")
        shown = [[*map(row.get, columns), percent(row["rate"])] for row in rows]
        self.output(rows, lambda: options.table(shown, headers))

    def _compare_with_morphs(self) -> None:
        from harness.evaluate import output
        from harness.evaluate.morphology import compare_with_morphs
        from harness.progress import progress

        options.ensure_alone(self, "morphology", "models", "as_csv", "as_latex")
        with progress("comparing with morphs"):
            rows = compare_with_morphs(self.models, self.morphology)
        self.output_rows(rows, output.morphology_tables(rows))

    @property
    def _is_parallel(self) -> bool:
        return self.parallel or self.flores is not None

    def _check_parallel(self) -> None:
        """Raise for options of parallel text that do not go together."""
        for name in ("language", "protocol"):
            goes = self._is_parallel or name not in options.given(self)
            options.ensure(goes, f"--{name} needs --parallel or --flores")
        options.ensure(not (self._is_parallel and self.max_bytes), "--max-bytes cannot be used with parallel text")
        options.ensure(self.flores is None or not self.corpora, "--flores is the text; leave out -c")
        options.ensure(self.flores is None or self.split is None, "--split is for named corpora; leave it out")

    def _texts(self) -> list[CountedText]:
        from harness.evaluate.parallel import flores_texts, joined, language_of, parallel_texts, several
        from harness.evaluate.texts import CountedText

        names, is_joined = list(dict.fromkeys(self.corpora)), self.protocol == "petrov"
        if self.flores is not None:
            texts = several(flores_texts(self.flores, self.language, with_ends=is_joined), str(self.flores))
        elif self.parallel:
            texts = parallel_texts(names or ["parallel"], self.split, self.language)
        else:
            label = "" if self.split is None else f"/{self.split}"
            corpora = [inputs.load_corpus(name, self.split, self.max_bytes) for name in names or ["samples"]]
            texts = [CountedText(f"{of.name}{label}", language_of(of.name), of.documents) for of in corpora]
        return [joined(text) for text in texts] if is_joined else texts


def _given_prices(given: Sequence[str], models: Sequence[str]) -> dict[str, float]:
    """Return the prices of `MODEL=AMOUNT`, or of an amount alone if there is one model; raise `UsageError`."""
    prices = {}
    for text in given:
        model, equals, amount = text.rpartition("=")
        only = f"--price {text}: name the vocabulary it is for, as in --price {models[0]}={text}"
        options.ensure(equals or len(set(models)) == 1, only)
        model = model if equals else models[0]
        options.ensure(model in models, f"--price {text}: {model!r} is not one of the vocabularies (-m)")
        try:
            prices[model] = float(amount)
        except ValueError:
            prices[model] = -1.0
        options.ensure(0 <= prices[model] < math.inf, f"--price {text}: {amount!r} is not a price of 0 or more")
    return prices
