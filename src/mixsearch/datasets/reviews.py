"""Draw reviews of restaurants, with dates, cities and stars, and with known subjects."""

from __future__ import annotations

import csv
import datetime
import os
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState

_SUBJECTS = {
    "sushi": "sushi tuna salmon rice wasabi roll sashimi ginger soy nori eel tempura miso maki",
    "pizza": "pizza crust cheese dough oven basil mozzarella tomato slice pepperoni topping calzone garlic olive",
    "coffee": "coffee espresso latte barista beans cappuccino roast milk foam cup mocha brew aroma pastry",
    "delivery": "delivery driver app late order box cold courier tracking address doorbell refund bag missing",
    "service": "service waiter rude staff manager table slow attitude ignored hostess apology tip polite bill",
    "wine": "wine bottle red glass cellar tasting vintage list grape sommelier pinot pairing oak dry",
    "parking": "parking lot garage street meter car valet spot tow traffic bus station walk bike",
    "music": "music band loud jazz speakers stage dance playlist guitar singer noise drums concert volume",
}
_COMMON = (
    "good great place really nice time back come would like went got one best try little always friends love visit "
    "definitely night people pretty small area week first made day town menu dinner lunch favorite"
)
_CITIES = ("Lisbon", "Oslo", "Rome")
# The mean stars of a review of each subject.
_STARS = dict(zip(_SUBJECTS, (4.2, 3.9, 4.3, 2.3, 1.9, 4.0, 2.7, 3.2), strict=True))
_FIRST_DAY, _N_DAYS = datetime.date(2022, 1, 1), 3 * 365
_COMMON_SHARE = 0.45
_CONCENTRATION = 0.08
# The concentration of the subject that grows, on the first and on the last day.
_GROWING, _GROWTH = "delivery", (0.02, 0.12)


@dataclass(frozen=True, slots=True)
class ReviewData:
    """Reviews with columns.

    Attributes
    ----------
    text : list of str
        The words of each review.
    date : list of datetime.date
        The day of each review.
    city : list of str
        Where each was written.
    stars : list of int
        From 1 to 5.
    shares : array of shape (n, k)
        The share of each subject in each review. Rows sum to 1.
    subjects : tuple of str
        The names of the subjects, each also the most frequent word of its subject.
    """

    text: list[str]
    date: list[datetime.date]
    city: list[str]
    stars: list[int]
    shares: Array
    subjects: tuple[str, ...]

    def to_columns(self) -> dict[str, list[str] | list[int] | list[datetime.date]]:
        """Return the columns of a table, as `build_index` and data frames take them."""
        return {"text": self.text, "date": self.date, "city": self.city, "stars": self.stars}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the columns to a file, for the command line."""
        columns = self.to_columns()
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


def make_reviews(n_reviews: int = 3_000, *, length: float = 30, random_state: RandomState = None) -> ReviewData:
    """Draw reviews of restaurants: words on one or two of eight subjects, among words that all reviews have.

    Reviews of deliveries become more frequent over three years, and subjects differ in their stars.

    Parameters
    ----------
    n_reviews : int
        The number of reviews n.
    length : float
        The mean number of words.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    ReviewData

    Examples
    --------
    >>> reviews = make_reviews(100, random_state=0)
    >>> len(reviews.text), reviews.shares.shape
    (100, (100, 8))
    """
    rng = check_random_state(random_state)
    names = tuple(_SUBJECTS)
    days = rng.randint(_N_DAYS, size=n_reviews)
    concentration = np.full((n_reviews, len(names)), _CONCENTRATION)
    concentration[:, names.index(_GROWING)] = np.interp(days, (0, _N_DAYS), _GROWTH)
    drawn = rng.standard_gamma(concentration) + 1e-12
    shares = drawn / drawn.sum(axis=1, keepdims=True)
    stars = shares @ np.array([_STARS[name] for name in names]) + 0.7 * rng.standard_normal(n_reviews)
    lengths = np.maximum(rng.poisson(length, size=n_reviews), 3)
    return ReviewData(
        text=_write(rng, shares, lengths),
        date=[_FIRST_DAY + datetime.timedelta(days=int(day)) for day in days],
        city=[_CITIES[index] for index in rng.randint(len(_CITIES), size=n_reviews)],
        stars=[int(value) for value in np.clip(np.rint(stars), 1, 5)],
        shares=shares,
        subjects=names,
    )


def _write(rng: np.random.RandomState, shares: Array, lengths: Array) -> list[str]:
    """Draw the words of all reviews by Zipf's law, from the common ones and from the subjects."""
    chances = np.column_stack([np.full(len(shares), _COMMON_SHARE), (1 - _COMMON_SHARE) * shares])
    counts = np.array([rng.multinomial(n, row) for n, row in zip(lengths, chances, strict=True)])
    drawn = []
    for vocabulary, count in zip([_COMMON, *_SUBJECTS.values()], counts.T, strict=True):
        choices = vocabulary.split()
        weights = 1 / np.arange(2, len(choices) + 2)
        words = rng.choice(choices, size=count.sum(), p=weights / weights.sum())
        drawn.append(np.split(words, np.cumsum(count)[:-1]))
    return [" ".join(rng.permutation(np.concatenate(words))) for words in zip(*drawn, strict=True)]
