"""Reviews on known subjects, with columns: food rises over the years and dominates one shop; law falls."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mixsearch.topics import IndexOptions, TopicIndex, build_index, open_index
from tests.every_word import every_word
from tests.served_corpus import LANGUAGE, SUBJECTS

YEARS = tuple(range(2015, 2025))
SHOPS = ("Rome", "Oslo")
# Of each year, the part of the documents that are on food; law has the rest but for sport's third.
FOOD = np.linspace(0.07, 0.6, len(YEARS))
SPORT = 1 / 3


def draw_rows(per_year: int = 90, seed: int = 0) -> list[dict[str, object]]:
    """Draw documents of all years in random order, each on one subject."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for year, food in zip(YEARS, FOOD, strict=True):
        for number in range(per_year):
            place = (number + 0.5) / per_year
            subject = "food" if place < food else "sport" if place < food + SPORT else "law"
            words = np.where(rng.random(30) < 0.8, rng.choice(SUBJECTS[subject], 30), rng.choice(LANGUAGE, 30))
            shop = SHOPS[int(rng.random() < (0.1 if subject == "food" else 0.5))]
            rows.append(
                {
                    "title": f"Notes on {subject}, number {number} of {year}",
                    "year": year,
                    "date": f"{year}-{1 + number % 12:02d}-{1 + number % 28:02d}",
                    "shop": shop,
                    "stars": None if number % 10 == 0 else 1 + number % 5,
                    "price": number / 4,
                    "url": f"https://example.org/{year}/{number}",
                    "text": " ".join(words),
                }
            )
    return [rows[place] for place in rng.permutation(len(rows))]


def make_index(folder: Path) -> Path:
    """An index with texts and columns."""
    lines = [json.dumps(row) for row in draw_rows()]
    (folder / "dated.jsonl").write_text("\n".join(lines))
    return build_index(
        folder / "dated.jsonl", folder / "dated.index", IndexOptions(n_components=3), every_word(text="text")
    ).path


def open_made(folder: Path) -> TopicIndex:
    """The index, opened."""
    return open_index(make_index(folder))
