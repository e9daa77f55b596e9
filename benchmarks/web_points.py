"""Measure the time of a frame of the map of documents in Chromium, with 100,000 points."""

from __future__ import annotations

import numpy as np
from browsing import launch
from measuring import print_table
from playwright.sync_api import sync_playwright
from web_demo import demo_index, served

N_POINTS, N_FRAMES = 100_000, 60
SIZES = {"desk": {"width": 1280, "height": 720}, "phone": {"width": 390, "height": 844}}
# Every frame zooms a little further, and is drawn anew.
ZOOM = """async (nFrames) => {
    const button = document.querySelector('[aria-label="Zoom in"]');
    const back = document.querySelector('[aria-label="Zoom out"]');
    const next = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    const times = [];
    for (let i = 0; i < nFrames; i += 1) {
        (i % 2 ? back : button).click();
        const start = performance.now();
        await next();
        times.push(performance.now() - start);
    }
    return times;
}"""


def make_points() -> bytes:
    """Return a map of points in ten clouds, as the server encodes it."""
    rng = np.random.default_rng(0)
    topics = rng.integers(10, size=N_POINTS)
    places = rng.uniform(0.2, 0.8, size=(10, 2))[topics] + rng.normal(0, 0.05, size=(N_POINTS, 2))
    x, y = np.clip(65535 * places, 0, 65535).astype("<u2").T
    rows = np.arange(N_POINTS, dtype="<u4")
    return b"".join(each.tobytes() for each in (np.array(N_POINTS, "<u4"), rows, x, y, topics.astype("u1")))


def run(*, quick: bool = False) -> None:
    rows, body = [], make_points()
    with demo_index() as index, served(f"docstrings={index}") as server, sync_playwright() as playwright:
        browser = launch(playwright)
        for name, size in SIZES.items():
            page = browser.new_context(base_url=f"{server.address}/", viewport=size).new_page()
            page.route("**/overview/documents*", lambda route: route.fulfill(body=body))
            page.goto("overview?show=documents")
            page.locator(f'canvas[data-drawn="{N_POINTS}"]').wait_for()
            times = np.array(page.evaluate(ZOOM, 5 if quick else N_FRAMES))
            rows.append([name, f"{np.median(times):.0f} ms", f"{np.quantile(times, 0.95):.0f} ms"])
        browser.close()
    print_table(f"A frame of {N_POINTS:,} points", ["screen", "median", "95%"], rows)


if __name__ == "__main__":
    run()
