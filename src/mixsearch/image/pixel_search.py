"""The paper's search: the color of each pixel is a sample of a mixture of Gaussians, and a seed is a hint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.errors import RankError, SearchError, SharedComponentWarning, collect_warnings, warn_user
from mixsearch.gaussian import GaussianSearch
from mixsearch.image.reading import RasterImage
from mixsearch.image.seeds import Seeds


def search_centers(image: RasterImage, seeds: Seeds) -> Array:
    """Find the center of each segment, (k, 3): one search per seed, among as many components as segments."""
    # The moments of a few thousand pixels are as good as those of all.
    sample = image.subsample(max(int(np.sqrt(image.height * image.width / 4000)), 1))
    colors = sample.to_rgb().reshape(-1, 3) if sample.visible is None else sample.to_rgb()[sample.visible]
    known = [image.to_rgb(*np.array(pixels)[:, ::-1].T) for pixels in seeds.pixels if pixels]
    with collect_warnings():  # colors of pixels are no spheres, and rows of the sample mean nothing to users
        try:
            search = GaussianSearch(len(seeds.names)).fit(colors)
        except (RankError, SearchError) as error:
            raise SearchError(
                "The colors of the image are too few or too alike for {n_segments} segments: {reason} Give fewer "
                "seeds, or use {method}='graph'.",
                code="too_many_segments",
                n_segments=len(seeds.names),
                reason=str(error),
                method="method",
            ) from error
        found = [search.search(examples=pixels, refine=False) for pixels in known]
    if len(known) < len(seeds.names):  # the rest of an image with one seed
        found.append(found[0].alternatives[0])
    return _keep_seeds(np.array([each.center for each in found]), known, seeds.names)


def _keep_seeds(centers: Array, known: Sequence[Array], names: Sequence[str]) -> Array:
    """Return the centers, or the mean colors of seeds if those of a segment are nearer to another center.

    Two seeds often find the same component: one of their segments would be empty.
    """
    means = np.array([pixels.mean(axis=0, dtype=np.float64) for pixels in known])
    nearest = cdist(means, centers).argmin(axis=1)
    misplaced = [(names[i], names[owner]) for i, owner in enumerate(nearest) if owner != i]
    if not misplaced:
        return centers
    warn_user(
        SharedComponentWarning(
            "The seeds of {segment!r} find the component of {other!r}, or are closer to it than to the one that they "
            "find. Pixels are assigned to the seed of the nearest color instead. Give more pixels of each segment, or "
            "use the graph.",
            segment=misplaced[0][0],
            other=misplaced[0][1],
        )
    )
    return np.vstack([means, centers[len(means) :]])


def assign_nearest(image: RasterImage, centers: Array) -> Array:
    """Assign each pixel to the nearest center, (h, w) of int16."""
    # |x - c|² = |x|² - 2⟨x, c⟩ + |c|², of which |x|² is the same for all centers.
    slopes, constants = centers.astype(np.float32), np.sum(centers**2, axis=1, dtype=np.float32) / 2
    return np.stack([(image.to_rgb(i) @ slopes.T - constants).argmax(axis=1) for i in range(image.height)]).astype(
        np.int16
    )
