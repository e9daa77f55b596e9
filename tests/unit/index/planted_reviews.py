"""Reviews about three things, in which every word of a thing belongs to it alone, with typed columns."""

import datetime

import numpy as np
import pandas as pd

THINGS = {
    "sushi": ["sushi", "rice", "wasabi", "salmon", "tuna", "miso", "ginger", "nori"],
    "taxi": ["taxi", "driver", "traffic", "airport", "fare", "luggage", "route", "lane"],
    "hotel": ["hotel", "pillow", "lobby", "shower", "towel", "balcony", "elevator", "reception"],
}
# About which of them each document is, by row.
ORDER = tuple(THINGS)


def make_reviews(n=240, seed=0):
    """Document i is about thing i % 3; taxis come in the first half of the days, hotels in the second."""
    rng = np.random.default_rng(seed)
    things = [ORDER[i % 3] for i in range(n)]
    texts = [" ".join(rng.choice(THINGS[thing], 14)) for thing in things]
    first = datetime.date(2023, 1, 1)
    offsets = {"sushi": (0, 720), "taxi": (0, 360), "hotel": (360, 720)}
    days = [first + datetime.timedelta(days=int(rng.integers(*offsets[thing]))) for thing in things]
    return pd.DataFrame(
        {
            "text": texts,
            "key": [f"doc {i}" for i in range(n)],
            "title": [f"Review {i}" for i in range(n)],
            "url": [f"https://example.org/{i}" for i in range(n)],
            "date": pd.to_datetime(days),
            "shop": [("north", "south")[i % 2] for i in range(n)],
            "stars": rng.integers(1, 6, n),
            "is_new": [i % 4 == 0 for i in range(n)],
        }
    )
