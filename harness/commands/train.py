"""`bpebench train`: learn a vocabulary from a corpus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import click

import impls
from harness.commands import options
from harness.commands.verb import Verb, option
from harness.progress import progress
from impls.core.text.patterns import NAMED
from impls.registry import learn


class Train(Verb):
    """Learn a vocabulary and, with --name or --out, save it.

    With --show N: the first N tokens learned, how often each pair occurred, and where the counts flatten.
    """

    corpora: tuple[str, ...] = options.corpus_option(
        "Corpus, file or glob; repeatable. The held-out part of a named corpus is never trained on.",
        multiple=True,
        default=("turkish",),
    )
    vocab_size: int = option("Base + merges + specials.", default=10_000)
    implementation: str = options.implementation_option("Who trains.", default="compiled")
    name: str | None = option("Save it under this name for the other verbs (-m NAME).", metavar="NAME")
    out: Path | None = option("Write the model file here.", type=options.FILE)
    pattern: str = option(f"{', '.join(NAMED)}, or a regular expression.", default="gpt2")
    alphabet: str = option(None, type=click.Choice(["bytes", "chars"]), default="bytes")
    ties: str = option(
        "Which of equally frequent pairs is merged.",
        type=click.Choice(["smallest", "first", "largest", "shortest"]),
        default="smallest",
    )
    base_order: str = option(None, type=click.Choice(["raw", "gpt2"]), default="raw")
    min_count: int = option("A merge needs at least this count.", default=1)
    max_merges: int | None = option("Limit on the number of merges, kept ones included.", type=int)
    max_token_bytes: int | None = option("No token longer than this.", type=int)
    max_token_characters: int | None = option("Likewise in characters (alphabet chars).", type=int)
    special_tokens: tuple[str, ...] = option("Special token; repeatable.", "--special", multiple=True, metavar="TEXT")
    special_ids: str = option(None, type=click.Choice(["last", "first"]), default="last")
    end_of_word: str | None = option("e.g. </w>, as subword-nmt (alphabet chars).", metavar="TEXT")
    unknown: str | None = option("e.g. <unk>, for characters outside the alphabet.", metavar="TEXT")
    extend: str | None = options.extend_option(
        "Go on from this vocabulary: keep its merges and ids; its pattern, alphabet, end of word, special and unknown "
        "tokens too, unless options name others."
    )
    superword_from: int | None = option(
        "SuperBPE: from this number of ids on, tokens may span white space.", type=options.POSITIVE, metavar="N"
    )
    superword_pattern: str = option("The pattern from there on, as --pattern.", default="superword")
    parity: tuple[str, ...] = option(
        "Parity-aware: a corpus of this language, in place of -c; repeatable. The language that is compressed least "
        "chooses each merge.", multiple=True, metavar="NAME=CORPUS",
    )  # fmt: skip
    parity_dev: tuple[str, ...] = option(
        "Parallel texts to measure compression on, a corpus for each language.", multiple=True, metavar="NAME=CORPUS"
    )
    show: int = options.show
    max_bytes: int | None = options.max_bytes

    def run(self) -> None:
        """Train, save and describe the model."""
        from harness.data import load_model, trained_model_path
        from harness.data.overlap import training_documents
        from harness.plateau import plateau
        from harness.training_end import why_short
        from harness.training_start import n_listed_merges

        languages = self._languages()
        begun = None if self.extend is None else load_model(self.extend)
        spec = self._spec(begun)
        last_spec = spec if self.superword_from is None else replace(spec, pattern=self.superword_pattern)
        target = self.out
        if target is None and self.name is not None:
            target = trained_model_path(self.name)
        if target is not None:
            options.check_target(target, self.corpora)
        by_language = {language: self._texts((corpus,)) for language, corpus in languages.items()}
        dev = self._parallel()
        texts = list(chain.from_iterable(by_language.values())) if languages else self._texts(self.corpora)
        n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        with progress(f"training {self.vocab_size} tokens on {n_bytes / 1e6:.1f} MB with {self.implementation}"):
            start = time.perf_counter()
            if languages:
                model = impls.train_parity_aware(by_language, spec, dev=dev)
            else:
                model = learn(self.implementation, texts, spec, begun, self.superword_from, self.superword_pattern)
            seconds = time.perf_counter() - start
        if target is not None:
            before = "" if begun is None else begun.training_documents
            model.with_(training_documents=training_documents(texts, before)).save(target)
        short = why_short(model, last_spec, texts)
        counts = model.merge_counts
        n_kept = 0 if begun is None else n_listed_merges(begun)
        first = [
            {"id": i, "token": _readable(model, i), "count": None if counts is None else counts[rank]}
            for rank, i in enumerate(model.merge_results[n_kept : n_kept + self.show], n_kept)
        ]
        # Counts rise where superwords begin, and those kept, or of several languages, are of other corpora.
        alike = begun is None and self.superword_from is None and not languages
        flat = plateau(counts or ()) if alike else None
        if self.as_json:
            options.print_json(
                {
                    "corpora": list(self.corpora), "n_bytes": n_bytes, "implementation": self.implementation,
                    "seconds": seconds, "vocab_size": model.vocab_size, "vocab_size_asked_for": self.vocab_size,
                    "why_short": short, "n_merges": len(model.merges), "digest": model.digest,
                    "extended": self.extend, "n_kept_merges": n_kept, "superword_from": self.superword_from,
                    "parity": list(self.parity), "parity_dev": list(self.parity_dev),
                    "first_tokens": first, "plateau_merge": flat, "saved": None if target is None else str(target),
                }
            )  # fmt: skip
            return
        if first:
            click.echo(options.table([list(row.values()) for row in first], ["id", "token", "count"]))
            click.echo()
        n_merges = f"{len(model.merges)} merges" + (f", {n_kept} of them kept" if begun is not None else "")
        click.echo(f"{n_merges}, {model.vocab_size} ids, learned in {seconds:.2f} s from {n_bytes} bytes")
        if short is not None:
            options.say(f"ended {self.vocab_size - model.vocab_size} ids short of {self.vocab_size}: {short}")
        if self.show and flat is not None and counts is not None:
            click.echo(f"counts flatten after merge {flat}: from there on a merge occurs {counts[flat]} times or less")
        if target is None:
            click.echo("not kept; give --name or --out to keep it", err=True)
        else:
            kept = f"kept as {self.name}; use it with -m {self.name}" if self.out is None else str(target)
            options.say(kept, err=True)

    def _spec(self, begun: impls.Model | None) -> impls.TrainingSpec:
        """Return the specification by the options; what they leave open is taken from the model to go on from."""
        from harness.training_start import spec_like

        given = options.given(self)
        options.ensure(
            self.superword_from is not None or "superword_pattern" not in given,
            "--superword-pattern goes with --superword-from",
        )
        chosen = {field.name: getattr(self, field.name) for field in fields(impls.TrainingSpec)}
        return impls.TrainingSpec(**chosen) if begun is None else spec_like(begun, chosen, given)

    def _languages(self) -> dict[str, str]:
        """Return the corpus of each language of parity-aware training, which become what is trained on."""
        languages = options.corpora_by_name("--parity", self.parity)
        options.ensure(languages or not self.parity_dev, "--parity-dev goes with --parity")
        if languages:
            for name in ("corpora", "implementation", "extend", "superword_from"):
                problem = f"--{name.replace('_', '-')} does not go with --parity, which `priority` trains"
                options.ensure(name not in options.given(self), problem.replace("--corpora", "--corpus"))
            self.corpora, self.implementation = tuple(languages.values()), "priority"
        return languages

    def _parallel(self) -> dict[str, list[str]] | None:
        """Return the documents that compression is measured on: of a named corpus its held-out part."""
        documents: dict[str, list[str]] = {}
        for language, name in options.corpora_by_name("--parity-dev", self.parity_dev).items():
            corpus = options.load_corpus(name)
            if corpus.has_split:
                corpus = options.load_corpus(name, split="held-out")
            documents[language] = list(corpus.documents())
        return documents or None

    def _texts(self, corpora: Sequence[str]) -> list[str]:
        """Return the documents to train on: the training part of each named corpus, all of each file."""
        texts: list[str] = []
        for name in dict.fromkeys(corpora):
            corpus = options.load_corpus(name, max_bytes=self.max_bytes)
            if corpus.has_split:
                corpus = options.load_corpus(name, split="train", max_bytes=self.max_bytes)
            texts += corpus.documents()
        return texts


def _readable(model: impls.Model, i: int) -> str:
    """Return a readable token: quoted, with bytes that are not text escaped."""
    return repr((model.tokens[i] or b"").decode("utf-8", "backslashreplace"))


command = Train.command()
