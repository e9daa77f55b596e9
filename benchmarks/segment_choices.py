"""Measure each choice of the graph of superpixels: one changed at a time, on photographs of BSDS500.

NMI and mean intersection over union (IoU) of superpixels, without the borders that a guided filter gives them: means of
single draws over annotations and then over pictures. "5 and 1" has five pixels of one segment and one of each other.
Choices are made on the train half.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from measuring import print_table
from paper_experiments.segmentation import Annotation, list_images, load_annotations, load_image
from segments import measure_iou
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.errors import collect_warnings
from mixsearch.segmentation import prepare_image
from mixsearch.segmentation.graph import SimilarityGraph, build_graph
from mixsearch.segmentation.graph_posterior import collect_known, interpolate_known
from mixsearch.segmentation.seeds import Pixel
from mixsearch.segmentation.segment import PreparedImage

# Pixels of the first segment, and of every other one.
COUNTS = {"1 pixel": (1, 1), "3 pixels": (3, 3), "5 pixels": (5, 5), "5 and 1": (5, 1)}
MAX_QUICK = 3
# Every third pixel of every third row is enough to compare labels.
THIN = 3
GRAPH, INTERPOLATION = "mixsearch.segmentation.graph.", "mixsearch.segmentation.graph_posterior."
CHOICES: Mapping[str, Mapping[str, Any]] = {
    "as taken": {},
    "walk of .999": {GRAPH + "CONTINUE": 0.999},
    "walk of .99999": {GRAPH + "CONTINUE": 0.99999},
    "no depth": {GRAPH + "_compute_depths": lambda superpixels, _: np.zeros(len(superpixels.sizes))},
    "horizontal position as the vertical": {GRAPH + "HORIZONTAL": 1.0},
    "7 similar ones": {GRAPH + "N_SIMILAR": 7},
    "24 similar ones": {GRAPH + "N_SIMILAR": 24},
    "contrast scale .1": {GRAPH + "CONTRAST_SCALE": 0.1},
    "contrast scale .4": {GRAPH + "CONTRAST_SCALE": 0.4},
    "equal noise of all seeds": {INTERPOLATION + "BALANCE": 0},
    "noise by the count": {INTERPOLATION + "BALANCE": 1},
    "no proximity": {INTERPOLATION + "RIDGE_NEAR": 1e9},
}
# Powers of the posterior of a mixture, one search per segment, by which probabilities are multiplied.
MIXTURE_POWERS = (0.1, 0.5)


class Case(NamedTuple):
    """Seeds in an annotated picture."""

    picture: str
    counts: str
    annotation: Annotation
    seeds: list[list[Pixel]]


def run(*, quick: bool = False, half: str = "train", draws: int = 2, only: str = "") -> None:
    names = [name for split, name in list_images() if split == half][: MAX_QUICK if quick else None]
    images = {name: prepare_image(load_image(half, name)) for name in names}
    cases = [case for name in names for case in _draw(half, name, draws)]
    rows = []
    with threadpool_limits(1):
        for choice, changes in CHOICES.items():
            if only not in choice:
                continue
            with ExitStack() as stack:
                for target, value in changes.items():
                    stack.enter_context(patch(target, value))
                graphs = {name: build_graph(image.features) for name, image in images.items()}
                rows.append([choice, *_describe(cases, [_label(graphs[case.picture], case) for case in cases])])
        if only in "mixture":
            rows += _try_mixture(cases, images)
    print_table(f"Choices, {len(names)} pictures of {half}: NMI / IoU", ["choice", *COUNTS], rows)


def _draw(half: str, name: str, draws: int) -> Iterator[Case]:
    for annotation in load_annotations(half, name):
        for label, (first, others) in COUNTS.items():
            for draw in range(draws):
                rng = np.random.default_rng([int(name), annotation.person, first, others, draw])
                drawn = list(zip(*(annotation.draw_seeds(rng) for _ in range(first)), strict=True))
                yield Case(name, label, annotation, [list(drawn[0]), *(list(pixels[:others]) for pixels in drawn[1:])])


def _interpolate(graph: SimilarityGraph, case: Case) -> Array:
    seeded = [np.unique([graph.superpixels.labels[y, x] for x, y in pixels]) for pixels in case.seeds]
    known = collect_known(seeded, [np.zeros(0, dtype=int)] * len(seeded), graph.similarity)
    return interpolate_known(known, graph.similarity, graph.proximity)


def _label(graph: SimilarityGraph, case: Case) -> Array:
    return np.asarray(_interpolate(graph, case).argmax(axis=1)[graph.superpixels.labels])


def _try_mixture(cases: Sequence[Case], images: Mapping[str, PreparedImage]) -> list[list[str]]:
    """Multiply the probabilities by those of a mixture."""
    found: dict[float, list[Array]] = {power: [] for power in MIXTURE_POWERS}
    for case in cases:
        image = images[case.picture]
        superpixels = image.features.graph.superpixels
        with collect_warnings():
            mixture = image.segment(case.seeds, assign="posterior", n_jobs=1).probabilities
        posterior = np.maximum(superpixels.average(mixture), 1e-6)
        probabilities = _interpolate(image.features.graph, case)
        for power, labels in found.items():
            labels.append((probabilities * posterior**power).argmax(axis=1)[superpixels.labels])
    return [[f"times the posterior of a mixture to the {power}", *_describe(cases, found[power])] for power in found]


def _describe(cases: Sequence[Case], found: Sequence[Array]) -> list[str]:
    cells = []
    for counts in COUNTS:
        of_pictures: dict[str, list[tuple[float, float]]] = {}
        for case, every in zip(cases, found, strict=True):
            if case.counts == counts:
                truth, labels = case.annotation.segments[::THIN, ::THIN], every[::THIN, ::THIN]
                nmi = normalized_mutual_info_score(truth.ravel(), labels.ravel())
                of_pictures.setdefault(case.picture, []).append((nmi, measure_iou(truth, labels)))
        nmi, iou = np.mean([np.mean(some, axis=0) for some in of_pictures.values()], axis=0)
        cells.append(f"{nmi:.3f} / {iou:.3f}")
    return cells


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=["train", "val"], default="train")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--only", default="", help="only choices whose name contains this")
    run(**vars(parser.parse_args()))
