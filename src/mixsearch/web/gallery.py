"""Pictures in memory under names that cannot be guessed, and the last segmentations of them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from mixsearch.datasets import make_landscape
from mixsearch.errors import HintError, SearchError, collect_warnings
from mixsearch.segmentation import (
    FeatureImage,
    RasterImage,
    Seeds,
    Segmentation,
    check_seeds,
    choose_options,
    compute_features,
    parse_seeds,
    read_image,
    search_segments,
)
from mixsearch.web.settings import Limits
from mixsearch.web.shelf import Shelf

EXAMPLE = "example"
MOST_SEEDS, MOST_LETTERS = 64, 60
# Of pictures with features in memory, and of segmentations.
N_DESCRIBED, N_CUT = 4, 8
# What a picture counts for at least, in pixels: many small ones need memory too.
LEAST_COUNTED = 10_000


class GoneError(SearchError):
    """A picture that is not in memory any more, or never was."""

    code = "gone"


@dataclass(frozen=True)
class Question:
    """How a picture is to be cut."""

    seeds: tuple[str, ...]  # as they were typed
    features: Literal["rich", "rgb"] = "rich"
    assign: Literal["nearest", "posterior"] = "nearest"
    every: int = 1  # so many pixels of so many rows, one is told: less is quicker


class Cut(NamedTuple):
    """A picture cut into segments, and what the user should know before trusting it."""

    found: Segmentation
    warnings: tuple[str, ...]


class Gallery:
    """The pictures that users brought, and one that is always there.

    Parameters
    ----------
    limits : Limits
        `most_kept_pixels` of all pictures; `most_pixels` of all segmentations.
    """

    def __init__(self, limits: Limits) -> None:
        self._pictures: Shelf[str, RasterImage] = Shelf(limits.most_kept_pixels, _counted)
        self._described: Shelf[tuple[str, str], FeatureImage] = Shelf(N_DESCRIBED, lambda _: 1)
        least = limits.most_pixels // N_CUT
        self._cut: Shelf[tuple[str, Question], Cut] = Shelf(
            limits.most_pixels, lambda cut: max(cut.found.labels.size, least)
        )

    def add(self, picture: RasterImage) -> str:
        """Keep a picture, and say under which name."""
        name = secrets.token_urlsafe(16)
        self._pictures.put(name, picture)
        return name

    def picture(self, name: str) -> RasterImage:
        """A picture by its name."""
        found = example_picture() if name == EXAMPLE else self._pictures.get(name)
        if found is None:
            raise GoneError("This picture is not in memory any more. Drop it again.")
        return found

    def remove(self, name: str) -> None:
        """Forget a picture and all that was made of it."""
        if name == EXAMPLE:
            raise HintError("The example stays. Only pictures that were brought can be removed.")
        if not self._pictures.drop_where(lambda key: key == name):
            raise GoneError("This picture is not in memory any more.")
        self._described.drop_where(lambda key: key[0] == name)
        self._cut.drop_where(lambda key: key[0] == name)

    def get_ready(self, name: str) -> None:
        """Work out the features that are asked for first, so that the first click need not wait for them."""
        self._describe(name, self.picture(name), Question.features)

    def cut(self, name: str, question: Question) -> Cut:
        """The segments of a picture, worked out once for all that is told of them."""
        picture = self.picture(name)
        return self._cut.once((name, question), lambda: self._search(name, picture, question))

    def _search(self, name: str, picture: RasterImage, question: Question) -> Cut:
        seeds, features = _seeds_of(question, picture), question.features
        described = self._describe(name, picture, features)
        with collect_warnings() as heard:
            found = search_segments(picture, described, seeds, choose_options(features), question.assign, n_jobs=1)
            return Cut(found.assign_pixels(question.every), tuple(dict.fromkeys(map(str, heard))))

    def _describe(self, name: str, picture: RasterImage, features: Literal["rich", "rgb"]) -> FeatureImage:
        return self._described.once((name, features), lambda: compute_features(picture, features))


def _counted(picture: RasterImage) -> int:
    return max(picture.width * picture.height, LEAST_COUNTED)


def _seeds_of(question: Question, picture: RasterImage) -> Seeds:
    given = parse_seeds(question.seeds)
    n_pixels = sum(map(len, given.values()))
    if n_pixels > MOST_SEEDS:
        raise HintError(f"Found {n_pixels} seeds; {MOST_SEEDS} are taken at most. Leave some out.")
    for name in given:
        if len(name) > MOST_LETTERS:
            raise HintError(f"The name {name[:20]!r}... has {len(name)} letters; {MOST_LETTERS} are taken at most.")
    return check_seeds(given, picture)


@cache
def example_picture() -> RasterImage:
    """A landscape for those who have no picture at hand."""
    return read_image(make_landscape(480, 720, random_state=3).image)
