"""`bpebench stages`: an implementation's time by stage."""

from __future__ import annotations

import impls
from harness.commands import options
from harness.commands.verb import Verb, option


class Stages(Verb):
    """Show the shares of splitting, merging and output in the time of implementations that expose them."""

    implementation: str | None = options.implementation
    exclude: str | None = options.exclude
    model: str = options.model
    corpus: str = options.corpus_option("Corpus.", default="english")
    max_bytes: int = option(None, type=options.SIZE, default=50_000)

    def run(self) -> None:
        """Time the stages of each implementation."""
        from harness.data import load_model
        from harness.measure.stages import stage_shares

        loaded = load_model(self.model)
        text = "\n".join(options.load_corpus(self.corpus, max_bytes=self.max_bytes).documents())
        n_bytes = len(text.encode("utf-8", "surrogatepass"))
        timed, rows = [], []
        for name in options.choose_implementations(self.implementation, self.exclude):
            try:
                stages = stage_shares(impls.load(name, loaded), text)
            except (impls.Unsupported, impls.Missing) as error:
                options.say(f"{error}", err=True)
                continue
            timed.append({"implementation": name, "seconds": stages})
            total = sum(stages.values()) or 1.0
            shares = ", ".join(f"{stage} {seconds / total:.0%}" for stage, seconds in stages.items())
            rows.append([name, f"{n_bytes / total / 1e6:.2f}", shares])
        about = {"model": self.model, "corpus": self.corpus, "n_bytes": n_bytes}
        self.output(
            about | {"implementations": timed}, lambda: options.table(rows, ["implementation", "MB/s", "shares"])
        )


command = Stages.command()
