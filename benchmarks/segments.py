"""Segments of photographs from a few pixels of each: `segment` compared with other methods.

The photographs of BSDS500 that somebody cut into two or three segments. Cells have NMI and mean intersection over union
(IoU), the mean of single draws of random pixels, over annotations and then over pictures. "5 and 1" has five pixels of
one segment and one of each other. The numbers of `Tuning` were chosen on the train half, the val half is for reporting.
Seconds are of one segmentation of an image that is prepared, in CPU time. The random walker sees every other pixel of
every other row.

With `--trust`, the expected IoU of segments beside the true one, from a seed of every segment and from one seed alone.
With `--choices`, one number of `Tuning` is changed at a time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from measuring import print_table
from paper_experiments.segmentation import list_images, load_annotations, load_image
from scipy.spatial.distance import cdist
from skimage.color import rgb2lab
from skimage.filters import sobel
from skimage.segmentation import random_walker, watershed
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.image.reading import RasterImage
from mixsearch.image.result import judge_overlap
from mixsearch.image.seeds import Pixel
from mixsearch.image.segment import PreparedImage
from mixsearch.image.tuning import TUNING, Tuning

# Pixels of the first segment, and of every other one.
COUNTS = {"1 pixel": (1, 1), "3 pixels": (3, 3), "5 pixels": (5, 5), "5 and 1": (5, 1)}
CHOICES: Mapping[str, Sequence[float]] = {
    "n_superpixels": (500, 1200),
    "scale": (0.01, 0.04),
    "contrast": (0.1, 0.3),
    "n_similar": (3, 12),
    "height": (0.0, 1.5),
    "restart": (1e-3, 1e-5),
    "noise": (0.03, 0.3),
}
BETA = 130  # of the random walker: scikit-image's default, better here than 1000

Seeds = list[list[Pixel]]
Method = Callable[[RasterImage, Seeds], Array]


class Case(NamedTuple):
    """Seeds in an annotated picture."""

    picture: str
    truth: Array
    counts: str
    seeds: Seeds


def draw_cases(half: str, name: str, draws: int) -> Iterator[Case]:
    for annotation in load_annotations(half, name):
        for counts, (first, others) in COUNTS.items():
            for draw in range(draws):
                rng = np.random.default_rng([int(name), annotation.person, first, others, draw])
                drawn = list(zip(*(annotation.draw_seeds(rng) for _ in range(first)), strict=True))
                seeds = [list(drawn[0]), *(list(pixels[:others]) for pixels in drawn[1:])]
                yield Case(name, annotation.segments, counts, seeds)


# ---- Methods --------------------------------------------------------------------------------------------------------


def prepare(tuning: Tuning = TUNING, method: str = "graph") -> Method:
    """Return our method, which prepares every image once."""
    prepared: dict[int, PreparedImage] = {}

    def segment(image: RasterImage, seeds: Seeds) -> Array:
        return prepared.setdefault(id(image), PreparedImage(image, tuning)).segment(seeds, method=method).labels

    return segment


def mark(image: RasterImage, seeds: Seeds) -> Array:
    """Return the segment of each seed, from 1, and 0 elsewhere."""
    marked = np.zeros((image.height, image.width), dtype=np.int32)
    for number, pixels in enumerate(seeds, 1):
        for x, y in pixels:
            marked[y, x] = number
    return marked


def nearest_seed(image: RasterImage, seeds: Seeds) -> Array:
    colors, marked = rgb2lab(image.to_rgb()), mark(image, seeds)
    nearest = cdist(colors.reshape(-1, 3), colors[marked > 0]).argmin(axis=1)
    return np.asarray((marked[marked > 0] - 1)[nearest].reshape(marked.shape))


def flood(image: RasterImage, seeds: Seeds) -> Array:
    edges = np.max([sobel(image.to_rgb()[..., i]) for i in range(3)], axis=0)
    return np.asarray(watershed(edges, mark(image, seeds)) - 1)


def walk(image: RasterImage, seeds: Seeds) -> Array:
    halved = [[(x // 2, y // 2) for x, y in pixels] for pixels in seeds]
    small = image.subsample(2)
    found = random_walker(small.to_uint8(), mark(small, halved), BETA, "cg_j", channel_axis=-1) - 1
    return np.asarray(found.repeat(2, axis=0).repeat(2, axis=1)[: image.height, : image.width])


METHODS: Mapping[str, Method] = {
    "segment": prepare(),
    "segment, paper": prepare(method="paper"),
    "nearest seed": nearest_seed,
    "watershed": flood,
    "random walker": walk,
}


# ---- Tables ---------------------------------------------------------------------------------------------------------


def measure_iou(truth: Array, labels: Array) -> list[float]:
    """Compute the intersection over union of each segment."""
    pairs = [(truth == i, labels == i) for i in range(int(truth.max()) + 1)]
    return [np.count_nonzero(one & other) / np.count_nonzero(one | other) for one, other in pairs]


def measure(method: Method, images: Mapping[str, RasterImage], cases: Sequence[Case]) -> list[str]:
    """Compute NMI and IoU for each number of pixels, and the seconds of a segmentation."""
    scores, seconds = defaultdict(lambda: defaultdict(list)), []
    for case in cases:
        start = time.process_time()
        labels = method(images[case.picture], case.seeds)
        seconds.append(time.process_time() - start)
        nmi = normalized_mutual_info_score(case.truth.ravel(), labels.ravel())
        scores[case.counts][case.picture].append((nmi, np.mean(measure_iou(case.truth, labels))))
    means = [np.mean([np.mean(rows, axis=0) for rows in by_picture.values()], axis=0) for by_picture in scores.values()]
    return [*(f"{nmi:.3f} / {iou:.3f}" for nmi, iou in means), f"{np.median(seconds):.3f}"]


def print_trust(images: Mapping[str, RasterImage], cases: Sequence[Case]) -> None:
    pairs = defaultdict(list)
    for case in cases:
        prepared = PreparedImage(images[case.picture])
        found = prepared.segment(case.seeds)
        for expected, iou in zip(found.expected_iou, measure_iou(case.truth, found.labels), strict=True):
            pairs["all segments", judge_overlap(expected)[0]].append((expected, iou))
        for number, pixels in enumerate(case.seeds if case.counts == "1 pixel" else ()):
            found = prepared.segment([pixels])
            iou = measure_iou((case.truth != number).astype(int), found.labels)[0]
            pairs["one segment", judge_overlap(found.expected_iou[0])[0]].append((found.expected_iou[0], iou))
    rows = [
        [seeds, verdict, str(len(values)), *(f"{value:.3f}" for value in np.mean(values, axis=0))]
        for (seeds, verdict), values in sorted(pairs.items(), key=lambda item: (item[0][0], -np.mean(item[1])))
    ]
    print_table("Trust", ["seeds of", "verdict", "segments", "expected IoU", "IoU"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=["train", "val"], default="val")
    parser.add_argument("--draws", type=int, default=1)
    for flag in ("trust", "choices"):
        parser.add_argument(f"--{flag}", action="store_true")
    options = parser.parse_args()
    images = {name: load_image(half, name) for half, name in list_images() if half == options.half}
    cases = [case for name in images for case in draw_cases(options.half, name, options.draws)]
    methods = METHODS
    if options.choices:
        changes = [(name, value) for name, values in CHOICES.items() for value in values]
        changed = {f"{name} {value:g}": prepare(replace(TUNING, **{name: value})) for name, value in changes}
        methods = {"as chosen": prepare()} | changed
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options.trust:
            print_trust(images, cases)
            return
        rows = [[name, *measure(method, images, cases)] for name, method in methods.items()]
    print_table(f"{len(images)} pictures of the {options.half} half: NMI / IoU", ["", *COUNTS, "seconds"], rows)


if __name__ == "__main__":
    main()
