"""Segments of pictures from a pixel of each, beside k-means started there and the random walker."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from mixsearch.experiments.bsds import FOLDER, list_pictures, load_annotations, load_picture
from mixsearch.experiments.experiment import Case, Experiment, Result, cases_of
from mixsearch.experiments.rows import Value
from mixsearch.experiments.segmentation_methods import GROUPS, METHODS, Scene, has_walker
from mixsearch.experiments.segmentation_results import FEATURES_OF_BOTH, draw, table
from mixsearch.experiments.timing import one_core, timed

DRAWS = {"clusters": 5, "walker": 5}
QUICK_STEP, QUICK_DRAWS = 4, {"clusters": 3, "walker": 1}


def run(case: Case) -> Iterator[Result]:
    """Every method from the same seeds, one for each segment of each annotation, on one core."""
    split, name = str(case.setting["split"]), str(case.setting["image"])
    scene = Scene(load_picture(split, name))
    with one_core():
        if case.setting["group"] == "clusters":
            yield Result(FEATURES_OF_BOTH, "seconds", timed(lambda: scene.rich)[1])
        for annotation in load_annotations(split, name):
            seeds = annotation.draw_seeds(np.random.default_rng([int(name), annotation.number, case.seed]))
            typed = " ".join(f"{x},{y}" for x, y in seeds)
            for method in GROUPS[str(case.setting["group"])]:
                labels, seconds = timed(METHODS[method], scene, seeds)
                nmi = normalized_mutual_info_score(annotation.segments.ravel(), labels.ravel())
                yield Result(method, "nmi", nmi, of=str(annotation.number), note=typed)
                yield Result(method, "seconds", seconds, of=str(annotation.number))


def cases(quick: bool) -> list[Case]:
    """Every picture with five draws of seeds; quick, every fourth picture with three draws, and one for the walker."""
    n_draws = QUICK_DRAWS if quick else DRAWS
    pictures = list_pictures()[:: QUICK_STEP if quick else 1]
    return [
        case
        for group in GROUPS
        if group != "walker" or has_walker()
        for case in cases_of([_setting(*picture, group) for picture in pictures], n_draws[group])
    ]


def _setting(split: str, name: str, group: str) -> dict[str, Value]:
    return {"split": split, "image": int(name), "group": group}


SEGMENTS: Experiment = Experiment(
    name="segmentation",
    shows="Figure 8 and Table 1",
    title="BSDS500: segments from one pixel of each, NMI with what people drew",
    claim="Whitening is a little better than k-means started at the same pixels, and ten times faster.",
    cases=cases,
    run=run,
    draw=lambda rows: draw(rows, SEGMENTS.title),
    table=table,
    seconds=(2000, 140),
    alone=True,
    needs=(f"{FOLDER}/groundTruth/*/*.mat", f"{FOLDER}/images/*/*.jpg"),
)
