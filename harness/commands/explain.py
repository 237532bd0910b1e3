"""`bpebench explain`: why two tokenizers give different ids."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands import options
from harness.targets import DEFAULT_MODEL

if TYPE_CHECKING:
    from harness.explain import Side


@click.command("explain")
@click.argument("a")
@click.argument("b")
@click.argument("text", required=False)
@click.option(
    "-m", "--model", "models", multiple=True, **options.model_name,
    help=f"Vocabulary of both sides; twice: of A, then of B.  [default: {DEFAULT_MODEL}]",
)  # fmt: skip
@click.option("--allow-special", is_flag=True, help="Special tokens in the text become their id, where a side can.")
@click.option("--escaped", is_flag=True, help=r"TEXT is written with backslash escapes (\n, \u00e9, \U0001f600).")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Also write a self-contained page.")
@options.as_json
def command(
    a: str,
    b: str,
    text: str | None,
    models: tuple[str, ...],
    allow_special: bool,
    escaped: bool,
    html: Path | None,
    as_json: bool,
) -> None:
    """Show the first stage in which A and B differ on TEXT, and both derivations side by side.

    A and B are implementations (see `list`), `module:object` or a Python file with encode and decode, `cmd:COMMAND`
    over the line protocol, or model files: a tokenizer.json runs by tokenizers, a SentencePiece model by sentencepiece,
    a rank file by tiktoken. TEXT is the text, @FILE, or `-` or nothing for standard input. Exit status 0 where they
    agree, 1 where they differ or both refuse the text.
    """
    import msgspec

    from harness.explain import explain
    from harness.report.explanation import render_explanation

    if len(models) > 2:
        raise click.UsageError("give -m once for both sides, or twice: for A, then for B")
    content = options.read_sample(text, escaped)
    one, other = _sides(a, b, models, allow_special)
    explanation = explain(one, other, content)
    if html is not None:
        from harness.records import write_atomically
        from harness.report.page.explanation import explanation_page

        write_atomically(html, explanation_page(explanation).encode())
    if as_json:
        options.print_json(msgspec.to_builtins(explanation))
    else:
        click.echo(render_explanation(explanation))
    if not explanation.agree:
        raise click.exceptions.Exit(1)


def _sides(a: str, b: str, models: tuple[str, ...], allow_special: bool) -> list[Side]:
    from harness.data import load_model
    from harness.explain import load_side

    names = [*(models or (DEFAULT_MODEL,))] * (2 if len(models) < 2 else 1)
    loaded = {name: load_model(name) for name, spec in zip(names, (a, b), strict=True) if _runs_a_model(spec)}
    sides = [
        load_side(spec, loaded.get(name), allow_special=allow_special) for spec, name in zip((a, b), names, strict=True)
    ]
    for side, name, spec in zip(sides, names, (a, b), strict=True):
        if len(models) == 2 and _runs_a_model(spec):
            side.name = f"{spec} on {Path(name).name}"
    return sides


def _runs_a_model(spec: str) -> bool:
    """Return whether a side needs a model; a model file brings its own."""
    return spec.endswith(".py") or ":" in spec or not Path(spec).is_file()
