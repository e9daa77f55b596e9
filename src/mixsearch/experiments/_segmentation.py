"""Segments of images from one pixel of each, compared with k-means started there and the random walker."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from mixsearch.experiments._bsds import FOLDER, list_images, load_annotations, load_image
from mixsearch.experiments._experiment import Case, Experiment, Result, make_cases
from mixsearch.experiments._rows import Value
from mixsearch.experiments._segmentation_methods import GROUPS, METHODS, Scene, has_random_walker
from mixsearch.experiments._segmentation_report import FEATURES_OF_BOTH, draw, table
from mixsearch.experiments._timer import limit_threads, time_call

DRAWS = {"clusters": 5, "walker": 5}
QUICK_STEP, QUICK_DRAWS = 4, {"clusters": 3, "walker": 1}


def run(case: Case) -> Iterator[Result]:
    """Run every method from the same seeds, one per segment of each annotation, on one core."""
    split, name = str(case.setting["split"]), str(case.setting["image"])
    scene = Scene(load_image(split, name))
    with limit_threads():
        if case.setting["group"] == "clusters":
            yield Result(FEATURES_OF_BOTH, "seconds", time_call(lambda: scene.rich)[1])
        for annotation in load_annotations(split, name):
            seeds = annotation.draw_seeds(np.random.default_rng([int(name), annotation.person, case.seed]))
            typed = " ".join(f"{x},{y}" for x, y in seeds)
            for method in GROUPS[str(case.setting["group"])]:
                labels, seconds = time_call(METHODS[method], scene, seeds)
                nmi = normalized_mutual_info_score(annotation.segments.ravel(), labels.ravel())
                yield Result(method, "nmi", nmi, target=str(annotation.person), note=typed)
                yield Result(method, "seconds", seconds, target=str(annotation.person))


def cases(quick: bool) -> list[Case]:
    """Return all images with five draws of seeds; quick, every fourth image with three, and one for the walker."""
    n_draws = QUICK_DRAWS if quick else DRAWS
    images = list_images()[:: QUICK_STEP if quick else 1]
    return [
        case
        for group in GROUPS
        if group != "walker" or has_random_walker()
        for case in make_cases([_make_setting(*image, group) for image in images], n_draws[group])
    ]


def _make_setting(split: str, name: str, group: str) -> dict[str, Value]:
    return {"split": split, "image": int(name), "group": group}


SEGMENTS: Experiment = Experiment(
    name="segmentation",
    shows="Figure 8 and Table 1",
    title="BSDS500: segments from one pixel of each, NMI with what people drew",
    claim="Whitening is slightly better than k-means started at the same pixels, and ten times faster.",
    cases=cases,
    run=run,
    draw=lambda rows: draw(rows, SEGMENTS.title),
    table=table,
    seconds=(2000, 140),
    sequential=True,
    required_files=(f"{FOLDER}/groundTruth/*/*.mat", f"{FOLDER}/images/*/*.jpg"),
)
