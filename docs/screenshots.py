"""Take the pictures of the page, on the docstrings of this machine. Takes a minute."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from scipy.spatial import cKDTree

from mixsearch._typing import Array

# The benchmarks share their browser and their server; they are scripts beside each other, not a package.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from browsing import launch
from playwright.sync_api import Page, sync_playwright
from web_demo import demo_index, served

FOLDER = Path(__file__).parent / "pictures"
DESK = {"width": 1280, "height": 860}
SCALE = 1.5
N_COLOURS, N_EXACT = 256, 128
SEEDS = {"sky": "216,96", "meadow": "108,336", "lake": "446,355"}


def topics(page: Page) -> None:
    _search(page, "fourier")


def doubt(page: Page) -> None:
    _search(page, "cache")


def overview(page: Page) -> None:
    page.goto("overview")
    page.locator(".topic-mark .disc").first.wait_for()


def documents(page: Page) -> None:
    page.goto("overview?show=documents")
    page.locator("canvas[data-drawn]").wait_for(timeout=120_000)


def segment(page: Page) -> None:
    seeds = [("seed", f"{name}:{pixels}") for name, pixels in SEEDS.items()]
    page.goto(f"segment?{urlencode([('picture', 'example'), *seeds])}")
    page.locator(".segment-time", has_text="segments").wait_for()
    page.wait_for_function("document.querySelector('.segment-image').naturalWidth > 0")
    page.locator(".segment-stage").hover(position={"x": 300, "y": 300})  # tints the segment there


def table(page: Page) -> None:
    page.goto("table?table=example&examples=3&examples=8&examples=40&not_examples=100")
    page.locator(".table-path.found").wait_for(state="attached")


def _search(page: Page, query: str) -> None:
    page.goto(f"./?q={query}")
    page.locator(".whisker").first.wait_for(state="attached")
    page.locator("#confidence", has_text="%").wait_for()
    page.mouse.move(0, 0)


PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "topics": (topics, {}),
    "doubt": (doubt, {}),
    "overview": (overview, {}),
    "documents": (documents, {}),
    "table": (table, {}),
    # Grass and waves make for many bytes.
    "segment": (segment, {"device_scale_factor": 1}),
}


def main() -> None:
    chosen = sys.argv[1:] or list(PICTURES)
    with demo_index() as index, served(f"docstrings={index}") as server, sync_playwright() as playwright:
        browser = launch(playwright)
        for name in chosen:
            show, options = PICTURES[name]
            settings = {"viewport": DESK, "device_scale_factor": SCALE, "reduced_motion": "reduce", **options}
            context = browser.new_context(base_url=f"{server.address}/", **settings)
            page = context.new_page()
            show(page)
            _save(page.screenshot(), FOLDER / f"web-{name}.png")
            context.close()
        browser.close()


def _save(picture: bytes, path: Path) -> None:
    """A page has few colours: a palette makes a picture of it a third as large."""
    with Image.open(io.BytesIO(picture)) as image:
        pixels = np.asarray(image.convert("RGB"))
    colours, place, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    palette = _palette(colours[np.argsort(-counts)])
    _, nearest = cKDTree(palette).query(colours)
    indexed = Image.fromarray(nearest[place].reshape(pixels.shape[:2]).astype(np.uint8))
    indexed.putpalette(palette.tobytes())
    indexed.save(path, optimize=True)


def _palette(colours: Array) -> Array:
    """Return a palette of the most frequent colours, so that buttons keep theirs, and a few for all others."""
    exact, others = colours[:N_EXACT], colours[N_EXACT:]
    if len(others) == 0:
        return exact
    few = Image.fromarray(others[None]).quantize(N_COLOURS - len(exact), Image.Quantize.MEDIANCUT).getpalette() or []
    return np.concatenate([exact, np.array(few, dtype=np.uint8).reshape(-1, 3)])[:N_COLOURS]


if __name__ == "__main__":
    main()
