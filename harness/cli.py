"""The command `bpebench`: dispatches to a verb, and turns every expected error into one line and an exit status.

Exit status 0 good, 1 a check failed, 2 usage or bad input, 130 interrupted. Verbs live one to a file in
`harness.commands` and are imported when called, so that `--help` stays quick.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.commands.verb import DECLARED
from harness.printable import printable

if TYPE_CHECKING:
    from harness.commands.verb import Verb

BENCH_MODULES = ("cpuinfo", "jinja2", "pandas", "sentencepiece", "tiktoken", "tokenizers", "vl_convert")
"""Import names of the packages that the extra `bench` installs: production libraries, charts, pages, data frames."""

VERBS = {name: entry for verbs in DECLARED["verbs"].values() for name, entry in verbs.items()}
"""Verb -> its entry in `verbs.toml`: `summary`, `example`."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        verb: type[Verb] = getattr(import_module(f"harness.commands.{cmd_name}"), cmd_name.capitalize())
        return verb.command(f"\b\nExample: bpebench {cmd_name} {VERBS[cmd_name]['example']}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and (advice := DECLARED["removed_verbs"].get(args[0])) is not None:
            raise click.UsageError("; ".join(filter(None, (f"the verb {args[0]!r} was removed", advice))), ctx)
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            near = get_close_matches(args[0], VERBS, 1)
            meant = f"did you mean {near[0]!r}?" if near else "`bpebench --help` lists them"
            raise click.UsageError(f"there is no verb {args[0]!r}; {meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, verbs in DECLARED["verbs"].items():
            with formatter.section(group):
                formatter.write_dl([(name, verb["summary"]) for name, verb in verbs.items()])


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="bpebench", prog_name="bpebench")
def group() -> None:
    """Which tokenizer is right, which is fast, what a language costs: byte pair encoding, checked and measured.

    Results go to standard output, progress and warnings to standard error. Exit status: 0 good, 1 a check failed,
    2 usage or bad input. Give an option once unless it is marked repeatable. Completion of verbs and names:
    `eval "$(_BPEBENCH_COMPLETE=bash_source bpebench)"`, or zsh_source, fish_source.
    """


def main() -> None:
    """Run the console script."""
    if sys.stderr is None:  # closed
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open until the process ends)
    if sys.stdout is None:
        click.echo("bpebench: standard output is closed; send it to a file, a pipe or /dev/null", err=True)
        sys.exit(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    try:
        status = group.main(prog_name="bpebench", standalone_mode=False)
    except click.ClickException as error:
        _shown(error).show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("bpebench: interrupted", err=True)
        status = 130
    except BrokenPipeError:
        # The reader of our output has closed it; keep the interpreter from reporting an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    except Exception as error:
        message = _expected(error)
        if message is None:
            raise
        click.echo(f"bpebench: {printable(message)}", err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _shown(error: click.ClickException) -> click.ClickException:
    """Return `error` with its message made printable, unless the message has several lines and quotes nothing."""
    if isinstance(error, click.MissingParameter | click.exceptions.NoArgsIsHelpError):
        return error
    message = printable(error.format_message())
    return (
        click.UsageError(message, error.ctx) if isinstance(error, click.UsageError) else click.ClickException(message)
    )


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    click.echo(f"bpebench: warning: {printable(message)}", err=True)


def _expected(error: Exception) -> str | None:
    """Return the one-line message for an error the user can fix, or None for a bug of ours."""
    from harness.records import RecordError
    from impls.core.errors import BPEError, SpecialToken

    if isinstance(error, SpecialToken):
        message = f"the text contains the special token {error.name!r} at character {error.offset}"
        return f"{message}; --allow-special encodes it as its id, --special-as-text as text"
    if isinstance(error, BPEError | RecordError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name in BENCH_MODULES:
        return f"this needs {error.name}, which the extra 'bench' installs: pip install 'bpebench[bench]'"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"{where}the disk is full; free some space, or write to another place"
        if isinstance(error, FileExistsError | NotADirectoryError) and error.filename:
            path = Path(error.filename)
            file = next((folder for folder in reversed(path.parents) if folder.is_file()), path)
            return f"{file} is a file, not a folder; name another place"
        return f"{where}{error.strerror or error}"
    return "out of memory; give less text (--max-bytes) or a smaller model" if isinstance(error, MemoryError) else None
