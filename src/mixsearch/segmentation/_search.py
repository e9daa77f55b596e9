"""Find the segments of an image whose features are known: over a graph, or by one search per seed in a mixture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from mixsearch.errors import ArgumentError, Option, SearchError, collect_warnings
from mixsearch.gaussian import GaussianComponent
from mixsearch.segmentation._confidence import Confidence
from mixsearch.segmentation._features import FeatureImage, Features
from mixsearch.segmentation._graph_posterior import Correction, make_graph_posterior
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._mixture import SearchOptions, search_mixture
from mixsearch.segmentation._pieces import PieceOptions
from mixsearch.segmentation._posterior import Posterior, compute_labels, compute_probabilities, make_posterior
from mixsearch.segmentation._seeds import Seed, Seeds, add_seeds
from mixsearch.segmentation._segmentation import Segmentation

# The name of the second segment if there is only one seed.
REST = "rest"

Assign = Literal["auto", "graph", "nearest", "posterior"]


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
        """Add seeds, which change what is near them and what was in doubt.

        Parameters
        ----------
        seeds : mapping of str to pixel or pixels
            Further pixels (x, y) of the full image by the names of their segments.

        Returns
        -------
        FoundSegments
        """
        if self._correct is None:
            raise SearchError("Corrections need {assign}='graph'.", code="needs_graph", assign=Option("assign"))
        return self._correct(seeds)

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
            _image=image.subsample(step),
            _compute_probabilities=lambda: compute_probabilities(posterior, image, len(names), step),
            _find_components=self._find_components,
            _confidence=self._confidence,
            _features=self._features,
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
        The state before some of the seeds were added, so that these change only what is near them.

    Returns
    -------
    FoundSegments

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.segmentation import check_seeds, choose_options, compute_features, read_image, search_segments
    >>> pixels = np.random.default_rng(0).normal(0.3, 0.05, (40, 60))
    >>> pixels[:, 30:] += 0.4
    >>> image = read_image(pixels)
    >>> seeds = check_seeds({"dark": (5, 5), "light": (50, 20)}, image)
    >>> found = search_segments(image, compute_features(image, "rgb"), seeds, choose_options("rgb"))
    >>> found.assign_pixels().shares.round(1)
    array([0.5, 0.5])
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
