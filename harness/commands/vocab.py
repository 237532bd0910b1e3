"""`bpebench vocab`: look into a vocabulary."""

from __future__ import annotations

import click

from harness.commands import options
from harness.targets import DEFAULT_MODEL
from impls.core.model.model import Model
from impls.core.text.patterns import name_of


@click.command("vocab")
@click.argument("model", default=DEFAULT_MODEL)
@click.option("--show", type=click.IntRange(min=0), default=0, metavar="N", help="The first N learned tokens.")
@click.option("--find", metavar="TEXT", help="The ids of tokens that contain TEXT.")
@click.option("--id", "ids", type=int, multiple=True, help="Show the token of an id; repeatable.")
@click.option("--irregular", is_flag=True, help="Also look for irregularities (seconds, for large rank files).")
@options.as_json
def command(model: str, show: int, find: str | None, ids: tuple[int, ...], irregular: bool, as_json: bool) -> None:
    """Size, rules and tokens of MODEL (a name of `list models`, or a file)."""
    from harness.data import load_model
    from impls.core.errors import UnknownId

    loaded = load_model(model)
    by_id = loaded.bytes_by_id()
    chosen: dict[int, bytes] = {}
    for position, i in enumerate(ids):
        if i not in by_id:
            raise UnknownId(i, position)
        chosen[i] = by_id[i]
    if find is not None:
        chosen |= {i: token for i, token in by_id.items() if find.encode("utf-8", "surrogatepass") in token}
    learned = _learned_ids(loaded)[:show]
    chosen |= {i: by_id[i] for i in learned}
    about = _about(model, loaded)
    if irregular:
        about["irregularities"] = list(loaded.irregularities)
    if as_json:
        tokens = [{"id": i, "token": _readable(token)} for i, token in chosen.items()]
        options.print_json({**about, "tokens": tokens})
        return
    click.echo(options.table([[key.replace("_", " "), _cell(value)] for key, value in about.items()], ["", ""]))
    if chosen:
        click.echo()
        click.echo(options.table([[i, _readable(token)] for i, token in chosen.items()], ["id", "token"]))


def _about(name: str, model: Model) -> dict[str, object]:
    return {
        "model": name,
        "ids": model.vocab_size,
        "tokens": sum(token is not None for token in model.tokens),
        "special_tokens": dict(model.special_tokens),
        "added_tokens": dict(model.added_tokens),
        "tokens_found_otherwise": {text: " ".join(flags) for text, flags in model.whole_token_flags.items()},
        "alphabet": model.alphabet,
        "merge_rule": model.merge_rule,
        "merges": len(model.merges),
        "pattern": name_of(model.pattern) or " then ".join(model.pattern),
        "normalization": model.normalization or "none",
        "white_space": _white_space(model),
        "round_trip": model.round_trip if model.lossy is None else f"{model.round_trip}: {model.lossy}",
        "longest_token_bytes": max(len(token) for token in model.tokens if token is not None),
        "digest": model.digest,
    }


def _white_space(model: Model) -> str:
    rules = model.sentencepiece
    if rules is None or not rules.changes_text:
        return "as it stands"
    said = ["spaces become U+2581"] if rules.escape_spaces else []
    said += [] if rules.dummy_prefix == "never" else [f"one before a text ({rules.dummy_prefix})"]
    said += ["of several one stays, at the ends none"] if rules.remove_extra_spaces else []
    return ", ".join(said) or "normalised"


def _learned_ids(model: Model) -> list[int]:
    if model.merges:
        return list(model.merge_results)
    return [i for i, token in enumerate(model.tokens) if token is not None and len(token) > 1]


def _readable(token: bytes) -> str:
    return repr(token.decode("utf-8", "backslashreplace"))


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{text!r}={i}" for text, i in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(map(str, value)) or "none"
    return str(value)
