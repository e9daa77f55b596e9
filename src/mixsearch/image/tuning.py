"""The numbers that decide how well segments are found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Chosen on the train half of BSDS500 and reported on the val half: benchmarks/segments.py."""

    n_superpixels: int = 800  # enough to follow thin parts
    scale: float = 0.02  # width of the neighborhood of coarse color and texture, as a fraction of the image's side
    contrast: float = 0.15  # of neighbors that 1/e of the walk passes, relative to the 90th percentile in the image
    n_similar: int = 5  # superpixels that each one is linked to for their looks, wherever they are
    height: float = 0.75  # weight of the vertical position among looks; the horizontal one has none
    restart: float = 1e-4  # probability that the walk returns to a seed: smaller values reach further
    noise: float = 0.1  # of seeds, in units of their variance: seeds that contradict each other are averaged
    sharpness: float = 8.0  # of the softmax of scores, so that probabilities hold on annotated images
    one_seed: float = 0.77  # true overlap over the expected one from one seed, which says nothing about the rest
    filter_radius: float = 0.01  # half the side of squares in which borders follow luma, of the image's side
    filter_edge: float = 0.05  # difference of luma, as a fraction of white, below which there is no edge


TUNING = Tuning()
