"""Segment an image from seeds: by a graph of superpixels, or by one search per seed in a mixture of Gaussians."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option
from mixsearch.segmentation._features import FeatureImage, compute_features
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._image_reading import read_image
from mixsearch.segmentation._mixture import SearchOptions, choose_options
from mixsearch.segmentation._pieces import make_piece_options
from mixsearch.segmentation._search import Assign, choose_assign, search_segments
from mixsearch.segmentation._seeds import Seed, check_not_seeds, check_seeds
from mixsearch.segmentation._segmentation import Segmentation

if TYPE_CHECKING:
    import PIL.Image


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
        Any size; gray, color or any number of channels, with or without alpha. Arrays have shape (h, w) or (h, w, c),
        of uint8, uint16, bool or floats.
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
