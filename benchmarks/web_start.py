"""Measure the time until the page is usable over a slow connection: 100 ms round trip, 1.6 Mbit/s, nothing cached.

Usable is the moment at which the search box answers what is typed: its view has been built. The other times are the
first paint, and the words to begin with.
"""

from __future__ import annotations

import numpy as np
from browsing import launch
from measuring import print_table, verdict
from playwright.sync_api import Browser, sync_playwright
from web_demo import demo_index, served

LATENCY_MS, BYTES_PER_SECOND = 100, 200_000
N_STARTS = 7
MAX_SECONDS = 1.4
_TIMES = """() => [
    performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
    performance.getEntriesByName("usable")[0].startTime,
    performance.now(),
    performance.getEntriesByType("resource").length,
    performance.getEntriesByType("resource").reduce((sum, each) => sum + each.transferSize, 0) / 1000,
]"""
# The view of topics marks its root when it is built.
_WATCH = """new MutationObserver((_, observer) => {
    if (!document.querySelector("main[data-view]")) return;
    performance.mark("usable");
    observer.disconnect();
}).observe(document, {subtree: true, childList: true, attributes: true})"""


def run(*, quick: bool = False) -> None:
    with demo_index() as path, served(f"docstrings={path}") as server, sync_playwright() as playwright:
        browser = launch(playwright)
        starts = np.array([_start(browser, server.address) for _ in range(2 if quick else N_STARTS)])
        browser.close()
    paint, usable, words, n_files, size = np.median(starts, axis=0)
    heads = ("first paint", "usable", "words to begin with", "requests", "kB")
    rows = [
        (f"{paint / 1000:.2f} s", f"{usable / 1000:.2f} s", f"{words / 1000:.2f} s", f"{n_files:.0f}", f"{size:.0f}")
    ]
    print_table(f"start at {LATENCY_MS} ms and 1.6 Mbit/s, median of {len(starts)}", heads, rows)
    print(verdict("until usable", usable / 1000, MAX_SECONDS, " s"))


def _start(browser: Browser, address: str) -> list[float]:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(_WATCH)
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    speed = {"downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND}
    session.send("Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **speed})
    page.goto(address)
    page.locator(".entry").first.wait_for()
    times: list[float] = page.evaluate(_TIMES)
    context.close()
    return times
