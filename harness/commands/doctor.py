"""`bpebench doctor`: whether this machine is fit for measuring."""

from __future__ import annotations

import click

from harness.commands import options
from harness.commands.verb import Verb, option
from harness.progress import progress


class Doctor(Verb):
    """Time a loop against itself (A/A), check load, clocks, cores and memory, and warn of what disturbs measuring."""

    rounds: int = option(None, type=click.IntRange(min=3), default=10)

    def run(self) -> None:
        """Print the findings."""
        from harness.measure.doctor import diagnose

        with progress("listening to the noise"):
            found = diagnose(n_rounds=self.rounds)
        rows = {
            "A/A noise floor": f"{found.floor:.2%}",
            "spread of samples (MAD)": f"{found.spread:.2%}",
            "load average": "unknown" if found.load is None else f"{found.load:.2f}",
            "frequency governor": found.governor or "unknown",
            "turbo": {True: "on", False: "off", None: "unknown"}[found.turbo],
            "usable cores": found.usable_cores,
            "pinned to one core": "yes" if found.pinned else "no: this system cannot",
            "free memory": f"{found.free_memory_bytes / 1e9:.1f} GB",
            "first touch of a megabyte": f"{found.first_touch_seconds_per_mb * 1e3:.2f} ms",
            "… the slowest twentieth": f"{found.slow_touch_seconds_per_mb * 1e3:.2f} ms",
        }
        lines = [options.table(list(rows.items()), ["", ""]), "", *(f"warning: {one}" for one in found.warnings)]
        lines += ["this machine is fit for measuring"] if found.good else []
        self.output(found, lambda: "\n".join(lines))


command = Doctor.command()
