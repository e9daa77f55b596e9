"""Take the pictures of the page, on the docstrings of this machine. Takes a minute."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

# The benchmarks share their browser and their server; they are scripts beside each other, not a package.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from browsing import launch
from playwright.sync_api import Page, sync_playwright
from web_demo import demo_index, served

FOLDER = Path(__file__).parent / "pictures"
DESK = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
SCALE = 1.5
SEEDS = {"sky": (216, 96), "meadow": (108, 400), "lake": (540, 330)}


def topics(page: Page) -> None:
    _search(page, "fourier")


def doubt(page: Page) -> None:
    _search(page, "random")


def document(page: Page) -> None:
    _search(page, "fourier")
    page.locator(".document-name").first.click()
    page.locator(".whole").wait_for()


def overview(page: Page) -> None:
    page.goto("overview")
    page.locator(".topic-mark .disc").first.wait_for()


def compare(page: Page) -> None:
    page.goto("compare?topic=q%3Dfourier&topic=q%3Dwavelet&topic=q%3Dconvolution")
    page.locator(".column").first.wait_for()


def segment(page: Page) -> None:
    seeds = "".join(f"&seed={name}:{x},{y}" for name, (x, y) in SEEDS.items())
    page.goto(f"segment?picture=example{seeds}")
    page.locator(".segment-time", has_text="segments").wait_for()


def _search(page: Page, query: str) -> None:
    page.goto(f"./?q={query}")
    page.locator(".whisker").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")


PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "topics": (topics, {}),
    "doubt": (doubt, {}),
    "document": (document, {}),
    "overview": (overview, {}),
    "compare": (compare, {}),
    "segment": (segment, {}),
    "dark": (topics, {"color_scheme": "dark"}),
    "phone": (topics, {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
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
        image.convert("RGB").quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
