"""`python -m harness.npm serve PACKAGE MODEL` serves a package; `… record FOLDER` judges and times all of them."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click

from harness.npm import record as records
from harness.npm.packages import NpmPackage, command, package_of, program, tokenizers
from impls.core.errors import BPEError

_SECONDS = click.FloatRange(min=0.1)


@click.group(help=__doc__)
def main() -> None:
    """Tokenizers from npm."""


@main.command()
@click.argument("package")
@click.argument("model")
def serve(package: str, model: str) -> None:
    """Serve PACKAGE with MODEL over the line protocol, on standard input and output."""
    try:
        arguments, environment = command(package_of(package), model)
    except BPEError as error:
        raise click.ClickException(str(error)) from None
    raise SystemExit(subprocess.run(arguments, env=environment).returncode)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--only", multiple=True, metavar="PACKAGE", help="Only this package; repeatable. The others' lines stay.")
@click.option("--judge/--no-judge", default=True, help="Judge them, or keep the verdicts that FOLDER holds.")
@click.option("--time/--no-time", default=True, help="Time them, or keep the figures that FOLDER holds.")
@click.option("--call-seconds", type=_SECONDS, default=10.0, show_default=True, help="As of `bpebench conform`.")
@click.option("--check-seconds", type=_SECONDS, default=10.0, show_default=True, help="As of `bpebench conform`.")
def record(
    folder: Path, only: tuple[str, ...], judge: bool, time: bool, call_seconds: float, check_seconds: float
) -> None:
    """Judge and time every package with each of its vocabularies; write the record and its page into FOLDER.

    Both are written after each, so that an interrupted run keeps what it has.
    """
    judging = (call_seconds, check_seconds) if judge else None
    held = {(one.package, one.model, one.integrity): one for one in records.read(folder)}
    pairs = [(package, model) for package in tokenizers() for model in package.models]
    for package, model in pairs:
        key = (package.name, model, package.integrity)
        if not only or package.name in only:
            click.echo(f"{package.name} {package.version} · {model}", err=True)
            one = held.setdefault(key, records.empty(package, model))
            _examine(one, package, judging, time=time)
        order = [(package.name, model, package.integrity) for package, model in pairs]
        records.write(folder, [held[key] for key in order if key in held])
    click.echo((folder / records.PAGE).read_text("utf-8"))


def _examine(one: records.Judged, package: NpmPackage, judging: tuple[float, float] | None, *, time: bool) -> None:
    """Judge a package, where `judging` gives the time limits of a call and of a check, and time it.

    What it is asked for replaces the results of before, also if it fails.
    """
    from harness.conform.run import LIMITS, run
    from harness.measure.provenance import cpu_model
    from harness.npm.timing import megabytes_per_second

    one.reason = ""
    if judging is not None:
        one.checks, one.faults = {}, []
    if time:
        one.processor, one.megabytes_per_second = "", {}
    try:
        arguments, environment = command(package, one.model)
        one.node = subprocess.run([program("node"), "--version"], capture_output=True, text=True).stdout.strip()
        if judging is not None:
            limits = replace(LIMITS, call_seconds=judging[0])
            one.take(run(_target(package.name, one.model), model=one.model, limits=limits, check_seconds=judging[1]))
        if time:
            one.megabytes_per_second = megabytes_per_second(arguments, environment)
            one.processor = cpu_model() or ""
    except BPEError as error:
        one.reason = str(error)


def _target(package: str, model: str) -> str:
    return f"cmd:{shlex.join([sys.executable, '-m', 'harness.npm', 'serve', package, model])}"


if __name__ == "__main__":
    main(prog_name="python -m harness.npm")
