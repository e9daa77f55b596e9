"""Do the tasks of an analyst on the page, and print how many clicks and seconds each takes.

    python benchmarks/page_tasks.py acl.index table.csv photo.jpg

The index needs a column of dates. Seconds are from the click, or the last key, until the answer is on the screen.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from browsing import launch, served
from playwright.sync_api import Page, expect, sync_playwright

WORD, OTHERS, EXCLUDED = "translation", ("parsing", "sentiment"), "speech"
SEEDS = ((0.5, 0.5), (0.1, 0.1))  # places in the photo
Task = tuple[str, int, Callable[[], object]]


def settle(page: Page, title: str | None = None) -> None:
    """Wait until the answer is shown."""
    if title is not None:
        expect(page.locator("#topic-title")).to_have_text(title)
    expect(page.locator(".columns")).to_have_attribute("aria-busy", "false")


def commit(page: Page, words: str) -> None:
    page.locator("#query").fill(words)
    page.locator("#query").press("Enter")
    settle(page, words)


def download(page: Page, link: str) -> None:
    with page.expect_download() as begun:
        page.get_by_role("link", name=link).click()
    begun.value.path()


def list_topic_tasks(page: Page) -> list[Task]:
    def exclude() -> None:
        page.get_by_role("button", name=f"Remove {WORD}").click()
        commit(page, f"{WORD} -{EXCLUDED}")

    def click(name: str) -> Callable[[], None]:
        return lambda: (page.get_by_role("button", name=name).first.click(), settle(page))[-1]

    def filter_period() -> None:
        menu = page.locator("[aria-label^='Only one']")
        menu.select_option(index=menu.locator("option").count() - 2)
        settle(page)

    def mark() -> None:
        page.locator(".documents .title").first.focus()
        for key in "yyynn":
            page.keyboard.press(key)
        page.get_by_role("button", name="Apply 5 marks").click()
        settle(page)

    def open_document() -> None:
        page.locator(".documents .title").first.click()
        page.get_by_role("dialog").locator(".text").wait_for()

    def see_map() -> None:
        page.goto("./")
        page.locator(".plane canvas[data-drawn]").wait_for()

    def come_back() -> None:
        page.reload()
        settle(page)

    return [
        ("see the chart and the map", 0, see_map),
        ("find a topic", 0, lambda: commit(page, WORD)),
        ("narrow it", 1, click("Narrower")),
        ("broaden it", 1, click("Broader")),
        ("exclude a word", 1, exclude),
        ("compare three", 0, lambda: [commit(page, word) for word in OTHERS]),
        ("filter by a period", 1, filter_period),
        ("open a document", 1, open_document),
        ("read the next one", 0, lambda: page.keyboard.press("ArrowRight")),
        ("close it", 0, lambda: page.keyboard.press("Escape")),
        ("mark five by keys, and apply", 1, mark),
        ("save", 1, lambda: page.get_by_role("button", name=re.compile("^(Save|Forget)$")).click()),
        ("all documents as CSV", 1, lambda: download(page, "Documents as CSV")),
        ("share as HTML", 1, lambda: download(page, "Share as HTML")),
        ("come back later", 0, come_back),
    ]


def list_file_tasks(page: Page, table: Path, photo: Path) -> list[Task]:
    def open_file(path: Path, sign: str) -> None:
        page.goto("open")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Choose a file").click()
        chooser.value.set_files(path)
        page.locator(sign).first.wait_for()

    def find_rows() -> None:
        for row in (3, 8, 17):
            page.get_by_role("button", name=f"yes: row {row}", exact=True).click()
        page.get_by_role("button", name="Find rows like these").click()
        page.locator(".answer h2").wait_for()

    def cut() -> None:
        for i, (x, y) in enumerate(SEEDS):
            box = page.locator(".stage").bounding_box()
            assert box is not None
            page.locator(".stage").click(position={"x": x * box["width"], "y": y * box["height"]})
            expect(page.locator(".share").nth(i)).to_have_text(re.compile("%"))
            expect(page.locator(".stage")).to_have_attribute("aria-busy", "false")

    return [
        ("open a table: its rows are shown", 1, lambda: open_file(table, "tbody tr")),
        ("find rows like three", 4, find_rows),
        ("open a photo: it is shown", 1, lambda: open_file(photo, ".stage img")),
        ("cut it in two", 2, cut),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("index", "table", "photo"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n\n| task | clicks | seconds |\n| --- | ---: | ---: |"
    )
    expect.set_options(timeout=120_000)
    start = time.perf_counter()
    with served(options.index) as address, sync_playwright() as playwright:
        page = launch(playwright).new_context(base_url=f"{address}/", accept_downloads=True).new_page()
        page.set_default_timeout(120_000)
        page.goto("./")
        page.locator(".documents li").first.wait_for()
        print(f"| `mixsearch serve INDEX`, until a topic is shown | 0 | {time.perf_counter() - start:.2f} |")
        for name, n_clicks, do in list_topic_tasks(page) + list_file_tasks(page, options.table, options.photo):
            start = time.perf_counter()
            do()
            print(f"| {name} | {n_clicks} | {time.perf_counter() - start:.2f} |")


if __name__ == "__main__":
    main()
