"""Draw reviews of restaurants from `reviews.txt`, with dates, cities and stars, and with known subjects."""

from __future__ import annotations

import csv
import datetime
import os
import re
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from sklearn.utils import check_random_state

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState

_CITIES = ("Lisbon", "Oslo", "Rome")
# The mean stars of a review of each subject.
_STARS = {
    "sushi": 4.2,
    "pizza": 3.9,
    "coffee": 4.3,
    "delivery": 2.3,
    "service": 1.9,
    "wine": 4.0,
    "parking": 2.7,
    "music": 3.2,
}
_FIRST_DAY, _N_DAYS = datetime.date(2022, 1, 1), 3 * 365
_GENERAL_SHARE = 0.35
_CONCENTRATION = 0.08
# The concentration of the subject that grows, on the first and on the last day.
_GROWING, _GROWTH = "delivery", (0.02, 0.12)
_CHOICE = re.compile(r"\(([^)]*)\)")


@dataclass(frozen=True, slots=True)
class ReviewData:
    """Reviews with columns.

    Attributes
    ----------
    text : list of str
        The sentences of each review.
    date : list of datetime.date
        The day of each review.
    city : list of str
        Where each was written.
    stars : list of int
        From 1 to 5.
    shares : array of shape (n, k)
        The share of each subject in the sentences of each review. Rows sum to 1.
    subjects : tuple of str
        The names of the subjects, each also a frequent word of its subject.
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


def make_reviews(n_reviews: int = 3_000, *, n_sentences: float = 4, random_state: RandomState = None) -> ReviewData:
    """Draw reviews of restaurants: sentences on one or two of eight subjects, among sentences that fit all reviews.

    Reviews of deliveries become more frequent over three years, and subjects differ in their stars.

    Parameters
    ----------
    n_reviews : int
        The number of reviews n.
    n_sentences : float
        The mean number of sentences.
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
    names = tuple(_STARS)
    days = rng.randint(_N_DAYS, size=n_reviews)
    concentration = np.full((n_reviews, len(names)), _CONCENTRATION)
    concentration[:, names.index(_GROWING)] = np.interp(days, (0, _N_DAYS), _GROWTH)
    drawn = rng.standard_gamma(concentration) + 1e-12
    interest = drawn / drawn.sum(axis=1, keepdims=True)
    n_specific = np.maximum(rng.poisson((1 - _GENERAL_SHARE) * n_sentences, size=n_reviews), 1)
    counts = np.array([rng.multinomial(n, row) for n, row in zip(n_specific, interest, strict=True)])
    n_general = rng.poisson(_GENERAL_SHARE * n_sentences, size=n_reviews)
    shares = counts / counts.sum(axis=1, keepdims=True)
    stars = np.clip(shares @ np.array(list(_STARS.values())) + 0.7 * rng.standard_normal(n_reviews), 1, 5)
    sentences = _read_sentences()
    wanted = [dict(zip(("general", *names), row, strict=True)) for row in np.column_stack([n_general, counts])]
    return ReviewData(
        text=[_write_review(rng, sentences, *pair) for pair in zip(wanted, (stars - 1) / 4, strict=True)],
        date=[_FIRST_DAY + datetime.timedelta(days=int(day)) for day in days],
        city=[_CITIES[index] for index in rng.randint(len(_CITIES), size=n_reviews)],
        stars=[int(value) for value in np.rint(stars)],
        shares=shares,
        subjects=names,
    )


def _read_sentences() -> dict[tuple[str, str], list[str]]:
    """Return the sentences of each subject and sign."""
    sentences: dict[tuple[str, str], list[str]] = {}
    subject = ""
    for line in files(__package__).joinpath("reviews.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            subject = line.strip("[]")
        elif line[:1] in {"+", "-"}:
            sentences.setdefault((subject, line[0]), []).append(line[2:])
    return sentences


def _write_review(
    rng: np.random.RandomState, sentences: dict[tuple[str, str], list[str]], counts: dict[str, int], praise: float
) -> str:
    """Draw sentences of each subject, none twice, of which about the share `praise` praises."""
    drawn = []
    for subject, count in counts.items():
        n_praises = rng.binomial(count, praise)
        for sign, n in (("+", n_praises), ("-", count - n_praises)):
            if n:
                candidates = sentences[subject, sign]
                drawn += [candidates[index] for index in rng.permutation(len(candidates))[:n]]
    filled = [_CHOICE.sub(lambda match: rng.choice(match[1].split("|")), sentence) for sentence in drawn]
    return " ".join(filled[index] for index in rng.permutation(len(filled)))
