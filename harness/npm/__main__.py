"""`python -m harness.npm serve PACKAGE MODEL` serves a package; `… record FOLDER` judges and times all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from harness.npm import record as records
from harness.npm.packages import NpmPackage, program, tokenizers
from harness.npm.serve import command, package_of
from impls.errors import BPEError


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
@click.option("--only", multiple=True, metavar="PACKAGE", help="Only this package; repeatable.")
def record(folder: Path, only: tuple[str, ...]) -> None:
    """Judge and time every package with each of its vocabularies; write the record and its page into FOLDER."""
    judged = []
    for package in tokenizers():
        for model in package.models if not only or package.name in only else ():
            click.echo(f"{package.name} {package.version} · {model}", err=True)
            judged.append(_judged(package, model))
    records.write(folder, judged)
    click.echo((folder / records.PAGE).read_text("utf-8"))


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
def page(folder: Path) -> None:
    """Make the page of FOLDER anew from its record."""
    records.write(folder, records.read(folder))


def _judged(package: NpmPackage, model: str) -> records.Judged:
    from harness.conform.run import run
    from harness.measure.provenance import cpu_model
    from harness.npm.timing import megabytes_per_second

    one = records.Judged(package=package.name, version=package.version, integrity=package.integrity, model=model)
    try:
        arguments, environment = command(package, model)
        one.node = subprocess.run([program("node"), "--version"], capture_output=True, text=True).stdout.strip()
        one.processor = cpu_model() or ""
        one.report = run(f"cmd:{sys.executable} -m harness.npm serve {package.name} {model}", model=model)
        one.report.target = f"{package.name}@{package.version}"
        one.megabytes_per_second = megabytes_per_second(arguments, environment)
    except (BPEError, subprocess.TimeoutExpired) as error:
        one.reason = str(error)
    return one


if __name__ == "__main__":
    main(prog_name="python -m harness.npm")
