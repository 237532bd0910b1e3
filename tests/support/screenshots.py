"""Take the README's two screenshots: the playground with three columns, and the page of a run.

    python tests/support/screenshots.py [FOLDER]        # default: results/screenshots

They are pictures of a page at one moment, so nothing compares them byte by byte. A palette of few colours keeps each
under 60 KB.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "results" / "screenshots"
WIDTH, MOST_BYTES = 1024, 60_000
TEXT = "Kitaplarımızdan öğrendiklerimiz: unhappiness costs 1 234,50 €, happiness nothing."
COLUMNS = [("compiled", "o200k_base"), ("compiled", "r50k_base"), ("greedy", "o200k_base")]
_PIXELS = """async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const bytes = context.getImageData(0, 0, image.width, image.height).data;
    let text = "";
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(text);
}"""


def playground(page: Page) -> bytes:
    """Return the playground with three columns as a PNG."""
    command = [sys.executable, "-m", "harness", "play", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
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
        assert place is not None
        clip = {"x": 0, "y": place["y"] - 16, "width": WIDTH, "height": 760}
        return page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]


def quantised(browser: Browser, png: bytes) -> bytes:
    """Return a picture with its 256 most frequent colours, every other one replaced by the nearest of these."""
    page = browser.new_page()
    pixels = base64.b64decode(page.evaluate(_PIXELS, f"data:image/png;base64,{base64.b64encode(png).decode()}"))
    page.close()
    colours, index, counts = np.unique(
        np.frombuffer(pixels, np.uint8).reshape(-1, 4)[:, :3], axis=0, return_inverse=True, return_counts=True
    )
    palette = colours[np.argsort(-counts)[:256]]
    distances = ((colours[:, None].astype(int) - palette[None].astype(int)) ** 2).sum(axis=2)
    rows = distances.argmin(axis=1)[index.reshape(-1)].astype(np.uint8).reshape(-1, WIDTH)
    lines = np.concatenate([np.zeros((len(rows), 1), np.uint8), rows], axis=1)
    header = struct.pack(">IIBBBBB", WIDTH, len(rows), 8, 3, 0, 0, 0)
    parts = {b"IHDR": header, b"PLTE": palette.tobytes(), b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def main(folder: Path) -> None:
    """Write both pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, take, height in (("playground", playground, 520), ("report", report, 760)):
            page = browser.new_page(viewport={"width": WIDTH, "height": height})
            content = quantised(browser, take(page))
            if len(content) > MOST_BYTES:
                raise SystemExit(f"{name}.png has {len(content):,} bytes, more than {MOST_BYTES:,}; show less")
            (folder / f"{name}.png").write_bytes(content)
            print(f"{folder / name}.png: {len(content):,} bytes")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
