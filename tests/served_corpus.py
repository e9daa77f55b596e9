"""A small corpus on known subjects, and an index of it, for the tests of the server."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mixsearch.topics import IndexOptions, TopicIndex, build_index, open_index
from tests.every_word import every_word

SUBJECTS = {
    "food": ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate"],
    "sport": ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup"],
    "law": ["court", "judge", "law", "crime", "trial", "jury", "lawyer", "guilty", "appeal", "prison"],
}
LANGUAGE = ["the", "and", "day", "good", "time"]
SCRIPT = "<script>alert(1)</script>"


def draw_texts(n: int = 240, seed: int = 0) -> list[str]:
    """Draw documents on the subjects in turn; the first contains markup and half of a surrogate pair."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(n):
        own = rng.choice(list(SUBJECTS.values())[number % len(SUBJECTS)], 25)
        texts.append(" ".join(np.where(rng.random(25) < 0.7, own, rng.choice(LANGUAGE, 25))))
    return [f"{SCRIPT} {texts[0]} \ud83c", *texts[1:]]


def make_index(folder: Path, n: int = 240) -> Path:
    """An index with texts and names."""
    lines = [json.dumps({"name": f"d{row} <b>", "text": text}) for row, text in enumerate(draw_texts(n))]
    (folder / "texts.jsonl").write_text("\n".join(lines))
    options, reading = IndexOptions(n_components=3), every_word(text="text", id="name")
    return build_index(folder / "texts.jsonl", folder / "corpus.index", options, reading).path


def open_made(folder: Path, n: int = 240) -> TopicIndex:
    """The index, opened."""
    return open_index(make_index(folder, n))
