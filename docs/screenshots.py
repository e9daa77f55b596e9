"""Take the pictures of the page, of its example texts, table and photo: `python -m docs.screenshots [NAME ...]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

# The benchmarks share their browser and their server; they are scripts beside each other, not a package.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from browsing import launch
from paper_experiments.figures import write_picture
from playwright.sync_api import Page, sync_playwright
from web_demo import served

from mixsearch.datasets import make_reviews
from mixsearch.topics import build_index

FOLDER = Path(__file__).parent / "pictures"
DESK = {"width": 1280, "height": 860}
SEEDS = {"sky": "216,96", "meadow": "108,336", "lake": "446,355"}


def show_topics(page: Page) -> None:
    page.goto("./?t=q%3Dsushi&t=q%3Ddelivery&selected=1")
    page.locator("#topic-title").wait_for()
    page.locator("[aria-busy=true]").wait_for(state="detached")
    page.get_by_text("Placing the documents").wait_for(state="detached")
    page.wait_for_load_state("networkidle")


def show_segments(page: Page) -> None:
    seeds = [("seed", f"{name}:{pixels}") for name, pixels in SEEDS.items()]
    page.goto(f"segment?{urlencode([('picture', 'example'), *seeds])}")
    page.locator(".outlines path").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")


def show_table(page: Page) -> None:
    page.goto("table?table=example&examples=3&examples=8&examples=40&not_examples=100")
    page.get_by_text("when left out").first.wait_for()
    page.wait_for_load_state("networkidle")


PICTURES: dict[str, Callable[[Page], None]] = {
    "page": show_topics,
    "web-table": show_table,
    "web-segment": show_segments,
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.index"
        build_index(make_reviews(3_000, random_state=0).to_columns(), path)
        with served(path) as server, sync_playwright() as playwright:
            browser = launch(playwright)
            for name in sys.argv[1:] or PICTURES:
                context = browser.new_context(base_url=f"{server.address}/", viewport=DESK, reduced_motion="reduce")
                page = context.new_page()
                page.set_default_timeout(120_000)
                PICTURES[name](page)
                write_picture(FOLDER / f"{name}.png", page.screenshot(), n_colors=64)
                context.close()
            browser.close()


if __name__ == "__main__":
    main()
