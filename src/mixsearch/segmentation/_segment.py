"""Segment an image from seeds: by a graph of superpixels, or by one search per seed in a mixture of Gaussians."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, collect_warnings
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation._confidence import Confidence
from mixsearch.segmentation._features import FeatureImage, Features, compute_features
from mixsearch.segmentation._graph_posterior import Correction, make_graph_posterior
from mixsearch.segmentation._image import RasterImage, read_image
from mixsearch.segmentation._mixture import SearchOptions, choose_options, search_mixture
from mixsearch.segmentation._pieces import PieceOptions, make_piece_options
from mixsearch.segmentation._posterior import Posterior, compute_labels, compute_probabilities, make_posterior
from mixsearch.segmentation._seeds import Seed, Seeds, add_seeds, check_not_seeds, check_seeds
from mixsearch.segmentation._segmentation import Segmentation

if TYPE_CHECKING:
    import PIL.Image

# The name of the second segment if there is only one seed.
REST = "rest"

Assign = Literal["auto", "graph", "nearest", "posterior"]


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
) -> Segmentation:
    """Segment an image from one pixel of each segment.

    Parameters
    ----------
    image : path, Pillow image or array
        Any size; gray or color, with or without alpha. Arrays have shape (h, w) or (h, w, c), of uint8, uint16, bool or
        floats.
    seeds : sequence or mapping
        For each segment a pixel (x, y), with x from the left and y from the top, or a list of pixels. The keys of a
        mapping name the segments. One seed gives two segments: its own and the rest. `stroke` and `box` return the
        pixels of lines and rectangles.
    not_seeds : mapping, optional
        Pixels known not to belong to a segment, by the name of the segment.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
        What pixels are compared by. "rich": color and texture at two scales, and position. "rgb": the colors of single
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

    Returns
    -------
    Segmentation
        Labels, probabilities and the component of each seed.

    See Also
    --------
    prepare_image : Compute what does not depend on the seeds once, for several segmentations of an image.

    Notes
    -----
    "graph": about 800 superpixels are linked to their neighbors, the less the stronger the edge between them, and to
    those with similar features. The visits of a random walk are their similarity, and kriging with it interpolates the
    seeds. The mixture: the features of the pixels are a mixture of spherical Gaussians, and each seed is the hint of
    one search. In both ways features of neighborhoods are computed on at most 160,000 pixels, and the resulting
    probabilities are upsampled along the edges of the image by a guided filter.

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
    return prepare_image(image, features=features).segment(
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
) -> PreparedImage:
    """Compute what does not depend on seeds, so that further segmentations of an image are fast.

    Parameters
    ----------
    image : path, Pillow image or array
        As in `segment`.
    features : {"rich", "rgb"}, callable or array of shape (h, w, f), default="rich"
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
    >>> [prepared.segment([(5, 5), (x, 20)]).shares.round(1)[0] for x in (40, 50)]
    [np.float64(0.5), np.float64(0.5)]
    """
    raster = read_image(image)
    return PreparedImage(raster, compute_features(raster, features), choose_options(features), choose_assign(features))


def choose_assign(features: Features) -> Assign:
    """Return how pixels are assigned by default: by the graph with rich features, otherwise by the nearest center.

    Parameters
    ----------
    features : {"rich", "rgb"}, callable or array
        As in `segment`.

    Returns
    -------
    str
    """
    return "graph" if isinstance(features, str) and features == "rich" else "nearest"


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
        """Segment the image.

        Parameters
        ----------
        seeds : sequence or mapping
            As in `segment`, like all others.
        not_seeds : mapping, optional
            Pixels known not to belong to a segment.
        assign : {"auto", "graph", "nearest", "posterior"}, default="auto"
            How pixels are assigned.
        connected : bool, default=False
            Keep only pieces with a seed.
        fill_holes : bool, default=False
            Fill pieces within a single other segment.
        min_area : float, optional
            Remove smaller pieces.
        n_components : int, optional
            The number of Gaussians in the image.
        refine : bool, optional
            Refine the components by EM.
        max_iter : int, optional
            The maximum number of EM iterations.
        n_jobs : int, default=-1
            The number of threads.
        step : int, default=1
            Assign only one pixel of each square of `step` pixels a side, which is faster.

        Returns
        -------
        Segmentation
        """
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


@dataclass(frozen=True, eq=False)
class FoundSegments:
    """What the seeds of an image say: enough to assign every pixel.

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
    _factor: int
    _correct: Callable[[Mapping[str, Seed]], FoundSegments] | None

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
        image, posterior, names, correct = self.image, self._posterior, self.seeds.names, self._correct
        return Segmentation(
            labels=compute_labels(posterior, image, step),
            names=names,
            seeds=tuple(tuple((x // step, y // step) for x, y in pixels) for pixels in self.seeds.pixels),
            _image=image.subsample(step),
            _compute_probabilities=lambda: compute_probabilities(posterior, image, len(names), step),
            _find_components=self._find_components,
            _confidence=self._confidence,
            _scale=self._factor / step,
            _correct=None if correct is None else lambda more: correct(more).assign_pixels(step),
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
    """Find the segments of an image whose features are known.

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
    assign : {"graph", "nearest", "posterior"}, default="nearest"
        As in `segment`.
    n_components : int, optional
        As in `segment`.
    n_jobs : int, default=-1
        As in `segment`.
    not_seeds : Seeds, optional
        Pixels known not to belong to each segment.
    pieces : PieceOptions, optional
        Which pieces of segments to remove.
    correction : Correction, optional
        What was known before some of the seeds were added, so that they change what is near them.

    Returns
    -------
    FoundSegments
    """
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

        return FoundSegments(image, all_segments, posterior, find, posterior.confidence, features.factor, correct)
    _refuse_graph_options(any(excluded), pieces or PieceOptions(), assign)
    components, gaussians = search_mixture(features, seeds, options, n_components, n_jobs)
    of_pixels = make_posterior(image, features, gaussians.pooled if assign == "nearest" else gaussians)
    return FoundSegments(image, all_segments, of_pixels, lambda: components, None, features.factor, None)


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
