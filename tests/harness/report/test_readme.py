"""The README's generated parts: spliced, judged, refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.outcome import Outcome
from harness.records import MACHINE_FILE, Compression, Measurement, Pass, RecordError, RecordWriter
from harness.report.readme.markers import ReadmeError, blocks
from harness.report.readme.write import help_text, is_stale, splice, stale_pages, write_readme

RUN = "results/a-run"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one committed run."""
    make_run(tmp_path / RUN, 250)
    return tmp_path


def make_run(folder: Path, n_tokens: int) -> None:
    with RecordWriter(folder) as writer:
        for corpus in ("turkish-paragraph", "turkish/held-out", "english"):
            writer.write(
                Compression(
                    model="own", corpus=corpus, implementation="priority", n_texts=1, n_bytes=1000, n_characters=900,
                    n_words=100, n_tokens=n_tokens, vocab_size=10_000,
                )
            )  # fmt: skip
        writer.write(
            *(
                Measurement(
                    workload="encode/own/english", implementation=name, task="encode", model="own", corpus="english",
                    outcome=Outcome.RIGHT, n_tokens=250, opening=number,
                    passes=[Pass(i, False, 1000, [1], [seconds], [seconds]) for i in range(3)],
                )
                for name, seconds in (("naive", 0.2), ("priority", 0.1))
                for number in range(2)
            )
        )  # fmt: skip
    (folder / MACHINE_FILE).write_text(json.dumps({"command": "bpebench run --seed `7`", "cpu": "A_CPU"}))


def readme(*markers: str) -> str:
    parts = [f"text {i}\n<!-- generated:{marker} -->\nold\n<!-- /generated -->\n" for i, marker in enumerate(markers)]
    return "# Title\n\n" + "".join(parts) + "the end\n"


def test_a_block_is_made_from_the_run_its_marker_names(root: Path) -> None:
    text, _ = splice(readme(f"turkish run:{RUN}"), root=root)
    assert "| own " in text
    assert "old" not in text
    assert text.startswith("# Title\n\ntext 0\n<!-- generated:turkish run:results/a-run -->\n")
    assert text.endswith("<!-- /generated -->\nthe end\n")


def test_every_run_has_a_page_and_a_place_in_the_index(root: Path) -> None:
    make_run(root / "results/b-run", 500)
    make_run(root / "results/local", 500)
    (root / "README.md").write_text("# Title\n")
    assert [line.partition(" is stale")[0] for line in stale_pages(root)] == [
        "results/b-run/README.md", "results/a-run/README.md", "results/README.md",
    ]  # fmt: skip
    write_readme(root / "README.md")
    assert stale_pages(root) == []
    page = (root / RUN / "README.md").read_text()
    assert "bpebench run --seed `7`" in page
    assert "| naive " in page
    index = (root / "results/README.md").read_text()
    assert index.index("(b-run/README.md)") < index.index("(a-run/README.md)")
    assert "local" not in index
    (root / RUN / "README.md").write_text(page + "more")
    (line,) = stale_pages(root)
    assert line.startswith("results/a-run/README.md is stale or missing; run `bpebench report --readme`")


def test_splicing_twice_changes_nothing_more(root: Path) -> None:
    markers = [f"{name} run:{RUN}" for name in ("turkish", "headlines", "machine", "chart-speed-encode/own/english")]
    once, _ = splice(readme(*markers, "help"), root=root)
    assert splice(once, root=root)[0] == once


def test_another_run_takes_over_every_block_but_help(root: Path) -> None:
    make_run(root / "results/b-run", 500)
    text, _ = splice(readme(f"turkish run:{RUN}", "help"), root / "results/b-run", root=root)
    assert [block.run for block in blocks(text)] == ["results/b-run", ""]
    assert "500" in text


def test_a_spliced_readme_is_fresh_and_an_edited_one_is_stale(root: Path) -> None:
    fresh, _ = splice(readme(f"turkish run:{RUN}", "help"), root=root)
    assert is_stale(fresh, root=root) == []
    (line,) = is_stale(fresh.replace("10,000", "20,000"), root=root)
    assert line.startswith("line 4: generated:turkish is stale; run `bpebench report --readme`")


@pytest.mark.parametrize("block", ["speed", "chart-speed-encode/own/english"])
def test_what_may_not_be_cited_is_refused_by_name(root: Path, block: str) -> None:
    splice(readme(f"{block} run:{RUN}"), root=root)
    with RecordWriter(root / RUN, resume=True) as writer:
        for number, factor in ((0, 1.5), (1, 0.6)):
            writer.write(
                Measurement(
                    workload="encode/own/english", implementation="naive", task="encode", model="own", corpus="english",
                    outcome=Outcome.RIGHT, n_tokens=250, opening=number, copy=1,
                    passes=[Pass(i, False, 1000, [1], [0.2 * factor], [0.2 * factor]) for i in range(3)],
                )
            )  # fmt: skip
    with pytest.raises(ReadmeError, match=r"line 4: .*encode/own/english \(floor .* %\) may not be cited"):
        splice(readme(f"{block} run:{RUN}"), root=root)


def test_a_block_that_names_no_run_yet_is_stale(root: Path) -> None:
    (line,) = is_stale(readme("turkish"), root=root)
    assert "names no run yet" in line


def test_new_records_make_it_stale(root: Path) -> None:
    fresh, _ = splice(readme(f"turkish run:{RUN}"), root=root)
    records = root / RUN / "records.jsonl"
    records.write_text(records.read_text().replace('"n_tokens":250,"vocab', '"n_tokens":251,"vocab'))
    assert len(is_stale(fresh, root=root)) == 1


def test_charts_are_written_beside_their_records_in_both_schemes(root: Path) -> None:
    path = root / "README.md"
    path.write_text(readme(f"chart-speed-encode/own/english run:{RUN}"))
    changed = write_readme(path)
    images = sorted(p.relative_to(root).as_posix() for p in changed if p.suffix == ".svg")
    assert images == [f"{RUN}/charts/speed-encode-own-english-{scheme}.svg" for scheme in ("dark", "light")]
    text = path.read_text()
    assert all(image in text for image in images)
    assert "higher is better" in (root / images[0]).read_text()
    assert write_readme(path) == []


def test_a_missing_or_outdated_image_is_stale(root: Path) -> None:
    path = root / "README.md"
    path.write_text(readme(f"chart-speed-encode/own/english run:{RUN}"))
    write_readme(path)
    assert is_stale(path.read_text(), root=root) == []
    image = next((root / RUN / "charts").glob("*-dark.svg"))
    image.unlink()
    (line,) = is_stale(path.read_text(), root=root)
    assert image.name in line


def test_groups_and_price_can_be_chosen_in_the_marker(root: Path) -> None:
    text, _ = splice(readme(f"turkish only:paragraph price:8 run:{RUN}"), root=root)
    assert "A paragraph of our own" in text
    assert "held out" not in text
    assert "Cost at 8.00 per million" in text
    assert "generated:turkish only:paragraph price:8 run:results/a-run" in text


def test_implementations_and_columns_can_be_chosen_in_the_marker(root: Path) -> None:
    marker = f"speed only:^(naive|encode) columns:implementation,median run:{RUN}"
    text, _ = splice(readme(marker), root=root)
    assert f"generated:{marker}" in text
    header = next(line for line in text.splitlines() if line.startswith("|"))
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["implementation", "median"]


def test_help_is_the_commands_own(root: Path) -> None:
    text, _ = splice(readme("help"), root=root)
    assert "$ bpebench --help" in text
    assert "Usage: bpebench" in text
    assert "Usage: bpebench train" in help_text(["train"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x\n<!-- generated:turkish run:results/a-run -->\n", "line 2: generated:turkish is not closed"),
        ("<!-- generated:help -->\n<!-- generated:help -->\n<!-- /generated -->\n", "line 1: generated:help is not"),
        ("x\n\n<!-- /generated -->\n", "line 3: <!-- /generated --> closes nothing"),
        (readme("turkish"), "line 4: generated:turkish names no run"),
        (readme(f"nonsense run:{RUN}"), "has nothing for 'nonsense'; it has: turkish"),
        (readme(f"chart-none run:{RUN}"), "has no chart 'none'; it has:"),
        (readme(f"turkish run:{RUN} colour:red"), "'colour' means nothing in a marker"),
        (readme(f"turkish only:( run:{RUN}"), "line 4: "),
        (readme(f"headlines only:zzz run:{RUN}"), "results/a-run has no headline 'zzz'; it has: "),
        (readme(f"turkish only:zzz run:{RUN}"), "no group of 'turkish' matches 'zzz'"),
        (readme(f"turkish columns:model,colour run:{RUN}"), "'turkish' has no column 'colour'; it has: model,"),
        (readme(f"turkish price:much run:{RUN}"), "line 4: "),
        (readme("help-nothing"), "there is no verb 'nothing'"),
    ],
)
def test_a_marker_that_cannot_be_followed_is_named_with_its_line(root: Path, text: str, problem: str) -> None:
    with pytest.raises(ReadmeError) as error:
        splice(text, root=root)
    assert problem in str(error.value)


def test_a_run_that_is_not_there_is_an_error(root: Path) -> None:
    with pytest.raises(RecordError, match="holds no records"):
        splice(readme("turkish run:results/none"), root=root)


def test_a_run_that_is_not_committed_is_refused(root: Path) -> None:
    make_run(root / "results/local/x", 250)
    with pytest.raises(ReadmeError, match="not committed"):
        splice(readme("turkish"), root / "results/local/x", root=root)
    with pytest.raises(ReadmeError, match="outside"):
        splice(readme("turkish"), root.parent, root=root)


def test_text_without_markers_stays_as_it_is(root: Path) -> None:
    assert splice("nothing here\n", root=root) == ("nothing here\n", [])
    assert is_stale("nothing here\n", root=root) == []
