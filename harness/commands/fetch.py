"""`bpebench fetch`: download and verify corpora and vocabularies."""

from __future__ import annotations

import click

from harness.commands import options
from harness.commands.verb import Verb, argument
from harness.progress import progress
from impls.core.errors import plural


class Fetch(Verb):
    """Download NAMES (default: everything) into the cache, through pip, each file verified by its SHA-256.

    Cached files are not fetched again; afterwards everything works offline. The cache is the user's cache folder, or
    BPEBENCH_CACHE.
    """

    names: tuple[str, ...] = argument(nargs=-1)

    def run(self) -> None:
        """Fetch what is missing, and print what that was."""
        from harness.data import fetch, items_named

        items_named(self.names or None)
        with progress("fetching", unit="bytes") as bar:
            fetched = fetch(self.names or None, bar)
        fresh = [[file.name, f"{file.n_bytes:,}"] for file in fetched if file.fresh]
        files = [{"name": f.name, "n_bytes": f.n_bytes, "fresh": f.fresh, "file": str(f.file)} for f in fetched]
        if fresh or self.as_json:
            self.output({"files": files}, lambda: options.table(fresh, ["fetched", "bytes"]))
        if not self.as_json:
            click.echo(f"{plural(len(fetched), 'file')} in the cache, {len(fresh)} of them fetched now", err=True)
