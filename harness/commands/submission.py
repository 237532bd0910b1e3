"""`bpebench submission`: make a folder of a run that can be sent in, and check such a folder."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands import options
from harness.commands.verb import Verb, argument

_SHOWN = 30


class Submission(Verb):
    """`make` a folder of a run (FOLDER) that can be sent as a pull request, or `check` such a folder.

    The checks cover schema, digests, provenance, protocol, noise, completeness, absence of paths and addresses (`make`
    also looks for your own names), and agreement with the answers verified in the runs under `results`; the last line
    says how many of its answers those runs have too. Exit status 1 if any check fails.
    """

    action: str = argument(type=click.Choice(["make", "check"]))
    folder: Path = argument(type=options.FOLDER)
    out: Path | None = options.out_option("The folder that `make` writes.", options.FOLDER)

    def run(self) -> bool:
        """Make or check the folder; print what is wrong with it and return whether anything is."""
        from harness.submission import faults_of, n_answers, pack

        options.ensure((self.action == "make") == (self.out is not None), "--out goes with `make`, which needs it")
        committed = [p.parent for p in sorted(Path("results").glob("*/records.jsonl")) if p.parent.name != "local"]
        own = self.folder.resolve()
        committed = [run for run in committed if run.resolve() != own and (run / "machine.json").is_file()]
        if self.out is not None:
            faults = pack(self.folder, self.out, committed)
        else:
            faults = faults_of(self.folder, committed)
        n_own, n_compared = (None, None) if faults else n_answers(self.folder, committed)
        document = {
            "folder": str(self.out or self.folder), "n_runs_compared": len(committed), "n_answers": n_own,
            "n_answers_compared": n_compared, "faults": faults,
        }  # fmt: skip
        compared = "none of its answers could be compared with a committed run"
        if n_compared:
            compared = f"{n_compared} of {n_own} answers compared with those of {len(committed)} committed runs"
        self.output(document, lambda: self._said(faults, compared))
        return bool(faults)

    def _said(self, faults: list[str], compared: str) -> str:
        from harness.printable import printable

        if faults:
            more = [f"… and {len(faults) - _SHOWN} more"] if len(faults) > _SHOWN else []
            last = "nothing was written" if self.action == "make" else f"{self.folder}: does not hold"
            return "\n".join([*map(printable, faults[:_SHOWN]), *more, printable(last)])
        return printable(f"{self.out or self.folder}: holds; {compared}")


command = Submission.command()
