"""Segment an image from seeds: by a graph of superpixels, or by one search per seed in a mixture of Gaussians."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.errors import ArgumentError, Option, SearchError, collect_warnings
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation.features import FeatureImage, Features, PixelFeatures, compute_features
from mixsearch.segmentation.gaussians import SegmentGaussians, argmax_segments, softmax_in_place
from mixsearch.segmentation.graph import Confidence
from mixsearch.segmentation.graph_posterior import Correction, PieceOptions, make_graph_posterior, make_piece_options
from mixsearch.segmentation.guided_filter import ALL, GuidedPosterior, compute_luma, fit_guided_filter
from mixsearch.segmentation.image import RasterImage, subsample_slice
from mixsearch.segmentation.image_reading import read_image
from mixsearch.segmentation.mixture import SearchOptions, choose_options, search_mixture
from mixsearch.segmentation.result import Segmentation
from mixsearch.segmentation.seeds import Seed, Seeds, add_seeds, check_not_seeds, check_seeds

if TYPE_CHECKING:
    import PIL.Image

CHUNK_PIXELS = 500_000


class Posterior(Protocol):
    """Labels and probabilities of the pixels of an image."""

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the segment at some rows and columns, (r, c)."""

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the probability of each segment at some rows and columns, (k, r, c)."""


@dataclass(frozen=True, eq=False)
class PixelPosterior:
    """The posterior of each pixel given its own features."""

    features: PixelFeatures
    gaussians: SegmentGaussians

    def scores(self, rows: slice, columns: slice = ALL) -> Array:
        """Return log densities, (k, r, c)."""
        chunk = self.features.rows(rows)[:, columns]
        return self.gaussians.log_densities(chunk.reshape(-1, chunk.shape[2])).reshape(-1, *chunk.shape[:2])

    def labels(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the segment with the largest density, (r, c)."""
        return argmax_segments(self.scores(rows, columns))

    def probabilities(self, rows: slice, columns: slice = ALL) -> Array:
        """Return the probability of each segment at some rows and columns, (k, r, c)."""
        return softmax_in_place(self.scores(rows, columns))


def make_posterior(image: RasterImage, features: FeatureImage, gaussians: SegmentGaussians) -> Posterior:
    """Return the posterior of the pixels themselves, or that of neighborhoods upsampled along the image's edges."""
    direct = PixelPosterior(features.pixels, gaussians)
    if not features.is_local:
        return direct
    small = features.image
    probabilities = np.concatenate([direct.probabilities(rows) for _, rows in _iterate_chunks(small, 1)], axis=1)
    coefficients = fit_guided_filter(probabilities, compute_luma(small.rows(slice(None))))
    return GuidedPosterior(coefficients, image, features.factor)


def compute_labels(posterior: Posterior, image: RasterImage, step: int = 1) -> Array:
    """Return the most probable segment of each pixel of the subsampled image, of int16; -1 if it is transparent."""
    sampled, columns = image.subsample(step), subsample_slice(image.width, step)
    labels = np.empty((sampled.height, sampled.width), dtype=np.int16)
    for target, rows in _iterate_chunks(image, step):
        labels[target] = posterior.labels(rows, columns)
    if sampled.visible is not None:
        labels[~sampled.visible] = -1
    return labels


def compute_probabilities(posterior: Posterior, image: RasterImage, n_segments: int, step: int = 1) -> Array:
    """Return the probability of each segment at these pixels, (h, w, k) of float32; 0 if the pixel is transparent."""
    sampled, columns = image.subsample(step), subsample_slice(image.width, step)
    probabilities = np.empty((sampled.height, sampled.width, n_segments), dtype=np.float32)
    for target, rows in _iterate_chunks(image, step):
        probabilities[target] = np.moveaxis(posterior.probabilities(rows, columns), 0, -1)
    if sampled.visible is not None:
        probabilities[~sampled.visible] = 0
    return probabilities


def _iterate_chunks(image: RasterImage, step: int) -> Iterator[tuple[slice, slice]]:
    """Yield some rows of the subsampled image at a time, and the same rows in the full image."""
    kept = range(image.height)[subsample_slice(image.height, step)]
    for target in row_slices(len(kept), max(CHUNK_PIXELS // image.width, 1)):
        rows = kept[target]
        yield target, slice(rows.start, rows.stop, rows.step)


# The name of the second segment if there is only one seed.
REST = "rest"

Assign = Literal["auto", "graph", "nearest", "posterior"]


def choose_assign(features: Features) -> Assign:
    """Return how pixels are assigned by default: by the graph with rich features, otherwise by the nearest center."""
    return "graph" if isinstance(features, str) and features == "rich" else "nearest"


@dataclass(frozen=True, eq=False)
class FoundSegments:
    """The result of the searches for the seeds: enough to assign every pixel.

    Attributes
    ----------
    image : RasterImage
        The image.
    seeds : Seeds
        The known pixels of each segment.
    """

    image: RasterImage
    seeds: Seeds
    _posterior: Posterior
    _find_components: Callable[[], tuple[GaussianComponent, ...]]
    _confidence: Confidence | None
    _features: FeatureImage
    _correct: Callable[[Mapping[str, Seed]], FoundSegments] | None

    def correct(self, seeds: Mapping[str, Seed]) -> FoundSegments:
        """Add seeds, which change what is near them and what was in doubt."""
        if self._correct is None:
            raise SearchError("Corrections need {assign}='graph'.", code="needs_graph", assign=Option("assign"))
        return self._correct(seeds)

    def assign_pixels(self, step: int = 1) -> Segmentation:
        """Assign each pixel to a segment."""
        image, posterior, names = self.image, self._posterior, self.seeds.names
        return Segmentation(
            labels=compute_labels(posterior, image, step),
            names=names,
            seeds=tuple(tuple((x // step, y // step) for x, y in pixels) for pixels in self.seeds.pixels),
            _image=image.subsample(step),
            _compute_probabilities=lambda: compute_probabilities(posterior, image, len(names), step),
            _find_components=self._find_components,
            _confidence=self._confidence,
            _scale=self._features.factor / step,
            _correct=lambda more: self.correct(more).assign_pixels(step),
        )


def search_segments(
    image: RasterImage,
    features: FeatureImage,
    seeds: Seeds,
    options: SearchOptions,
    assign: Assign = "nearest",
    n_components: int | None = None,
    n_jobs: int | None = -1,
    *,
    not_seeds: Seeds | None = None,
    pieces: PieceOptions | None = None,
    correction: Correction | None = None,
) -> FoundSegments:
    """Find the segments of an image whose features are known."""
    # A correction names all segments, the rest included.
    all_segments = seeds if len(seeds.names) > 1 else Seeds((*seeds.names, REST), (*seeds.pixels, ()))
    excluded = not_seeds.pixels if not_seeds is not None else ()
    excluded = (*excluded, *[()] * (len(all_segments.names) - len(excluded)))
    if assign == "graph":
        posterior = make_graph_posterior(
            image, features, all_segments, Seeds(all_segments.names, excluded), pieces or PieceOptions(), correction
        )
        find = _remember_search(features, seeds, options, n_components, n_jobs)

        def correct(more: Mapping[str, Seed]) -> FoundSegments:
            combined, added = add_seeds(all_segments, more, image)
            return search_segments(
                image,
                features,
                combined,
                options,
                assign,
                n_components,
                n_jobs,
                not_seeds=Seeds(all_segments.names, excluded),
                pieces=pieces,
                correction=Correction(posterior.confidence.probabilities, added),
            )

        return FoundSegments(image, all_segments, posterior, find, posterior.confidence, features, correct)
    _refuse_graph_options(any(excluded), pieces or PieceOptions(), assign)
    components, gaussians = search_mixture(features, seeds, options, n_components, n_jobs)
    of_pixels = make_posterior(image, features, gaussians.pooled if assign == "nearest" else gaussians)
    return FoundSegments(image, all_segments, of_pixels, lambda: components, None, features, None)


def _remember_search(
    features: FeatureImage, seeds: Seeds, options: SearchOptions, n_components: int | None, n_jobs: int | None
) -> Callable[[], tuple[GaussianComponent, ...]]:
    """Return a function that searches for the components, which the graph does not need."""

    def find() -> tuple[GaussianComponent, ...]:
        with collect_warnings():  # about centers that replace components: no pixel is assigned by them
            return search_mixture(features, seeds, options, n_components, n_jobs).components

    return find


def _refuse_graph_options(has_not_seeds: bool, pieces: PieceOptions, assign: Assign) -> None:
    given = {"not_seeds": has_not_seeds} | {
        name: value != default for (name, value), default in zip(pieces._asdict().items(), PieceOptions(), strict=True)
    }
    for name, is_given in given.items():
        if is_given:
            raise ArgumentError(
                "{argument} needs {assign}='graph', got {value!r}.",
                code="needs_graph",
                argument=Option(name),
                assign=Option("assign"),
                value=assign,
            )


def segment(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
    seeds: Sequence[Seed] | Mapping[str, Seed],
    *,
    not_seeds: Mapping[str, Seed] | None = None,
    features: Literal["rich", "rgb"] | Callable[[Array], ArrayLike] | ArrayLike = "rich",
    assign: Assign = "auto",
    connected: bool = False,
    fill_holes: bool = False,
    min_area: float | None = None,
    n_components: int | None = None,
    refine: bool | None = None,
    max_iter: int | None = None,
    n_jobs: int | None = -1,
    frame: int | None = None,
) -> Segmentation:
    """Segment an image from one pixel of each segment.

    Parameters
    ----------
    image : path, Pillow image or array
        Any size; gray or RGB, with or without alpha. Arrays have shape (h, w) or (h, w, c), of uint8, uint16, bool or
        floats.
    seeds : sequence or mapping
        For each segment a pixel (x, y), with x from the left and y from the top, or a list of pixels. The keys of a
        mapping name the segments. One seed gives two segments: its own and the rest. `stroke` and `box` return the
        pixels of lines and rectangles.
    not_seeds : mapping, optional
        Pixels known not to belong to a segment, by the name of the segment.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
        The features of pixels. "rich": color and texture at two scales, and position. "rgb": the colors of single
        pixels, searched as in the paper. A function receives RGB from 0 to 1, of shape (h', w', 3), of the image or of
        a downscaled copy, and returns an array of shape (h', w', f).
    assign : {"auto", "graph", "nearest", "posterior"}, default="auto"
        "graph": interpolate the seeds over a graph of superpixels; every seed keeps its label. "nearest" and
        "posterior": search a mixture for the component of each seed, and assign pixels to the nearest center or to the
        component with the largest posterior probability. "auto": "graph" with rich features unless an option of the
        mixture is given, otherwise "nearest".
    connected : bool, default=False
        Keep only the pieces of a segment that contain a seed. Only with "graph".
    fill_holes : bool, default=False
        Fill pieces without seeds that lie within a single other segment. Only with "graph".
    min_area : float, optional
        Remove pieces without seeds that are smaller than this fraction of the image, by default 0.0005. Only with
        "graph".
    n_components : int, optional
        The number of Gaussians in the image, those of the seeds included. By default four more than segments; with
        "rgb", as many as segments.
    refine : bool, optional
        Refine the components by EM. By default True, and False with "rgb" or a single seed.
    max_iter : int, optional
        The maximum number of EM iterations, by default 5.
    n_jobs : int, default=-1
        The number of threads of the searches; -1 for one per core.
    frame : int, optional
        Which image of an animated or multi-page file to read, from 0. By default the first.

    Returns
    -------
    Segmentation
        Labels, probabilities and the component of each seed.

    See Also
    --------
    prepare_image : Compute what does not depend on the seeds once, for several segmentations of an image.

    Notes
    -----
    "graph" links about 800 superpixels to their neighbors, more weakly across strong edges, and to those with similar
    features. The visits of a random walk define their similarity, and kriging with it interpolates the seeds; a shorter
    walk among neighbors interpolates the residuals at the seeds. "nearest" and "posterior" model the features as a
    mixture of spherical Gaussians, and each seed is the hint of one search. In both cases features of neighborhoods are
    computed on at most 160,000 pixels, and the resulting probabilities are upsampled along the edges of the image by a
    guided filter.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> found = segment(image, {"dark": (5, 5), "light": (50, 20)})
    >>> found.names, found.shares.round(1)
    (('dark', 'light'), array([0.5, 0.5]))
    """
    if assign == "auto" and not (n_components is None and refine is None and max_iter is None):
        assign = "nearest"
    return prepare_image(image, features=features, frame=frame).segment(
        seeds,
        not_seeds=not_seeds,
        assign=assign,
        connected=connected,
        fill_holes=fill_holes,
        min_area=min_area,
        n_components=n_components,
        refine=refine,
        max_iter=max_iter,
        n_jobs=n_jobs,
    )


def prepare_image(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike,
    *,
    features: Literal["rich", "rgb"] | Callable[[Array], ArrayLike] | ArrayLike = "rich",
    frame: int | None = None,
) -> PreparedImage:
    """Compute what does not depend on seeds, so that further segmentations of an image are fast.

    Parameters
    ----------
    image : path, Pillow image or array
        As in `segment`.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
        As in `segment`.
    frame : int, optional
        As in `segment`.

    Returns
    -------
    PreparedImage

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> image[:, 30:] += 0.4
    >>> prepared = prepare_image(image)
    >>> for seeds in ({"dark": (5, 5)}, {"dark": (5, 5), "light": (50, 20)}):
    ...     print(prepared.segment(seeds).names)
    ('dark', 'rest')
    ('dark', 'light')
    """
    raster = read_image(image, frame=frame)
    return PreparedImage(raster, compute_features(raster, features), choose_options(features), choose_assign(features))


@dataclass(frozen=True, eq=False)
class PreparedImage:
    """An image with its features.

    Attributes
    ----------
    image : RasterImage
        The image.
    features : FeatureImage
        Its features.
    """

    image: RasterImage
    features: FeatureImage
    _options: SearchOptions
    _assign: Assign

    def segment(
        self,
        seeds: Sequence[Seed] | Mapping[str, Seed],
        *,
        not_seeds: Mapping[str, Seed] | None = None,
        assign: Assign = "auto",
        connected: bool = False,
        fill_holes: bool = False,
        min_area: float | None = None,
        n_components: int | None = None,
        refine: bool | None = None,
        max_iter: int | None = None,
        n_jobs: int | None = -1,
        step: int = 1,
    ) -> Segmentation:
        """Segment the image."""
        if assign not in get_args(Assign):
            raise ArgumentError(
                "{argument} must be one of {choices}, got {value!r}.",
                argument=Option("assign"),
                choices=", ".join(map(repr, get_args(Assign))),
                value=assign,
            )
        options = self._options
        if refine is not None:
            options = options._replace(refine=refine)
        if max_iter is not None:
            options = options._replace(max_iter=max_iter)
        checked = check_seeds(seeds, self.image)
        return search_segments(
            self.image,
            self.features,
            checked,
            options,
            self._assign if assign == "auto" else assign,
            n_components,
            n_jobs,
            not_seeds=check_not_seeds(not_seeds or {}, checked, self.image),
            pieces=make_piece_options(connected, fill_holes, min_area),
        ).assign_pixels(step)
