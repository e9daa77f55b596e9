"""Take the pictures of the page, of its example texts, table and photo: `python -m docs.screenshots [NAME ...]`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

# The benchmarks share a browser and a server; they are scripts beside each other, not a package.
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

from browsing import launch, served
from paper_experiments.figures import write_picture
from playwright.sync_api import Page, sync_playwright

from mixsearch.datasets import make_reviews
from mixsearch.topics import build_index

FOLDER = Path(__file__).parent / "pictures"
DESK = {"width": 1280, "height": 860}
SEEDS = {"sky": "216,96", "meadow": "108,336", "lake": "446,355"}


def open_topics(page: Page, **state: str) -> None:
    page.goto(f"./?{urlencode([('t', 'q=sushi'), ('t', 'q=delivery'), *state.items()])}")
    page.locator("#topic-title").wait_for()
    page.locator("[aria-busy=true]").wait_for(state="detached")
    page.locator(".plane canvas[data-drawn]").wait_for()
    page.wait_for_load_state("networkidle")


def show_groups(page: Page) -> None:
    open_topics(page, by="city", column="city", group="Oslo")


def show_judged(page: Page) -> None:
    """Judge a sample: yes for those that mention sushi."""
    open_topics(page)
    page.get_by_role("button", name="Judge a sample").click()
    page.get_by_role("button", name="Best documents").wait_for()
    texts = page.locator(".snippet").all_inner_texts()
    page.locator(".documents .title").first.focus()
    for text in texts:
        page.keyboard.press("y" if "sushi" in text.lower() else "n")
    page.get_by_text("By 10 judged documents").wait_for()
    page.locator(".masthead").scroll_into_view_if_needed()


def show_segments(page: Page) -> None:
    seeds = [("seed", f"{name}:{pixels}") for name, pixels in SEEDS.items()]
    page.goto(f"segment?{urlencode([('picture', 'example'), *seeds])}")
    page.locator(".outlines path").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")


def show_table(page: Page) -> None:
    page.goto("table?table=example&examples=3&examples=8&examples=40&not_examples=100")
    page.get_by_text("when left out").first.wait_for()
    page.wait_for_load_state("networkidle")


DARK, PHONE = {"color_scheme": "dark"}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}
PICTURES: dict[str, tuple[Callable[[Page], None], dict[str, Any]]] = {
    "page": (lambda page: open_topics(page, selected="1"), {}),
    "web-groups": (show_groups, DARK),
    "web-judged": (show_judged, {}),
    "web-phone": (open_topics, PHONE),
    "web-table": (show_table, {}),
    "web-segment": (show_segments, {}),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.index"
        build_index(make_reviews(3_000, random_state=0).to_columns(), path)
        with served(path) as address, sync_playwright() as playwright:
            browser = launch(playwright)
            for name in sys.argv[1:] or PICTURES:
                show, look = PICTURES[name]
                shape = {"viewport": DESK, "reduced_motion": "reduce"} | look
                context = browser.new_context(base_url=f"{address}/", **shape)
                page = context.new_page()
                page.set_default_timeout(120_000)
                show(page)
                write_picture(FOLDER / f"{name}.png", page.screenshot(), n_colors=64)
                context.close()
            browser.close()


if __name__ == "__main__":
    main()
