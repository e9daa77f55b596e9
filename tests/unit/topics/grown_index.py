"""A small index with ids and columns, and documents to add to it."""

import datetime

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from mixsearch.text import CorpusOptions
from mixsearch.topics.build import IndexOptions, build_index

SUBJECTS = {
    "food": ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate"],
    "sport": ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup"],
    "law": ["court", "judge", "law", "crime", "trial", "jury", "lawyer", "guilty", "appeal", "oath"],
    "space": ["orbit", "rocket", "comet", "planet", "lunar", "probe", "launch", "thrust", "galaxy", "nebula"],
}
OPTIONS = IndexOptions(n_components=3)
READING = CorpusOptions(text="review", id="review_id", min_df=2, max_df=0.9, stop_words=["and"], phrases=False)


def make_reviews(subjects, first, seed=0):
    """Reviews about subjects, each with two words of any of the first three; every tenth is too short."""
    rng = np.random.default_rng([seed, first])
    common = [word for name in ("food", "sport", "law") for word in SUBJECTS[name]]
    texts = []
    for i, subject in enumerate(subjects):
        words = [*rng.choice(SUBJECTS[subject], 15), *rng.choice(common, 3)]
        texts.append(" and ".join(words[:1] if i % 10 == 9 else words))
    n = len(texts)
    days = rng.integers(0, 700, n)
    return pa.table(
        {
            "review_id": [f"r{first + i}" for i in range(n)],
            "review": texts,
            "stars": rng.integers(1, 6, n),
            "day": [datetime.date(2022, 1, 1) + datetime.timedelta(days=int(day)) for day in days],
            "shop": [("Oslo", "Rome")[i % 2] for i in range(n)],
        }
    )


def list_subjects(n, names=("food", "sport", "law")):
    return [names[i % len(names)] for i in range(n)]


def write_reviews(path, reviews):
    parquet.write_table(reviews, path)
    return path


def build_reviews(folder, reviews, name="index"):
    source = write_reviews(folder / f"{name}.parquet", reviews)
    build_index(source, folder / name, OPTIONS, READING)
    return folder / name
