"""The paper's search: the color of each pixel is a sample of a mixture of Gaussians, and a seed is a hint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

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
    examples = [image.to_rgb(*np.array(pixels)[:, ::-1].T) for pixels in seeds.pixels if pixels]
    with collect_warnings():  # colors are not spherical, and rows of the sample mean nothing to users
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
        results = [search.search(examples=pixels, refine=False) for pixels in examples]
    components = [np.array([result.center, *(other.center for other in result.alternatives)]) for result in results]
    if len(examples) < len(seeds.names):  # the rest of an image with one seed
        return components[0][:2]
    shared = find_shared(components, examples)
    if shared is None:
        return np.array([component[0] for component in components])
    warn_user(
        SharedComponentWarning(
            "The seeds of {segment!r} and {other!r} do not find two different components of the colors. Pixels are "
            "assigned to the seed of the nearest color instead. Give more pixels of each segment, or use the graph.",
            segment=seeds.names[shared[0]],
            other=seeds.names[shared[1]],
        )
    )
    return np.array([pixels.mean(axis=0, dtype=np.float64) for pixels in examples])


def find_shared(components: Sequence[Array], examples: Sequence[Array]) -> tuple[int, int] | None:
    """Find two seeds of one component: the color of one is nearer to the center of the other; or None.

    `components` has the centers of all components for each search, (k, 3), that of the seed first. Two searches find
    the same one if the center of the one is nearer to that of the other than to the other's alternatives.
    """
    centers = np.array([component[0] for component in components])
    for i, pixels in enumerate(examples):
        nearest = int(np.linalg.norm(centers - pixels.mean(axis=0, dtype=np.float64), axis=1).argmin())
        if nearest != i:
            return min(i, nearest), max(i, nearest)
    for i, j in combinations(range(len(centers)), 2):
        if np.linalg.norm(components[i] - centers[j], axis=1).argmin() == 0:
            return i, j
    return None


def assign_nearest(image: RasterImage, centers: Array) -> Array:
    """Assign each pixel to the nearest center, (h, w) of int16."""
    # |x - c|² = |x|² - 2⟨x, c⟩ + |c|², of which |x|² is the same for all centers.
    slopes, constants = centers.astype(np.float32), np.sum(centers**2, axis=1, dtype=np.float32) / 2
    return np.stack([(image.to_rgb(i) @ slopes.T - constants).argmax(axis=1) for i in range(image.height)]).astype(
        np.int16
    )
