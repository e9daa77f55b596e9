"""Measure the time from a key press to the painted answer in Chromium, for words typed at the speed of a person.

The browser starts with a server that has answered nothing yet. A time runs from the press of a key, as the browser took
it, to the first moment after the frame that shows the topic of what stood in the box then: it holds the request, the
search, the answer's way back and its layout. A key that comes before the answer to the one before it overtakes that
answer, which is then never shown. New answers are those that the server had to work out; for the others it had the same
words before, since a word that is half typed is completed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen

import numpy as np
from browsing import find_browser, launch
from measuring import print_table, verdict
from playwright.sync_api import Page, sync_playwright
from web_demo import Server, demo_index, served

N_DISTINCTIVE, N_RARE = 20, 20
KEY_MS, LOOK_MS = 120, 700
MOST_MS = 150.0
# Keys as the browser took them, the text after each, and the first moment after the frame that shows a topic: a message
# follows a frame without the delay of a timer.
_NOTE_KEYS = """(() => {
    addEventListener("keydown", ({timeStamp}) => performance.mark("pressed", {startTime: timeStamp}), true);
    addEventListener("input", ({target}) =>
        target.id === "query" && performance.mark("typed", {detail: {typed: target.value}}), true);
    let shown = null;
    new MutationObserver(() => {
        const topic = document.getElementById("topic");
        if (topic === null || topic === shown) return;
        shown = topic;
        const hint = topic.querySelector(".eyebrow b").textContent;
        const detail = {typed: document.getElementById("query").value, hint};
        requestAnimationFrame(() => {
            const channel = new MessageChannel();
            channel.port1.onmessage = () => performance.mark("painted", {detail});
            channel.port2.postMessage(null);
        });
    }).observe(document, {childList: true, subtree: true});
})()"""
_READ_MARKS = """() => ["pressed", "typed", "painted"].flatMap((name) =>
    performance.getEntriesByName(name, "mark").map(({startTime, detail}) => ({name, time: startTime, ...detail})))"""


@dataclass(frozen=True)
class Key:
    """A key that changed the text, and what came of it."""

    text: str
    milliseconds: float | None  # to the painted answer; None where it was overtaken
    is_new: bool = False


def run(*, quick: bool = False) -> None:
    if find_browser() is None:
        print("\nNo Chromium was found: run `make browser`, or name one in MIXSEARCH_CHROMIUM.")
        return
    with demo_index() as path, served(f"docstrings={path}") as server, sync_playwright() as playwright:
        words = _words(server)[:: 8 if quick else 1]
        browser = launch(playwright)
        marks = _type_words(browser.new_page(viewport={"width": 1280, "height": 900}), server, words)
        browser.close()
    _print_times(words, keys_of(marks))


def _words(server: Server) -> list[str]:
    """Return distinctive words alternating with rare ones from all over the alphabet."""
    distinctive = _known(server, "", N_DISTINCTIVE)
    beginnings = np.random.default_rng(0).permutation([*"abcdefghijklmnopqrstuvw"])[:N_RARE]
    rare = [_known(server, letter, 100)[-1] for letter in beginnings]
    return [word for pair in zip(distinctive, rare, strict=True) for word in pair]


def _known(server: Server, prefix: str, n: int) -> list[str]:
    with urlopen(f"{server.address}/api/indexes/docstrings/words?prefix={prefix}&n={n}") as answer:
        return [each["word"] for each in json.load(answer)["words"]]


def _type_words(page: Page, server: Server, words: list[str]) -> list[dict[str, Any]]:
    page.add_init_script(_NOTE_KEYS)
    page.goto(f"{server.address}/")
    box = page.locator("#query")
    for word in words:
        box.fill("")
        box.press_sequentially(word, delay=KEY_MS)
        page.locator("#topic .eyebrow b", has_text=re.compile(f"^{re.escape(word)}$")).wait_for()
        page.wait_for_timeout(LOOK_MS)
    marks: list[dict[str, Any]] = page.evaluate(_READ_MARKS)
    return sorted(marks, key=lambda mark: mark["time"])


def keys_of(marks: list[dict[str, Any]]) -> list[Key]:
    """The keys with their times; what a script put into the box, without a key, is none of them."""
    keys: list[Key] = []
    seen: set[str] = set()
    pressed = None
    for place, mark in enumerate(marks):
        if mark["name"] == "pressed":
            pressed = mark["time"]
        elif mark["name"] == "typed":
            if mark["typed"] and pressed is not None:
                painted = _answer_to(mark, marks[place + 1 :])
                time = painted["time"] - pressed if painted else None
                keys.append(Key(mark["typed"], time, painted is not None and painted["hint"] not in seen))
            pressed = None
        else:
            seen.add(mark["hint"])
    return keys


def _answer_to(key: dict[str, Any], later: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the mark of a key's answer; none if the same text is typed again."""
    for mark in later:
        if mark["name"] != "pressed" and mark["typed"] == key["typed"]:
            return mark if mark["name"] == "painted" else None
    return None


def _print_times(words: list[str], keys: list[Key]) -> None:
    painted = [key for key in keys if key.milliseconds is not None]
    rows = []
    for name, chosen in (("all", painted), ("new answers", [key for key in painted if key.is_new])):
        times = [key.milliseconds for key in chosen]
        rows.append((name, str(len(times)), *(f"{np.percentile(times, part):.0f} ms" for part in (50, 95, 100))))
    title = f"{len(words)} words, {len(keys)} keys at {KEY_MS} ms, {len(keys) - len(painted)} overtaken by the next"
    print_table(title, ("answers", "painted", "median", "95%", "slowest"), rows)
    print()
    print(verdict("median from key to paint", float(np.median([key.milliseconds for key in painted])), MOST_MS, " ms"))
