"""Base class of the verbs: a class whose attributes are its options, in the order of `--help`; and writing of results.

    class Fetch(Verb):
        '''Download NAMES …'''               # the text of `bpebench fetch --help`

        names: tuple[str, ...] = argument(nargs=-1)

        def run(self) -> bool: ...         # True: a check failed, which is exit status 1

A verb is the class of its name in the module of its name, and also gets `--json`. An option that several verbs share is
declared once, in `options`.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import click

from harness.printable import printable_json

if TYPE_CHECKING:
    from harness.report.table import Table


class Declared(NamedTuple):
    """An option or argument, named like the attribute it is assigned to."""

    parameter: Callable[[str], click.Parameter]
    """Name -> the parameter of click."""


class _Advanced(click.Option):
    """An option that `--help` only names and `--help-advanced` describes."""


def option(help: str | None, *flags: str, advanced: bool = False, **settings: Any) -> Any:
    """Declare an option with the arguments of `click.Option`; without flags the flag is its name.

    An `advanced` one is described by `--help-advanced`.
    """
    kind = _Advanced if advanced else click.Option
    settings |= {"help": help, "show_default": "default" in settings}
    return Declared(lambda name: kind([*(flags or [f"--{name.replace('_', '-')}"]), name], **settings))


def flag(help: str, *flags: str, **settings: Any) -> Any:
    """Declare an option without a value."""
    return option(help, *flags, is_flag=True, **settings)


def argument(**settings: Any) -> Any:
    """Declare an argument with the arguments of `click.Argument`."""
    return Declared(lambda name: click.Argument([name], **settings))


_FORMATS = ("json", "csv", "latex")


def terminal_width() -> int | None:
    """Return the columns of the terminal; None if the output is not a terminal, so that nothing is cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_json(document: Any) -> None:
    """Print one JSON document on standard output: an object whose field names hold the units."""
    import msgspec

    sys.stdout.write(printable_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n")


def ensure(condition: object, message: str) -> None:
    """Raise a usage error with `message` unless the condition holds."""
    if not condition:
        raise click.UsageError(message)


def ensure_utf8(text: str, name: str) -> None:
    """Raise a usage error for an argument with bytes that are not UTF-8, which Python reads as U+DC80 to U+DCFF."""
    if match := re.search("[\udc80-\udcff]", text):
        at, byte = len(text[: match.start()].encode("utf-8", "surrogatepass")), ord(match[0]) & 0xFF
        raise click.UsageError(f"{name}: not UTF-8 at byte {at} (0x{byte:02X}); convert it to UTF-8 first")


DECLARED: dict[str, Any] = tomllib.loads((files("harness.commands") / "verbs.toml").read_text(encoding="utf-8"))
"""Summary and example of each verb, and advice for verbs and options that were removed."""


def _help_records(ctx: click.Context, *, advanced: bool) -> list[tuple[str, str]]:
    params = [param for param in ctx.command.get_params(ctx) if isinstance(param, click.Option)]
    shown = [param for param in params if isinstance(param, _Advanced) == advanced]
    return [record for param in shown if (record := param.get_help_record(ctx)) is not None]


def _help_advanced(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        with formatter.section("Advanced"):
            formatter.write_dl(_help_records(ctx, advanced=True))
        click.echo(formatter.getvalue().rstrip("\n"), color=ctx.color)
        ctx.exit()


class _Command(click.Command):
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; of the advanced ones only the names."""
        with formatter.section("Options"):
            formatter.write_dl(_help_records(ctx, advanced=False))
        if advanced := [param.opts[-1] for param in self.params if isinstance(param, _Advanced)]:
            with formatter.section("Advanced (--help-advanced describes them)"):
                formatter.write_text(" ".join(advanced))

    def make_parser(self, ctx: click.Context) -> click.parser._OptionParser:
        """Return click's parser, which here refuses a repeated option of which only the last value would count."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> tuple[dict[str, Any], list[str], list[click.Parameter]]:
            values, rest, order = parse(args)
            for param in () if ctx.resilient_parsing else order:
                if isinstance(param, click.Option) and not (param.multiple or param.is_flag) and order.count(param) > 1:
                    how = "join the expressions with |" if param.metavar == "REGEX" else "give it once"
                    times = f"given {order.count(param)} times, of which only the last would count"
                    raise click.UsageError(f"{param.opts[0]}: {times}; {how}", ctx)
            return values, rest, order

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and say what to do about an option that was removed."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if advice := DECLARED["removed_options"].get(f"{self.name} {error.option_name}"):
                raise click.UsageError(f"{error.option_name} was removed: {advice}", ctx) from None
            raise


class Verb(ABC):
    """One call of a verb, with the values of its options as attributes."""

    context_settings: ClassVar[dict[str, Any]] = {}
    as_json: bool = flag("One JSON document on standard output.", "--json")

    @abstractmethod
    def run(self) -> bool | None:
        """Do the work and print the result; return True if a check failed."""

    def output(self, document: Any, text: str | Callable[[], str], **other: Callable[[], str]) -> None:
        """Print the document as JSON, in the requested format of `other` (csv, latex), or else as text."""
        asked_for = [make for name, make in other.items() if getattr(self, f"as_{name}", False)]
        if self.as_json:
            print_json(document)
        elif asked_for:
            click.echo(asked_for[0](), nl=False)
        else:
            click.echo(text if isinstance(text, str) else text())

    def output_rows(
        self,
        rows: Sequence[Mapping[str, Any]],
        tables: Iterable[Table],
        about: Mapping[str, Any] | None = None,
        *,
        findings: Iterable[str] = (),
        empty: Mapping[str, Any] | None = None,
    ) -> None:
        """Print rows of cells: as JSON (after `about`) or CSV, or their tables as LaTeX or text, with `findings`.

        `empty` is a row without values, whose names CSV begins with if there are no rows.
        """
        from harness.evaluate.intervals import json_cells, plain_cells
        from harness.report.layout import csv_of, render

        self.output(
            {**(about or {}), "confidence": 0.95, "rows": list(map(json_cells, rows))},
            lambda: "\n".join([*(render(table, "text", width=terminal_width()) for table in tables), *findings]),
            csv=lambda: csv_of(list(map(plain_cells, rows)), plain_cells(empty or {})),
            latex=lambda: "\n".join(render(table, "latex") for table in tables),
        )

    @classmethod
    def command(cls, epilog: str = "") -> click.Command:
        """Return the click command of the same name."""

        def call(**given: Any) -> None:
            verb = cls()
            vars(verb).update(given)
            flags = [f"--{name}" for name in _FORMATS if f"as_{name}" in given]
            if sum(given.get(f"as_{name}", False) for name in _FORMATS) > 1:
                raise click.UsageError(f"choose one of {' and '.join((', '.join(flags[:-1]), flags[-1]))}")
            if verb.run():
                raise click.exceptions.Exit(1)

        declared = [(name, value) for name, value in (vars(cls) | vars(Verb)).items() if isinstance(value, Declared)]
        parameters = [value.parameter(name) for name, value in declared]
        if any(isinstance(parameter, _Advanced) for parameter in parameters):
            about = "Describe the advanced options and exit."
            describe = flag(about, is_eager=True, expose_value=False, callback=_help_advanced)
            parameters.append(describe.parameter("help_advanced"))
        name, settings = cls.__name__.lower(), cls.context_settings
        return _Command(name, settings, call, parameters, help=cls.__doc__, epilog=epilog)
