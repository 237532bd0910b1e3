"""Take the README's two screenshots: the playground with three columns, and the page of a run.

    python tests/support/screenshots.py [FOLDER]        # default: results/screenshots

They are pictures of a page at one moment, so nothing compares them byte by byte.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "screenshots"
WIDTH, MOST_BYTES = 1024, 150_000
TEXT = "Kitaplarımızdan öğrendiklerimiz: unhappiness costs 1 234,50 €, happiness nothing."
COLUMNS = [("compiled", "o200k_base"), ("compiled", "r50k_base"), ("greedy", "o200k_base")]


def playground(page: Page) -> bytes:
    """Return the playground with three columns as a PNG."""
    command = [sys.executable, "-m", "harness", "play", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            state = json.dumps({"text": TEXT, "columns": COLUMNS, "price": 2.5}).encode()
            page.goto(f"{server.stdout.readline().strip()}#{base64.urlsafe_b64encode(state).decode().rstrip('=')}")
            for column in range(len(COLUMNS)):
                expect(page.locator(".column").nth(column).locator(".t").first).to_be_visible(timeout=60_000)
            page.locator(".column").first.locator(".t").nth(3).hover()
            return page.screenshot()
        finally:
            server.terminate()


def report(page: Page) -> bytes:
    """Return the explorer of the page of the run that README shows as a PNG."""
    shown = re.search(r"chart-throughput run:(\S+)", (ROOT / "README.md").read_text("utf-8"))
    run = shown[1] if shown else max(str(path.parent) for path in ROOT.glob("results/20*/records.jsonl"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        command = [sys.executable, "-m", "harness", "report", run, "--html", str(path)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        page.goto(path.as_uri())
        place = page.get_by_role("heading", name="Speed by workload").bounding_box()
        clip = {"x": 0, "y": place["y"] - 16, "width": WIDTH, "height": 760}
        return page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]


def main(folder: Path) -> None:
    """Write both pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, take, height in (("playground", playground, 520), ("report", report, 760)):
            page = browser.new_page(viewport={"width": WIDTH, "height": height})
            content = take(page)
            if len(content) > MOST_BYTES:
                raise SystemExit(f"{name}.png has {len(content):,} bytes, more than {MOST_BYTES:,}; show less")
            (folder / f"{name}.png").write_bytes(content)
            print(f"{folder / name}.png: {len(content):,} bytes")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
