"""Search a mixture of Gaussians for the component of each seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import (
    ArgumentError,
    DoubtfulExamplesWarning,
    NotRefinedWarning,
    Option,
    RankError,
    SearchError,
    SearchWarning,
    SharedComponentWarning,
    UnlikelyMixtureWarning,
    WeakHintWarning,
    collect_warnings,
    warn_user,
)
from mixsearch.gaussian import GaussianComponent, GaussianSearch
from mixsearch.machine import map_parallel
from mixsearch.segmentation.features import FeatureImage, Features
from mixsearch.segmentation.gaussians import SegmentGaussians, collect_gaussians, recenter_on_seeds
from mixsearch.segmentation.seeds import Seeds, find_windows

# The moments of this many pixels are as good as those of all.
MAX_SAMPLES = 4000
# In nats of log-likelihood: a smaller gain of EM moves no border.
TOL = 1.0
# Pixels are no mixture of spheres, and the result has the separation of every segment: these are no news.
ABOUT_GAUSSIANS = (DoubtfulExamplesWarning, NotRefinedWarning, UnlikelyMixtureWarning, WeakHintWarning)


class SearchOptions(NamedTuple):
    """How the components of the seeds are searched for."""

    n_extra: int  # components besides those of the seeds, for what else is in the image
    refine: bool
    max_iter: int  # of EM: a few iterations bring most of the gain
    window: float  # half the side of the square around a seed that belongs to it, as a fraction of the image's side


PAPER_OPTIONS = SearchOptions(n_extra=0, refine=False, max_iter=5, window=0.0)
DEFAULT_OPTIONS = SearchOptions(n_extra=4, refine=True, max_iter=5, window=0.01)


def choose_options(features: Features) -> SearchOptions:
    """Return the default options of the search: those of the paper for plain colors."""
    return PAPER_OPTIONS if isinstance(features, str) and features == "rgb" else DEFAULT_OPTIONS


class FoundMixture(NamedTuple):
    """The components of the seeds, and the Gaussians of the segments."""

    components: tuple[GaussianComponent, ...]  # one per segment with seeds
    gaussians: SegmentGaussians  # of all segments: with one seed, the second is the rest


def search_mixture(
    features: FeatureImage, seeds: Seeds, options: SearchOptions, n_components: int | None, n_jobs: int | None
) -> FoundMixture:
    """Run one search for the seeds of each segment of an image."""
    named = Seeds(*zip(*((name, some) for name, some in zip(*seeds, strict=True) if some), strict=True))
    known = _find_known(named, features, options.window)
    found = _search(_sample(features), known, options, n_components, n_jobs)
    return FoundMixture(tuple(found[: len(known)]), _place_on_seeds(found, known, named.names))


def _find_known(seeds: Seeds, features: FeatureImage, window: float) -> list[Array]:
    """Return the features of the known pixels of each segment, (q, f) each."""
    height, width = features.pixels.shape
    pixels = find_windows(seeds, features.factor, round(window * math.sqrt(height * width)), (height, width))
    if features.image.visible is not None:
        pixels = [each[features.image.visible.ravel()[each]] for each in pixels]
    return [features.pixels.at(each) for each in pixels]


def _sample(features: FeatureImage) -> Array:
    """Return the features of a few thousand visible pixels, (n, f)."""
    visible = features.image.visible
    pixels = None if visible is None else np.flatnonzero(visible)
    n_pixels = math.prod(features.pixels.shape) if pixels is None else len(pixels)
    n_samples = min(MAX_SAMPLES, n_pixels)
    # A random one from each of n_samples intervals of equal length: a fixed step could follow the columns.
    positions = (np.arange(n_samples) + np.random.default_rng(0).random(n_samples)) * n_pixels / n_samples
    chosen = positions.astype(np.intp)
    return features.pixels.at(chosen if pixels is None else pixels[chosen])


def _search(
    sample: Array, known: Sequence[Array], options: SearchOptions, n_components: int | None, n_jobs: int | None
) -> list[GaussianComponent]:
    """Return the component of each segment. With one seed, the second one is the rest."""
    n_segments = max(len(known), 2)
    if len(known) == 1:
        options = options._replace(n_extra=0, refine=False)
    _check_components(n_components, n_segments, exactly=len(known) == 1)
    if n_components is None:
        fitted = _fit_largest(sample, n_segments, n_segments + options.n_extra)
    else:
        fitted = _fit(sample, n_segments, [n_components])

    def search(pixels: Array) -> tuple[GaussianComponent, list[SearchWarning]]:
        with collect_warnings() as collected:
            found = fitted.search(examples=pixels, refine=options.refine, tol=TOL, max_iter=options.max_iter)
            return found, collected

    found, collected = zip(*map_parallel(search, known, n_jobs), strict=True)
    for warning in chain.from_iterable(collected):
        if not isinstance(warning, ABOUT_GAUSSIANS):
            warn_user(warning)
    return [*found] if len(found) > 1 else [*found, found[0].alternatives[0]]


def _check_components(n_components: int | None, n_segments: int, *, exactly: bool) -> None:
    """Require one component per segment; with one seed, the rest is a single component."""
    if n_components is None or n_components == n_segments or (n_components > n_segments and not exactly):
        return
    raise ArgumentError(
        "{argument}={n_components}, but {n_segments} segments need exactly {n_segments} components. Add a seed for the "
        "rest of the image, or omit {argument}."
        if exactly
        else "{argument}={n_components}, but {n_segments} segments need at least {n_segments} components.",
        code="bad_n_components",
        argument=Option("n_components"),
        n_components=n_components,
        n_segments=n_segments,
    )


def _fit_largest(sample: Array, n_segments: int, n_components: int) -> GaussianSearch:
    """Fit as many components as features and pixels allow: at most n_components, at least one per segment."""
    return _fit(sample, n_segments, range(min(n_components, _count_supported(sample)), n_segments - 1, -1))


def _count_supported(sample: Array) -> int:
    """Return how many Gaussians the features and pixels can tell apart."""
    n_pixels, n_features = sample.shape
    return int(min(n_features, n_pixels - 1))


def _fit(sample: Array, n_segments: int, choices: Sequence[int]) -> GaussianSearch:
    """Fit a mixture with the first of these numbers of components that the sample supports."""
    n_pixels, n_features = sample.shape
    if n_segments > _count_supported(sample):
        raise SearchError(
            "{n_features} features of {n_pixels:,} pixels can separate at most {max_segments} segments, but there are "
            "{n_segments}. Give fewer seeds or more features.",
            code="too_many_segments",
            n_segments=n_segments,
            n_features=n_features,
            n_pixels=n_pixels,
            max_segments=_count_supported(sample),
        )
    for k in choices:
        try:
            with collect_warnings():  # pixels are no mixture of spheres, and rows of the sample mean nothing to users
                return GaussianSearch(k).fit(sample)
        except RankError:
            continue  # the pixels differ in fewer directions than k components need
    raise SearchError(
        "The image is too uniform for {n_segments} segments: its pixels differ in too few directions. Give fewer "
        "seeds, or an image in which the segments differ.",
        code="image_uniform",
        n_segments=n_segments,
    )


def _place_on_seeds(
    found: Sequence[GaussianComponent], known: Sequence[Array], names: Sequence[str]
) -> SegmentGaussians:
    """Return the Gaussians with each seed in its own segment, and warn if that replaces a component."""
    gaussians, replaced = recenter_on_seeds(collect_gaussians(found), known)
    if replaced:
        warn_user(
            SharedComponentWarning(
                "The seeds of {segments} find the same component, or are closer to the component of another seed. The "
                "pixels around each of these seeds are used for its segment instead. Give more pixels of each "
                "segment, or other features.",
                segments=_join_names([names[i] for i in replaced]),
                names=[names[i] for i in replaced],
            )
        )
    return gaussians


def _join_names(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}" if others else last
