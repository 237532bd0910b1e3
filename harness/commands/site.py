"""`bpebench site`: the static site of all recorded runs."""

from __future__ import annotations

from pathlib import Path

from harness.commands import options
from harness.commands.verb import Verb, argument


class Site(Verb):
    """Write the site of all runs under `results`, and of each RUN (a folder of records): plain files for any host.

    Without any, the runs under `results/local` are used. The pages need neither a network nor scripts to be read. A
    folder that already holds a site is replaced.
    """

    runs: tuple[Path, ...] = argument(nargs=-1, metavar="[RUN]...", type=options.FOLDER)
    out: Path = options.out_option("The site's folder.", options.FOLDER, required=True)

    def run(self) -> None:
        """Write the site and print where its first page is."""
        from harness.report import wording
        from harness.report.site.build import MOST_BYTES, gather, write_site

        written = write_site(gather(Path(), self.runs), self.out)
        if written.n_bytes > MOST_BYTES:
            size = f"{wording.size(written.n_bytes)}, more than {wording.size(MOST_BYTES)}"
            options.say(f"warning: the site takes {size}; it loads slowly", err=True)
        first = self.out / "index.html"
        self.output(
            {"first_page": str(first), "n_files": written.n_files, "n_bytes": written.n_bytes},
            lambda: f"{first}: {written.n_files} files, {wording.size(written.n_bytes)}",
        )


command = Site.command()
