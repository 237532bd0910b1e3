"""Is a planted slowdown found, and no copy called different? Runs of copies and of 5 and 10 % more work.

    python tests/bench/floor.py --runs 20 --openings 20

Beside `tiktoken` and `compiled` run plug-ins registered as any other, all four of each in the same wrapper (which alone
costs `compiled` 1 to 2 %): one, a copy of it, and it with 5 and with 10 % more processor time in every call. Prints the
ratios to the first and the noise floor of every run, and how often each was called slower.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from harness.measure.run import measure
from harness.measure.stats import claim
from harness.measure.summary import by_contestant, ratio, relative_times
from harness.measure.workloads import PROFILES, Plan, load_workloads, select
from harness.progress import Bar

ORIGINALS = {"tiktoken": "impls.production.tiktoken:Tiktoken", "compiled": "impls.compiled.tokenizer:Compiled"}
PLANTED = {"wrapped": 0, "copy": 0, "5": 5, "10": 10}
_CLASS = """
class {name}({base}):
    name = "{planted}"

    def encode(self, text, **options):
        start = thread_time()
        ids = super().encode(text, **options)
        end = thread_time() + (thread_time() - start) * {percent} / 100
        while {percent} and thread_time() < end:
            pass
        return ids
"""


def plant(folder: Path) -> None:
    """Write the plug-ins and the metadata by which they are found."""
    code, entries = ["from time import thread_time"], ["[bpebench.implementations]"]
    for original, place in ORIGINALS.items():
        module, base = place.split(":")
        code.append(f"from {module} import {base}")
        for plug_in, percent in PLANTED.items():
            name = f"Planted{base}{plug_in.title()}"
            code.append(_CLASS.format(name=name, base=base, planted=f"{original}-{plug_in}", percent=percent))
            entries.append(f"{original}-{plug_in} = planted_slowdowns:{name}")
    (folder / "planted_slowdowns.py").write_text("\n".join(code))
    about = folder / "planted_slowdowns-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-slowdowns\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(entries) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--openings", type=int, default=PROFILES["default"].openings)
    parser.add_argument("--workload", default="^encode/o200k_base/turkish$")
    given = parser.parse_args()
    names = tuple(f"{original}-{plug_in}" for original in ORIGINALS for plug_in in PLANTED)
    compared = [name for name in names if not name.endswith("-wrapped")]
    workloads = tuple(select(load_workloads(), include=[given.workload]))
    default = PROFILES["default"]
    profile = replace(default, openings=given.openings, slow_openings=given.openings, slow_rounds=default.rounds)
    called: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder))
        sys.path.insert(0, folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        for number in range(given.runs):
            plan = Plan(profile=profile, implementations=(*ORIGINALS, *names), workloads=workloads, seed=number)
            records = measure(plan, Path(folder) / f"run-{number}", bar=Bar())
            relative = relative_times(records)
            by_name = {each.implementation: each for each in by_contestant(records) if not each.copy}
            print(f"run {number}: floor {relative.floor:.1%}")
            for name in compared:
                wrapped = by_name[name.partition("-")[0] + "-wrapped"]
                interval = ratio(by_name[name], wrapped, relative.clock).interval
                called[name, claim(interval, relative.floor)] += 1
                print(f"  {name}: {interval.value:.3f} ({interval.low:.3f}-{interval.high:.3f})", flush=True)
    for name in compared:
        print(f"{name}: " + ", ".join(f"{word} {called[name, word]}" for word in ("slower", "≈", "faster")))


if __name__ == "__main__":
    main()
