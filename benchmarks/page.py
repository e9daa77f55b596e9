"""Measure the page on an index: its first load, also on a slow line, answers while typing, and 32 clients at a time.

    python benchmarks/page.py debian.index
    python benchmarks/page.py debian.index --clients 32 --seconds 60

A key is painted when its answer is on the screen. A client asks for a topic, its groups and a completion in turn, one
request a second, as somebody who types.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from browsing import launch, served
from playwright.sync_api import Page, sync_playwright

from mixsearch.topics import TopicIndex, open_index

N_WORDS = 50
MAX_SECONDS = 10
SLOW_LINE = {"offline": False, "latency": 100, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 1.6e6 / 8}
KEY_MILLISECONDS = 90  # between two keys
# Notes when the last key was pressed, and when the answer to it was painted: after the frame that follows it.
WATCH = """() => {
    window.keys = {pressed: 0, painted: 0};
    document.addEventListener("input", () => { window.keys = {pressed: performance.now(), painted: 0}; });
    const look = (entry) => {
        const asked = keys;
        if (!entry.name.includes("/topic?") || entry.startTime < asked.pressed || entry.responseStatus !== 200) return;
        requestAnimationFrame(() => setTimeout(() => { asked.painted ||= performance.now(); }));
    };
    new PerformanceObserver((list) => list.getEntries().forEach(look)).observe({type: "resource"});
}"""


def choose_words(index: TopicIndex, n: int) -> list[str]:
    """Choose words that some hundreds of documents contain."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = [each.word for first in letters for second in letters for each in index.complete_word(first + second, 4)]
    single = [word for word in found if word.isalpha() and 4 <= len(word) <= 9]
    return random.Random(0).sample(sorted(set(single)), min(n, len(set(single))))


def load_page(page: Page, conditions: dict[str, Any] | None = None) -> dict[str, float]:
    """Load the start, and return the number of requests, their compressed size and the time until it can be used."""
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    if conditions:
        line.send("Network.emulateNetworkConditions", conditions)
    sizes: list[float] = []
    line.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    start = time.perf_counter()
    page.goto("./")
    page.locator("#query").wait_for()
    usable = time.perf_counter() - start
    page.locator(".documents li").first.wait_for()
    answered = time.perf_counter() - start
    page.locator(".plane canvas[data-drawn]").wait_for()
    return {"requests": len(sizes), "kB": sum(sizes) / 1000, "usable": usable, "answered": answered}


def time_keys(page: Page, words: list[str]) -> list[float]:
    """Type words, and return the milliseconds from their last key to the painted answer."""
    page.evaluate(WATCH)
    times = []
    for word in words:
        page.locator("#query").fill("")
        page.keyboard.type(word, delay=KEY_MILLISECONDS)
        end = time.perf_counter() + MAX_SECONDS
        while (seconds := page.evaluate("() => keys.painted - keys.pressed")) < 0 and time.perf_counter() < end:
            time.sleep(0.02)
        times += [seconds] if seconds > 0 else []  # none for what is not found
    return times


def ask(
    address: str, name: str, words: list[str], end: float, seed: int, times: list[float], errors: list[Any]
) -> None:
    """Ask as one client until the end."""
    chooser, connection = random.Random(seed), HTTPConnection(urlsplit(address).netloc, timeout=60)
    described = json.loads(_get(connection, "/api/indexes"))["indexes"][0]
    column = described["over"] or described["by"]
    time.sleep(chooser.random())
    while time.perf_counter() < end:
        query = urlencode({"q": chooser.choice(words)})
        paths = [f"topic?{query}", f"words?prefix={query[2:5]}"]
        if column:
            paths.append(f"groups?{urlencode({'topic': query, 'over' if described['over'] else 'by': column})}")
        start = time.perf_counter()
        try:
            _get(connection, f"/api/indexes/{name}/{chooser.choice(paths)}")
        except (OSError, RuntimeError) as error:
            errors.append(error)
        times.append(time.perf_counter() - start)
        time.sleep(max(1 - times[-1], 0))


def _get(connection: HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{answer.status}: {body[:200]!r}")
    return body


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(int(share * len(times)), len(times) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    index = open_index(options.index)
    words = choose_words(index, N_WORDS)
    print(f"{index.n_documents:,} documents, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| what | measured |\n| --- | --- |")
    with served(options.index) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        shape = {"base_url": f"{address}/", "viewport": {"width": 1440, "height": 900}}
        for where, conditions in (("", None), ("first load", None), ("at 1.6 Mbit/s and 100 ms", SLOW_LINE)):
            page = browser.new_context(**shape).new_page()
            page.set_default_timeout(300_000)
            loaded = load_page(page, conditions)
            if where:  # before, documents are placed, once for all
                print(f"| {where}: requests, compressed | {loaded['requests']:.0f}, {loaded['kB']:.0f} kB |")
                times = f"{loaded['usable']:.2f} s; {loaded['answered']:.2f} s"
                print(f"| {where}: one can type; a topic is shown | {times} |")
            if where == "first load":
                keys = time_keys(page, words)
                measured = f"{statistics.median(keys):.0f}, {quantile(keys, 0.9):.0f} ms"
                print(f"| last key to painted answer, {len(keys)} words: median, 90% | {measured} |")
        browser.close()
        waited: list[float] = []
        errors: list[Any] = []
        end = time.perf_counter() + options.seconds
        facts = (address, options.index.stem, words, end)
        clients = [threading.Thread(target=ask, args=(*facts, i, waited, errors)) for i in range(options.clients)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        print(
            f"| {options.clients} clients, {len(waited):,} requests: errors; median, 95% | {len(errors)}; "
            f"{1000 * statistics.median(waited):.0f}, {1000 * quantile(waited, 0.95):.0f} ms |"
        )
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}")
    if errors:
        print(errors[:3])


if __name__ == "__main__":
    main()
