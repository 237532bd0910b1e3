"""Shared by the verbs: options, choosing of names, printing of results."""

from __future__ import annotations

import math
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

import impls
from harness.commands.verb import ensure as ensure
from harness.commands.verb import ensure_utf8, flag, option
from harness.commands.verb import print_json as print_json
from harness.commands.verb import terminal_width as terminal_width
from harness.failures import describe
from harness.printable import printable
from harness.targets.spec import DEFAULT_MODEL, PUBLISHED
from impls.core.errors import near_and_known, some_of

TARGETS = (
    "a name from `list`, a regular expression that matches one, module:object, a Python or model file, cmd:COMMAND"
)


def _option_of(names: str, metavar: str, *flags: str) -> Callable[..., Any]:
    """Return a function that declares an option; the shell completes it by `names` (module:function), else by files."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        items = [CompletionItem(name) for name in resolve_name(names)() if name.startswith(begun)]
        return items or [CompletionItem(begun, type="file")]

    def declare(help: str, **settings: Any) -> Any:
        return option(help, *flags, **{"metavar": metavar, "shell_complete": complete, **settings})

    return declare


implementation_option = _option_of("impls:names", "NAME", "-e", "--implementation")


def only_match(_: click.Context, __: click.Parameter, name: str) -> str:
    """Return the implementation that a regular expression matches alone, another target as it is."""
    from harness.targets import is_target

    if not name or name in impls.names() or is_target(name):
        return name
    matching = [known for known in impls.names() if matches(name, known)]
    ensure(len(matching) < 2, f"{name!r} matches {some_of(matching)}; name only one")
    return matching[0] if matching else name


def one_implementation(help: str, default: str) -> Any:
    """Declare the option -e of a verb that runs one implementation."""
    return implementation_option(help, default=default, callback=only_match)


model_option = _option_of("harness.data.models:model_names", "NAME|FILE", "-m", "--model")
morphology_option = _option_of("harness.evaluate.morphology:gold_files", "tr|he|ru|FILE", "--morphology")
extend_option = _option_of("harness.data.models:model_names", "NAME|FILE", "--extend")
corpus_option = _option_of("harness.data.corpora:corpus_names", "NAME|FILE", "-c", "--corpus")
held_out = _option_of("harness.data.corpora:corpus_names", "NAME|FILE", "--held-out")


class Whole(click.IntRange):
    """A whole number in a range."""

    name = "integer"


class _Path(click.Path):
    """A path that the user names; the empty one, which would be the working folder, is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("the path is empty; name one", param, ctx)
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)
FOLDER = _Path(path_type=Path, file_okay=False)
FILE = _Path(path_type=Path, dir_okay=False)
POSITIVE = Whole(min=1)
_UNITS = {"": 1} | {f"{letter}{end}": 1000**n for n, letter in enumerate("kmgt", 1) for end in ("", "b")}
_UNITS |= {"b": 1} | {f"{letter}ib": 1024**n for n, letter in enumerate("kmgt", 1)}


def size(value: str | int) -> int:
    """Parse a positive whole number that may have a unit: 8k, 32768, 256MiB, 2GB."""
    parsed = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", str(value).lower())
    if parsed is None or parsed[2] not in _UNITS or (number := int(float(parsed[1]) * _UNITS[parsed[2]])) < 1:
        raise click.BadParameter(f"invalid size {value!r}; write it like 8k, 32768, 256MiB or 2GB")
    return number


class _Text(click.ParamType[str]):
    """Text in UTF-8."""

    name = "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; raise a usage error naming the option."""
        ensure_utf8(value, "text" if param is None else param.opts[-1])
        return str(value)


TEXT = _Text()


class Number(click.FloatRange):
    """A number in a range, which is neither nan nor inf."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; raise a usage error naming the option."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"must be a number, not {value}", param, ctx)
        return number


SECONDS = Number(min=0.1)


def out_option(help: str, kind: click.Path, **settings: Any) -> Any:
    """Declare the option --out, a file or a folder to write."""
    return option(help, "-o", "--out", type=kind, **settings)


implementations = implementation_option(
    "A name from `list`, a regular expression of names, module:object, a file, cmd:COMMAND; repeatable.",
    multiple=True,
    metavar="NAME|FILE|REGEX",
)
exclude = option("Leave out implementations matching this.", "-E", "--exclude", metavar="REGEX")
models = model_option("Vocabulary; repeatable.", multiple=True)
model = model_option("Vocabulary.", default=DEFAULT_MODEL)
corpora = corpus_option("Corpus, file or glob; repeatable.", multiple=True)
split = option("Only this part of each corpus.", type=click.Choice(["train", "held-out"]))
max_bytes = option("Read only this many UTF-8 bytes of each corpus.", type=size, metavar="SIZE")
out = out_option("Also write the records here.", FOLDER)
as_csv = flag("One CSV table on standard output.", "--csv")
as_latex = flag("One LaTeX table on standard output.", "--latex")
resume = flag("Add to a folder that already holds records.")
escaped = flag(r"TEXT is written with backslash escapes (\n, \u00e9, \U0001f600).")
show = option("Show the first N learned tokens.", type=Whole(min=0), default=0, metavar="N")


@contextmanager
def printing_to_stderr() -> Iterator[None]:
    """Send to standard error what tokenizers print, by Python or not: standard output is for the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def answering(implementation: str) -> Iterator[None]:
    """Turn an exception of a plug-in into a one-line error, and send what it prints to standard error; exceptions of
    our own implementations pass through."""
    try:
        with printing_to_stderr():
            yield
    except (impls.BPEError, click.ClickException, KeyboardInterrupt):
        raise
    except BaseException as error:
        if implementation in impls.default_names():
            raise
        raise impls.BPEError(f"{implementation}: raised {describe(error)}") from error


def with_range(error: impls.UnknownId, name: str, model: impls.Model) -> impls.BPEError:
    """Return the error of an id that no token of `model` has, with the ids there are."""
    ids = model.bytes_by_id()
    gaps = "" if len(ids) == max(ids) - min(ids) + 1 else ", with gaps"
    return impls.BPEError(f"{error}; the ids of {name} are {min(ids)} to {max(ids)}{gaps}")


def check_ids(implementation: str, ids: Sequence[Any]) -> None:
    """Raise if a plug-in returned something other than valid ids."""
    for position, i in enumerate(ids):
        if type(i) is not int or i < 0:
            raise impls.BPEError(f"{implementation}: gave {i!r} at position {position}, which is not a token id")


def given(verb: object) -> set[str]:
    """Return the names of the options of the verb being run whose values are not the defaults."""
    source = click.get_current_context().get_parameter_source
    return {name for name in vars(verb) if source(name) not in (None, ParameterSource.DEFAULT)}


def ensure_alone(verb: object, mode: str, *others: str) -> None:
    """Raise a usage error if an option is given that does not go with the option `mode`, as `others` do."""
    flags = {param.name: param.opts[-1] for param in click.get_current_context().command.params}
    refused = given(verb) - {mode, "as_json", *others}
    ensure(not refused, f"{flags[mode]} cannot be used with {', '.join(sorted(str(flags[name]) for name in refused))}")


def matches(expression: str | None, name: str) -> bool:
    """Return whether `expression` (None: any) is found in `name`; raise for an invalid regular expression."""
    try:
        return expression is None or re.search(expression, name) is not None
    except re.error as error:
        raise click.UsageError(f"{expression!r} is not a regular expression: {error}") from None


def chooses(include: Sequence[str], exclude: str | None, name: str) -> bool:
    """Return whether the options -e and -E choose a name; without -e all."""
    is_included = any(matches(expression, name) for expression in include or (None,))
    return is_included and (exclude is None or not matches(exclude, name))


def choose_implementations(include: Sequence[str], exclude: str | None) -> list[str]:
    """Return our own and the production implementations, or those an -e matches; peers and plug-ins only if matched."""
    names = impls.names()
    for expression in include:
        is_known = any(matches(expression, name) for name in (*names, PUBLISHED))
        ensure(is_known, f"-e {expression!r}: no such implementation; {near_and_known(expression, names)}")
    known = names if include else impls.default_names()
    chosen = [name for name in known if chooses(include, exclude, name)]
    ensure(chosen, f"no implementation is left; known: {some_of(names)}")
    return chosen


def choose_compared(include: Sequence[str], exclude: str | None) -> list[str]:
    """Choose as `choose_implementations`, then the other targets of -e, beside which the reference runs if alone."""
    from harness.check.classes import REFERENCE
    from harness.targets import TargetSpec, is_target

    without_alternatives = [name for name in include if name.startswith("cmd:") or "|" not in name]
    targets = list(dict.fromkeys(filter(is_target, without_alternatives)))
    for target in targets:
        spec = TargetSpec.parse(target)  # raises, before any work, for a file that is missing or not a tokenizer
        is_there = spec.kind != "command" or shutil.which(spec.words[0]) is not None
        ensure(is_there, f"{target}: {spec.words[0]} cannot be run: there is no such program, or it is not executable")
    names = [name for name in include if name not in targets]
    for part in (part for expression in names for part in expression.split("|")):
        ensure(not is_target(part), f"{part} is a file or a command, not an expression; give it an -e of its own")
    return [*(choose_implementations(names, exclude) if names or not targets else [REFERENCE]), *targets]


def say(line: str, *, err: bool = False) -> None:
    """Print one line, made printable because it may contain external names or messages."""
    click.echo(printable(line), err=err)


def table(rows: Sequence[Sequence[Any]], headers: Sequence[str]) -> str:
    """Return a plain table that is never cut or wrapped, its cells printable."""
    from harness.report.layout import render
    from harness.report.table import plain_table

    return render(plain_table(headers, rows), "text").rstrip()
