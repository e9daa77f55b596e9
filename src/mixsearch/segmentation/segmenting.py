"""One search per seed, and every pixel to the segment whose component it is likeliest of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from mixsearch.errors import (
    NotRefinedWarning,
    RankError,
    SearchError,
    SearchWarning,
    SharedComponentWarning,
    WeakHintWarning,
    collect_warnings,
    warn_user,
)
from mixsearch.estimators import GaussianComponent, GaussianSearch
from mixsearch.estimators.base import ask_in_parallel
from mixsearch.segmentation.clusters import Clusters, clusters_of, keep_seeds
from mixsearch.segmentation.features import Described, describe
from mixsearch.segmentation.images import Picture, read_picture
from mixsearch.segmentation.layers import Layer, label_pixels, layer_of, list_probabilities
from mixsearch.segmentation.seeds import Seeds, read_seeds, windows
from mixsearch.segmentation.segmentation import Segmentation
from mixsearch.types import Array

# Moments of so many pixels are as good as those of all.
MOST_SAMPLES = 4000
# In nats: what likelihood steps still gain below this moves no border.
TOLERANCE = 1.0
# What pixels belong to that no seed asks for.
REST = "rest"
ASSIGN = ("nearest", "posterior")


class Recipe(NamedTuple):
    """How components are searched for in features."""

    n_more: int  # components beside those of the seeds: what else is in the picture does not pull at them then
    refine: bool | int  # likelihood steps: a few bring most of what all do
    around: float  # half the side of the square that is known with a seed, as a part of the picture's side


PAPER, OURS = Recipe(0, False, 0.0), Recipe(4, 5, 0.01)


def recipe_for(features: Any) -> Recipe:
    """Plain colours are searched as the paper does it."""
    return PAPER if isinstance(features, str) and features == "rgb" else OURS


def segment(
    image: Any,
    seeds: Any,
    *,
    features: Any = "rich",
    assign: str = "nearest",
    n_components: int | None = None,
    refine: bool | int | None = None,
    n_jobs: int | None = -1,
) -> Segmentation:
    """Cut a picture into segments, from one pixel of each.

    Parameters
    ----------
    image : path, Pillow image or array
        Any size; grey, colour, with or without alpha. Arrays are (h, w) or (h, w, c) of uint8, uint16, bool or floats.
    seeds : list or mapping
        For each segment a pixel (x, y), x to the right and y down, or a list of such pixels. The keys of a mapping name
        the segments. With one seed, the picture is cut into its segment and the rest.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
        "rich" are colour and texture at two scales, and position; "rgb" the pixels' own colours, as in the paper, with
        its choices for the search too. A function is given red, green and blue from 0 to 1, (h', w', 3), of the picture
        or of a smaller copy, and returns (h', w', f).
    assign : {"nearest", "posterior"}, default="nearest"
        To the segment of the nearest center, or the likeliest one given the weights and variances of the components.
    n_components : int, optional
        Gaussians in the picture, those of the seeds among them. By default four more than seeds; with "rgb", as many.
    refine : bool or int, optional
        Sharpen the components by likelihood steps. By default by five, and with "rgb" by none.
    n_jobs : int, default=-1
        Threads that search; -1 for one per core.

    Returns
    -------
    Segmentation

    Notes
    -----
    The pixels' features are taken for a mixture of Gaussians, and each seed is the hint of one search. Moments come
    from some thousand pixels. Features of neighbourhoods are computed on a picture of 160,000 pixels at most, and what
    they say of segments is carried to the full one along its edges.

    Examples
    --------
    >>> import numpy as np
    >>> picture = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> picture[:, 30:] += 0.4
    >>> found = segment(picture, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names, found.shares.round(1)
    (('dark', 'light'), array([0.5, 0.5]))
    """
    if assign not in ASSIGN:
        raise SearchError(f"assign must be one of {', '.join(map(repr, ASSIGN))}; found {assign!r}.")
    picture = read_picture(image)
    given = read_seeds(seeds, picture)
    recipe = recipe_for(features) if refine is None else recipe_for(features)._replace(refine=refine)
    described = describe(picture, features)
    return search_segments(picture, described, given, recipe, assign, n_components, n_jobs).cut()


@dataclass(frozen=True, eq=False)
class FoundSegments:
    """What the search found for the seeds of a picture: enough to tell the segment of any pixel."""

    picture: Picture
    seeds: Seeds
    components: tuple[GaussianComponent, ...]
    layer: Layer

    def cut(self, every: int = 1) -> Segmentation:
        """The picture cut into segments; or a small copy of it, which keeps every so many pixels of so many rows."""
        picture, layer, names = self.picture, self.layer, self.seeds.names
        return Segmentation(
            labels=label_pixels(layer, picture, every),
            names=names,
            seeds=tuple(tuple((x // every, y // every) for x, y in pixels) for pixels in self.seeds.pixels),
            components=self.components,
            picture=picture.thin(every),
            find_probabilities=lambda: list_probabilities(layer, picture, len(names), every),
        )


def search_segments(
    picture: Picture,
    described: Described,
    given: Seeds,
    recipe: Recipe,
    assign: str = "nearest",
    n_components: int | None = None,
    n_jobs: int | None = -1,
) -> FoundSegments:
    """One search for each seed of a picture whose features are known."""
    known = _known(given, described, recipe.around)
    found = _search(_sample(described), known, recipe, n_components, n_jobs)
    if len(known) == 1:
        given = Seeds((*given.names, REST), (*given.pixels, ()))
    clusters = _clusters(found, known, given.names)
    layer = layer_of(picture, described, clusters.alike if assign == "nearest" else clusters)
    return FoundSegments(picture, given, tuple(found[: len(known)]), layer)


def _known(given: Seeds, described: Described, around: float) -> list[Array]:
    """The features of the pixels that are known of each segment, (q, f) each."""
    height, width = described.features.shape
    pixels = windows(given, described.factor, round(around * math.sqrt(height * width)), (height, width))
    if described.picture.visible is not None:
        pixels = [each[described.picture.visible.ravel()[each]] for each in pixels]
    return [described.features.at(each) for each in pixels]


def _sample(described: Described) -> Array:
    """The features of some thousand visible pixels, (n, f)."""
    visible = described.picture.visible
    pixels = None if visible is None else np.flatnonzero(visible)
    n_pixels = math.prod(described.features.shape) if pixels is None else len(pixels)
    n_samples = min(MOST_SAMPLES, n_pixels)
    # One from each of as many stretches of the same length, at random: a fixed step could follow the columns.
    places = (np.arange(n_samples) + np.random.default_rng(0).random(n_samples)) * n_pixels / n_samples
    chosen = places.astype(np.intp)
    return described.features.at(chosen if pixels is None else pixels[chosen])


def _search(
    sample: Array, known: Sequence[Array], recipe: Recipe, n_components: int | None, n_jobs: int | None
) -> list[GaussianComponent]:
    """The component of each segment; of one seed, that of the rest as well, which takes up all that is left."""
    n_segments = max(len(known), 2)
    if len(known) == 1:
        recipe = recipe._replace(n_more=0, refine=False)
    _require_components(n_components, n_segments, exactly=len(known) == 1)
    fitted = _fit(
        sample, n_segments, n_segments + recipe.n_more if n_components is None else n_components, n_components is None
    )

    def search(pixels: Array) -> tuple[GaussianComponent, list[SearchWarning]]:
        with collect_warnings() as heard:
            return fitted.search(examples=pixels, refine=recipe.refine, tol=TOLERANCE), heard

    found, heard = zip(*ask_in_parallel(search, known, n_jobs), strict=True)
    for warning in chain.from_iterable(heard):
        # The answer tells the separation of every segment; steps that lead away from a component leave it as it was.
        if not isinstance(warning, WeakHintWarning | NotRefinedWarning):
            warn_user(warning)
    return [*found] if len(found) > 1 else [*found, found[0].alternatives[0]]


def _require_components(n_components: int | None, n_segments: int, *, exactly: bool) -> None:
    """There must be one for each segment; beside one seed, the rest is one component."""
    if n_components is None or n_components == n_segments or (n_components > n_segments and not exactly):
        return
    raise SearchError(
        f"n_components={n_components}, but {n_segments} segments need {'just' if exactly else 'at least'} as many. "
        + ("Give a seed for the rest of the picture as well, or " if exactly else "Give more, or ")
        + "leave n_components out."
    )


def _fit(sample: Array, n_segments: int, n_components: int, most: bool) -> GaussianSearch:
    """A mixture of so many components, or of as many as the features and pixels hold, but no fewer than segments."""
    n_pixels, n_features = sample.shape
    room = min(n_features, n_pixels - 1)
    if n_segments > room:
        raise SearchError(
            f"Found {n_segments} segments, but {n_features} features of {n_pixels:,} pixels tell {room} apart at most. "
            "Give fewer seeds, or other features: the rich ones are the most."
        )
    for k in range(min(n_components, room), n_segments - 1, -1) if most else (n_components,):
        try:
            return GaussianSearch(k).fit(sample)
        except RankError:
            continue  # so many components need more directions than the pixels differ in
    raise SearchError(
        f"The picture is too uniform to be cut into {n_segments} segments: its pixels differ in fewer directions "
        "than so many components need. Give fewer seeds, or a picture in which segments differ."
    )


def _clusters(found: Sequence[GaussianComponent], known: Sequence[Array], names: Sequence[str]) -> Clusters:
    """The components with their seeds in them, and a warning where that takes more than the search gave."""
    clusters, replaced = keep_seeds(clusters_of(found), known)
    if replaced:
        warn_user(
            SharedComponentWarning(
                f"The seeds of {_listed(names, replaced)} mean the same component, or one seed is nearer to that of "
                "the "
                "other: the pixels around each seed stand for its segment instead. Give more pixels of each, or "
                "features "
                "in which they differ."
            )
        )
    return clusters


def _listed(names: Sequence[str], chosen: Sequence[int]) -> str:
    *others, last = [repr(names[i]) for i in chosen]
    return f"{', '.join(others)} and {last}" if others else last
