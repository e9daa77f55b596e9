"""Segment an image: one search per seed, then each pixel goes to the segment whose component fits it best."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.data.threads import map_parallel
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
from mixsearch.segmentation._features import FeatureImage, Features, compute_features
from mixsearch.segmentation._gaussians import SegmentGaussians, collect_gaussians, recenter_on_seeds
from mixsearch.segmentation._image import RasterImage, read_image
from mixsearch.segmentation._posterior import Posterior, compute_labels, compute_probabilities, make_posterior
from mixsearch.segmentation._seeds import Seed, Seeds, check_seeds, find_windows
from mixsearch.segmentation._segmentation import Segmentation

if TYPE_CHECKING:
    import PIL.Image

# The moments of this many pixels are as good as those of all.
MAX_SAMPLES = 4000
# In nats of log-likelihood: a smaller gain of EM moves no border.
TOL = 1.0
# Pixels are no mixture of spheres, and the result has the separation of every segment: these are no news.
ABOUT_GAUSSIANS = (DoubtfulExamplesWarning, NotRefinedWarning, UnlikelyMixtureWarning, WeakHintWarning)
# The name of the second segment if there is only one seed.
REST = "rest"

Assign = Literal["nearest", "posterior"]


class SearchOptions(NamedTuple):
    """How the components of the seeds are searched for."""

    n_extra: int  # components besides those of the seeds, for what else is in the image
    refine: bool
    max_iter: int  # of EM: a few iterations bring most of the gain
    window: float  # half the side of the square around a seed that belongs to it, as a fraction of the image's side


PAPER_OPTIONS = SearchOptions(n_extra=0, refine=False, max_iter=5, window=0.0)
DEFAULT_OPTIONS = SearchOptions(n_extra=4, refine=True, max_iter=5, window=0.01)


def choose_options(features: Features) -> SearchOptions:
    """Return the default options of the search: those of the paper for plain colors.

    Parameters
    ----------
    features : {"rich", "rgb"}, callable or array
        As in `segment`.

    Returns
    -------
    SearchOptions
    """
    return PAPER_OPTIONS if isinstance(features, str) and features == "rgb" else DEFAULT_OPTIONS


def segment(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
    seeds: Sequence[Seed] | Mapping[str, Seed],
    *,
    features: Literal["rich", "rgb"] | Callable[[Array], ArrayLike] | ArrayLike = "rich",
    assign: Assign = "nearest",
    n_components: int | None = None,
    refine: bool | None = None,
    max_iter: int | None = None,
    n_jobs: int | None = -1,
) -> Segmentation:
    """Segment an image from one pixel of each segment.

    Parameters
    ----------
    image : path, Pillow image or array
        Any size; gray or color, with or without alpha. Arrays have shape (h, w) or (h, w, c), of uint8, uint16, bool or
        floats.
    seeds : sequence or mapping
        For each segment a pixel (x, y), with x from the left and y from the top, or a list of pixels. The keys of a
        mapping name the segments. One seed gives two segments: its own and the rest.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
        What pixels are compared by. "rich": color and texture at two scales, and position. "rgb": the colors of single
        pixels, searched as in the paper. A function receives RGB from 0 to 1, of shape (h', w', 3), of the image or of
        a downscaled copy, and returns an array of shape (h', w', f).
    assign : {"nearest", "posterior"}, default="nearest"
        Assign pixels to the nearest center, or to the component with the largest posterior probability.
    n_components : int, optional
        The number of Gaussians in the image, those of the seeds included. By default four more than segments; with
        "rgb", as many as segments.
    refine : bool, optional
        Refine the components by EM. By default True, and False with "rgb" or a single seed.
    max_iter : int, optional
        The maximum number of EM iterations, by default 5.
    n_jobs : int, default=-1
        The number of threads; -1 for one per core.

    Returns
    -------
    Segmentation
        Labels, probabilities and the component of each seed.

    Notes
    -----
    The features of the pixels are modeled as a mixture of spherical Gaussians, and each seed is the hint of one search.
    Moments come from a few thousand pixels. Features of neighborhoods are computed on at most 160,000 pixels, and the
    resulting probabilities are upsampled along the edges of the image by a guided filter.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> found = segment(image, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names, found.shares.round(1)
    (('dark', 'light'), array([0.5, 0.5]))
    """
    if assign not in get_args(Assign):
        raise ArgumentError(
            "{argument} must be one of {choices}, got {value!r}.",
            argument=Option("assign"),
            choices=", ".join(map(repr, get_args(Assign))),
            value=assign,
        )
    raster = read_image(image)
    checked = check_seeds(seeds, raster)
    options = choose_options(features)
    if refine is not None:
        options = options._replace(refine=refine)
    if max_iter is not None:
        options = options._replace(max_iter=max_iter)
    described = compute_features(raster, features)
    return search_segments(raster, described, checked, options, assign, n_components, n_jobs).assign_pixels()


@dataclass(frozen=True, eq=False)
class FoundSegments:
    """What the search found for the seeds of an image: enough to assign every pixel.

    Attributes
    ----------
    image : RasterImage
        The image.
    seeds : Seeds
        The known pixels of each segment.
    components : tuple of GaussianComponent
        One per seed.
    """

    image: RasterImage
    seeds: Seeds
    components: tuple[GaussianComponent, ...]
    _posterior: Posterior

    def assign_pixels(self, step: int = 1) -> Segmentation:
        """Assign each pixel to a segment.

        Parameters
        ----------
        step : int, default=1
            Assign only one pixel of each square of `step` pixels a side, which is faster.

        Returns
        -------
        Segmentation
            Of the image, or of the subsampled one.
        """
        image, posterior, names = self.image, self._posterior, self.seeds.names
        return Segmentation(
            labels=compute_labels(posterior, image, step),
            names=names,
            seeds=tuple(tuple((x // step, y // step) for x, y in pixels) for pixels in self.seeds.pixels),
            components=self.components,
            _image=image.subsample(step),
            _compute_probabilities=lambda: compute_probabilities(posterior, image, len(names), step),
        )


def search_segments(
    image: RasterImage,
    features: FeatureImage,
    seeds: Seeds,
    options: SearchOptions,
    assign: Assign = "nearest",
    n_components: int | None = None,
    n_jobs: int | None = -1,
) -> FoundSegments:
    """Run one search for each seed of an image whose features are known.

    Parameters
    ----------
    image : RasterImage
        The image.
    features : FeatureImage
        The features of the image.
    seeds : Seeds
        The known pixels of each segment.
    options : SearchOptions
        How to search, such as `choose_options` returns.
    assign : {"nearest", "posterior"}, default="nearest"
        As in `segment`.
    n_components : int, optional
        As in `segment`.
    n_jobs : int, default=-1
        As in `segment`.

    Returns
    -------
    FoundSegments
    """
    known = _find_known(seeds, features, options.window)
    found = _search(_sample(features), known, options, n_components, n_jobs)
    if len(known) == 1:
        seeds = Seeds((*seeds.names, REST), (*seeds.pixels, ()))
    gaussians = _place_on_seeds(found, known, seeds.names)
    posterior = make_posterior(image, features, gaussians.pooled if assign == "nearest" else gaussians)
    return FoundSegments(image, seeds, tuple(found[: len(known)]), posterior)


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
                "pixels around each of these seeds stand for its segment instead. Give more pixels of each segment, or "
                "other features.",
                segments=_join_names([names[i] for i in replaced]),
                names=[names[i] for i in replaced],
            )
        )
    return gaussians


def _join_names(names: Sequence[str]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} and {last}" if others else last
