"""The README's generated parts: spliced, judged, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from records_by_hand import timed, weighed
from refusals import refused

from harness.records import MACHINE_FILE, RecordWriter
from harness.report.readme.write import ReadmeError, splice, stale, write_readme

RUN, WORKLOAD = "results/a-run", "encode/own/english"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one committed run."""
    make_run(tmp_path / RUN, 250)
    return tmp_path


def make_run(folder: Path, n_tokens: int) -> None:
    with RecordWriter(folder) as writer:
        for corpus in ("turkish-paragraph", "turkish/held-out", "english"):
            writer.write(weighed("own", n_tokens, corpus))
        for name, seconds in (("naive", 0.2), ("priority", 0.1)):
            writer.write(*timed(name, [[seconds] * 3] * 2, WORKLOAD, model="own", corpus="english"))
    (folder / MACHINE_FILE).write_text(json.dumps({"command": "bpebench run --seed `7`", "cpu": "A_CPU"}))


def stale_lines(root: Path, text: str) -> list[str]:
    """The lines on what is stale where README has this text; pages of runs are not looked at."""
    path = root / "README.md"
    path.write_text(text)
    return [line for line in stale(path) if line.startswith("README.md")]


def readme(*markers: str) -> str:
    parts = [f"text {i}\n<!-- generated:{marker} -->\nold\n<!-- /generated -->\n" for i, marker in enumerate(markers)]
    return "# Title\n\n" + "".join(parts) + "the end\n"


def test_a_block_is_made_from_the_run_its_marker_names(root: Path) -> None:
    text, _ = splice(readme(f"compression run:{RUN}"), root)
    assert "| own " in text
    assert "old" not in text
    assert text.startswith("# Title\n\ntext 0\n<!-- generated:compression run:results/a-run -->\n")
    assert text.endswith("<!-- /generated -->\nthe end\n")


def test_every_run_has_a_page_and_a_place_in_the_index(root: Path) -> None:
    make_run(root / "results/b-run", 500)
    make_run(root / "results/local", 500)
    (root / "README.md").write_text("# Title\n")
    assert [line.partition(" is stale")[0] for line in stale(root / "README.md")] == [
        "results/b-run/README.md", "results/a-run/README.md", "results/README.md",
    ]  # fmt: skip
    write_readme(root / "README.md")
    assert stale(root / "README.md") == []
    page = (root / RUN / "README.md").read_text()
    assert "bpebench run --seed `7`" in page
    assert "| naive " in page
    index = (root / "results/README.md").read_text()
    assert index.index("(b-run/README.md)") < index.index("(a-run/README.md)")
    assert "local" not in index
    (root / RUN / "README.md").write_text(page + "more")
    (line,) = stale(root / "README.md")
    assert line.startswith("results/a-run/README.md is stale or missing; run `bpebench report --readme`")


def test_a_spliced_readme_is_fresh_an_edited_one_and_one_of_other_records_is_stale(root: Path) -> None:
    fresh, _ = splice(readme(*(f"{name} run:{RUN}" for name in ("compression", "headlines"))), root)
    assert splice(fresh, root)[0] == fresh
    assert stale_lines(root, fresh) == []
    (line,) = stale_lines(root, fresh.replace("10,000", "20,000"))
    assert line.startswith("README.md: line 4: generated:compression is stale; run `bpebench report --readme`")
    records = root / RUN / "records.jsonl"
    records.write_text(records.read_text().replace('"n_tokens":250,"vocab', '"n_tokens":251,"vocab'))
    assert len(stale_lines(root, fresh)) == 1
    assert splice("nothing here\n", root) == ("nothing here\n", [])
    assert stale_lines(root, "nothing here\n") == []


def test_what_may_not_be_cited_is_refused_by_name(root: Path) -> None:
    splice(readme(f"speed run:{RUN}"), root)
    with RecordWriter(root / RUN, resume=True) as writer:
        writer.write(*timed("naive", [[0.3] * 3, [0.12] * 3], WORKLOAD, model="own", corpus="english", copy=1))
    with pytest.raises(ReadmeError, match=r"line 4: .*encode/own/english \(floor .* %\) may not be cited"):
        splice(readme(f"speed run:{RUN}"), root)


def test_charts_are_written_beside_their_records_in_both_schemes_and_missed(root: Path) -> None:
    path = root / "README.md"
    path.write_text(readme(f"chart-throughput run:{RUN}"))
    changed = write_readme(path)
    images = sorted(p.relative_to(root).as_posix() for p in changed if p.suffix == ".svg")
    assert images == [f"{RUN}/charts/throughput-{scheme}.svg" for scheme in ("dark", "light")]
    text = path.read_text()
    assert all(image in text for image in images)
    assert "higher is better" in (root / images[0]).read_text()
    assert write_readme(path) == []
    assert stale_lines(root, path.read_text()) == []
    (root / images[0]).unlink()
    (line,) = stale_lines(root, path.read_text())
    assert f"{images[0]} is stale or missing" in line


def test_groups_and_columns_can_be_chosen_in_the_marker(root: Path) -> None:
    marker = f"speed only:^(naive|encode) columns:implementation,median run:{RUN}"
    text, _ = splice(readme(marker), root)
    assert f"generated:{marker}" in text
    header = next(line for line in text.splitlines() if line.startswith("|"))
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["implementation", "median"]


def test_a_selection_of_rows_does_not_name_what_has_no_row(root: Path) -> None:
    with RecordWriter(root / "results/more") as writer:
        workload = {"workload": "encode/o200k_base/english", "model": "o200k_base", "corpus": "english"}
        for name in ("naive", "priority"):
            writer.write(*timed(name, [[0.1] * 3] * 2, **workload))
        writer.write(*timed("bpeasy", [[]], outcome="refused", **workload))
    all_rows, some = (splice(readme(f"overview {only}run:results/more"), root)[0] for only in ("", "only:naive "))
    assert "Not timed, refused: bpeasy." in all_rows
    assert "Not timed" not in some


def overview_run(folder: Path, cpu: str, **seconds: dict[str, float]) -> None:
    """Write a run of `NAME/o200k_base/turkish` workloads (- as _): implementation -> seconds of 1 MB."""
    with RecordWriter(folder) as writer:
        for name, of in seconds.items():
            workload = {"workload": f"{name.replace('_', '-')}/o200k_base/turkish", "model": "o200k_base"}
            for implementation, second in of.items():
                writer.write(*timed(implementation, [[second] * 3] * 2, corpus="turkish", **workload))
    (folder / MACHINE_FILE).write_text(json.dumps({"cpu": cpu}))


def test_an_overview_takes_each_column_from_the_last_run_that_has_it(root: Path) -> None:
    first, second = "results/first", "results/second"
    overview_run(root / first, "A", encode={"naive": 0.1, "greedy": 0.2, "priority": 0.4}, encode_cold={"naive": 0.5})
    overview_run(root / second, "A", encode_cold={"naive": 0.25, "greedy": 0.5})
    marker = f"overview columns:implementation,ids,turkish,cold run:{first},{second}"
    lines = splice(readme(marker), root)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[2:] == [
        ["naive", "exact", "10.0", "4.00"],
        ["greedy", "exact", "5.00", "2.00"],
        ["priority", "exact", "2.50", ""],
    ]
    assert any("cold: the first Turkish text of a process (results/second)" in line for line in lines)

    cold = {"workload": "encode-cold/o200k_base/turkish", "model": "o200k_base", "corpus": "turkish"}
    with RecordWriter(root / second, resume=True) as writer:
        writer.write(*timed("naive", [[0.3] * 3, [0.12] * 3], copy=1, **cold))
    splice(readme(f"overview columns:implementation,turkish run:{first},{second}"), root)
    with pytest.raises(ReadmeError, match=r"encode-cold/o200k_base/turkish \(floor .* %\) may not be cited"):
        splice(readme(marker), root)
    overview_run(root / "results/other", "B", encode_cold={"naive": 0.5})
    refused(ReadmeError, "ran on different machines", splice, readme(f"overview run:{first},results/other"), root)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x\n<!-- generated:compression run:results/a-run -->\n", "line 2: generated:compression is not closed"),
        ("<!-- generated:speed -->\n<!-- generated:speed -->\n<!-- /generated -->\n", "line 1: generated:speed is not"),
        ("x\n\n<!-- /generated -->\n", "line 3: <!-- /generated --> closes nothing"),
        (readme("compression"), "line 4: generated:compression has no run"),
        (readme("speed run:a,b"), "line 4: generated:speed is of one run; only the overview may be of several"),
        (readme(f"nonsense run:{RUN}"), "has nothing for 'nonsense'; it has: "),
        (readme(f"chart-none run:{RUN}"), "has nothing for 'chart-none'; it has: "),
        (readme(f"compression run:{RUN} colour:red"), "'colour' means nothing in a marker"),
        (readme(f"compression only:( run:{RUN}"), "line 4: "),
        (readme(f"headlines only:zzz run:{RUN}"), "results/a-run has no headline 'zzz'; it has: "),
        (readme(f"compression only:zzz run:{RUN}"), "no group of 'compression' matches 'zzz'"),
        (readme(f"compression columns:model,colour run:{RUN}"), "'compression' has no column 'colour'; it has: model,"),
    ],
)
def test_a_marker_that_cannot_be_followed_is_named_with_its_line(root: Path, text: str, problem: str) -> None:
    error = refused(ReadmeError, None, splice, text, root)
    assert problem in str(error)
