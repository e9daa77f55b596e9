"""Segments of photographs from a few pixels of each: `segment` compared with other methods.

The photographs of BSDS500 that somebody cut into two or three segments. Cells have NMI and mean intersection over union
(IoU), the mean of single draws of random pixels, over annotations and then over pictures. The constants of `segment`
were chosen on the train half, the val half is for reporting. "Best of" is the paper's protocol if there are five draws:
the best NMI of the draws, mean over annotations, median over pictures. Seconds are of one segmentation of an image
whose features, superpixels and graph are known, on one core.

With `--clicks`, an oracle adds a seed in the middle of the largest wrong region, up to ten times; the two slow methods
are left out.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from measuring import print_table
from paper_experiments.segmentation import Annotation, list_images, load_annotations, load_image
from scipy.ndimage import distance_transform_edt, label
from segment_peers import METHODS, OURS, Scene, Seeds, available
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array

N_PIXELS = (1, 3, 5)
N_DRAWS, N_CLICKS = 2, 10
# The mean IoU that an oracle wants to reach.
WANTED = 0.85
MAX_QUICK = 4
# Clicks one after the other, each of which changes what is near it.
CORRECTED = "segment and correct"
SLOW = ("GrabCut", "random walker")


class Answer(NamedTuple):
    """Scores of one segmentation."""

    method: str
    picture: str
    person: int
    n_pixels: int
    nmi: float
    iou: float
    seconds: float
    obeys: bool  # whether every seed has its own label


def run(*, quick: bool = False, half: str = "val", draws: int = N_DRAWS, clicks: bool = False, only: str = "") -> None:
    pictures = [(split, name) for split, name in list_images() if split == half]
    if quick:
        pictures = pictures[:MAX_QUICK]
    methods = [name for name in available() if only in name or name == OURS]
    print(f"\n- {len(pictures)} pictures of the {half} half, {draws} draws")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if clicks:
            _print_clicks(pictures, [CORRECTED, *(method for method in methods if method not in SLOW)])
            return
        answers = [answer for picture in pictures for answer in _answer(*picture, methods, draws)]
    _print_answers(answers, methods, draws)


def _answer(split: str, name: str, methods: Sequence[str], draws: int) -> Iterator[Answer]:
    scene = Scene(load_image(split, name))
    for annotation in load_annotations(split, name):
        for n_pixels in N_PIXELS:
            for draw in range(draws):
                rng = np.random.default_rng([int(name), annotation.person, n_pixels, draw])
                seeds = [
                    list(pixels) for pixels in zip(*(annotation.draw_seeds(rng) for _ in range(n_pixels)), strict=True)
                ]
                for method in methods:
                    start = time.perf_counter()
                    labels = METHODS[method](scene, seeds)
                    seconds = time.perf_counter() - start
                    yield Answer(
                        method,
                        name,
                        annotation.person,
                        n_pixels,
                        normalized_mutual_info_score(annotation.segments.ravel(), labels.ravel()),
                        measure_iou(annotation.segments, labels),
                        seconds,
                        _obeys(labels, seeds),
                    )


def measure_iou(truth: Array, labels: Array) -> float:
    """Return the intersection over union of each segment, averaged."""
    found = []
    for i in range(int(truth.max()) + 1):
        one, other = truth == i, labels == i
        found.append(np.count_nonzero(one & other) / np.count_nonzero(one | other))
    return float(np.mean(found))


def _obeys(labels: Array, seeds: Seeds) -> bool:
    return all(labels[y, x] == i for i, pixels in enumerate(seeds) for x, y in pixels)


def _print_answers(answers: Sequence[Answer], methods: Sequence[str], draws: int) -> None:
    rows = []
    for method in methods:
        row = [method]
        for n in N_PIXELS:
            own = [each for each in answers if each.method == method and each.n_pixels == n]
            row.append(f"{_mean(own, 'nmi'):.3f} / {_mean(own, 'iou'):.3f}")
        own = [each for each in answers if each.method == method]
        best = _best_of_draws([each for each in own if each.n_pixels == 1])
        row += [f"{best:.3f}", f"{np.mean([each.obeys for each in own]):.1%}"]
        rows.append([*row, f"{np.mean([each.seconds for each in own]):.3f}"])
    counted = [f"{n} pixel{'s'[: n > 1]}: NMI / IoU" for n in N_PIXELS]
    print_table(
        "Random pixels of each segment", ["method", *counted, f"NMI, best of {draws}", "seeds kept", "seconds"], rows
    )


def _mean(answers: Sequence[Answer], field: str) -> float:
    return float(np.mean(list(_by_picture(answers, field).values())))


def _by_picture(answers: Sequence[Answer], field: str) -> dict[str, float]:
    values = defaultdict(list)
    for each in answers:
        values[each.picture].append(getattr(each, field))
    return {picture: float(np.mean(some)) for picture, some in values.items()}


def _best_of_draws(answers: Sequence[Answer]) -> float:
    best: dict[tuple[str, int], float] = defaultdict(float)
    for each in answers:
        best[each.picture, each.person] = max(best[each.picture, each.person], each.nmi)
    means = defaultdict(list)
    for (picture, _), value in best.items():
        means[picture].append(value)
    return float(np.median([np.mean(some) for some in means.values()]))


def _print_clicks(pictures: Sequence[tuple[str, str]], methods: Sequence[str]) -> None:
    curves: dict[str, list[list[float]]] = {method: [] for method in methods}
    obeyed = dict.fromkeys(methods, True)
    for split, name in pictures:
        scene, annotation = Scene(load_image(split, name)), load_annotations(split, name)[0]
        for method in methods:
            curve, kept = _click(scene, annotation, method, np.random.default_rng(int(name)))
            curves[method].append(curve)
            obeyed[method] &= kept
    shown = (0, 1, 2, 3, 5, 7, N_CLICKS)
    rows = []
    for method, several in curves.items():
        array = np.array(several)
        rises = np.mean(np.diff(array, axis=1) >= 0)
        reached = np.where((array >= WANTED).any(axis=1), (array >= WANTED).argmax(axis=1), N_CLICKS + 1)
        row = [method, *(f"{array[:, n].mean():.3f}" for n in shown), f"{rises:.0%}", f"{reached.mean():.1f}"]
        rows.append([*row, "yes" if obeyed[method] else "no"])
    print_table(
        "IoU after clicks into the largest wrong region",
        ["method", *map(str, shown), "rises", f"clicks to {WANTED}", "seeds kept"],
        rows,
    )


def _click(scene: Scene, annotation: Annotation, method: str, rng: np.random.Generator) -> tuple[list[float], bool]:
    """Return the IoU after each click, and whether all seeds kept their labels."""
    seeds = [[pixel] for pixel in annotation.draw_seeds(rng)]
    found = scene.prepared.segment(seeds) if method == CORRECTED else None
    curve, obeyed = [], True
    for _ in range(N_CLICKS + 1):
        labels = METHODS[method](scene, seeds) if found is None else found.labels
        curve.append(measure_iou(annotation.segments, labels))
        obeyed &= _obeys(labels, seeds)
        x, y = _find_largest_error(labels != annotation.segments)
        segment = int(annotation.segments[y, x])
        seeds[segment].append((x, y))
        found = found and found.correct({f"segment {segment + 1}": (x, y)})
    return curve, obeyed


def _find_largest_error(wrong: Array) -> tuple[int, int]:
    regions, _ = label(wrong)
    sizes = np.bincount(regions.ravel())
    sizes[0] = 0
    inside = np.pad(regions == sizes.argmax(), 1)
    y, x = np.unravel_index(int(distance_transform_edt(inside)[1:-1, 1:-1].argmax()), wrong.shape)
    return int(x), int(y)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=["train", "val"], default="val")
    parser.add_argument("--draws", type=int, default=N_DRAWS)
    parser.add_argument("--clicks", action="store_true")
    parser.add_argument("--only", default="", help="only methods whose name contains this, and ours")
    options = vars(parser.parse_args())
    run(**options)
