"""Segments of photographs from a few pixels of each: `segment` compared with other methods.

The photographs of BSDS500 that somebody cut into two or three segments. Cells have NMI and mean intersection over union
(IoU), the mean of single draws of random pixels, over annotations and then over pictures. "5 and 1" has five pixels of
one segment and one of each other. The numbers of `Tuning` were chosen on the train half, the val half is for reporting.
Seconds are of one segmentation of an image that is prepared, in CPU time.

With `--clicks`, an oracle adds a seed in the middle of the largest wrong region, up to ten times. With `--trust`, the
expected IoU of segments and the probabilities of pixels beside the true ones. With `--choices`, one number of `Tuning`
is changed at a time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from measuring import print_table
from paper_experiments.segmentation import Annotation, list_images, load_annotations, load_image
from scipy.ndimage import distance_transform_edt, label
from segment_peers import METHODS, OURS, Scene, Seeds, available
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.image.result import judge_overlap
from mixsearch.image.segment import PreparedImage
from mixsearch.image.tuning import TUNING

# Pixels of the first segment, and of every other one.
COUNTS = {"1 pixel": (1, 1), "3 pixels": (3, 3), "5 pixels": (5, 5), "5 and 1": (5, 1)}
N_CLICKS, SHOWN_CLICKS = 10, (0, 1, 2, 3, 5, 7, 10)
# The mean IoU that an oracle wants to reach.
WANTED = 0.85
MAX_QUICK = 4
BINS = np.array([0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0000001])
CHOICES: Mapping[str, Sequence[float]] = {
    "n_superpixels": (500, 1200),
    "scale": (0.01, 0.04),
    "contrast": (0.1, 0.3),
    "n_similar": (5, 12),
    "height": (0.0, 1.5),
    "restart": (1e-3, 1e-5),
    "noise": (0.03, 0.3),
}


class Case(NamedTuple):
    """Seeds in an annotated picture."""

    picture: str
    annotation: Annotation
    counts: str
    seeds: Seeds


class Score(NamedTuple):
    """Scores of one segmentation."""

    case: Case
    nmi: float
    iou: float
    seconds: float
    obeys: bool  # whether every seed has its own label


def run(
    *,
    quick: bool = False,
    half: str = "val",
    draws: int = 1,
    clicks: bool = False,
    trust: bool = False,
    choices: bool = False,
    only: str = "",
) -> None:
    names = [name for split, name in list_images() if split == half][: MAX_QUICK if quick else None]
    cases = [case for name in names for case in _draw(half, name, draws)]
    print(f"\n- {len(names)} pictures of the {half} half, draws: {draws}")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if choices:
            _print_choices(half, names, cases)
            return
        scenes = {name: Scene(load_image(half, name)) for name in names}
        if trust:
            _print_trust(scenes, cases)
            return
        methods = [name for name in available() if only in name or name == OURS]
        if clicks:
            _print_clicks(half, scenes, methods)
            return
        rows = []
        for method in methods:
            scores = [
                _score(case, lambda seeds, m=method, s=scenes[case.picture]: METHODS[m](s, seeds)) for case in cases
            ]
            obeyed, seconds = (np.mean([getattr(each, name) for each in scores]) for name in ("obeys", "seconds"))
            rows.append([method, *_average(scores), f"{obeyed:.0%}", f"{seconds:.3f}"])
    print_table("Random pixels: NMI / IoU", ["method", *COUNTS, "seeds kept", "seconds"], rows)


def _draw(half: str, name: str, draws: int) -> Iterator[Case]:
    for annotation in load_annotations(half, name):
        for counts, (first, others) in COUNTS.items():
            for draw in range(draws):
                rng = np.random.default_rng([int(name), annotation.person, first, others, draw])
                drawn = list(zip(*(annotation.draw_seeds(rng) for _ in range(first)), strict=True))
                yield Case(name, annotation, counts, [list(drawn[0]), *(list(pixels[:others]) for pixels in drawn[1:])])


def _score(case: Case, method: Callable[[Seeds], Array]) -> Score:
    start, truth = time.process_time(), case.annotation.segments
    labels = method(case.seeds)
    seconds = time.process_time() - start
    nmi = float(normalized_mutual_info_score(truth.ravel(), labels.ravel()))
    return Score(case, nmi, float(np.mean(measure_iou(truth, labels))), seconds, _obeys(labels, case.seeds))


def measure_iou(truth: Array, labels: Array) -> list[float]:
    """Return the intersection over union of each segment."""
    pairs = [(truth == i, labels == i) for i in range(int(truth.max()) + 1)]
    return [np.count_nonzero(one & other) / np.count_nonzero(one | other) for one, other in pairs]


def _obeys(labels: Array, seeds: Seeds) -> bool:
    return all(labels[y, x] == i for i, pixels in enumerate(seeds) for x, y in pixels)


def _average(scores: Sequence[Score]) -> list[str]:
    """Format NMI and IoU for each number of pixels: the mean of annotations and draws, then of pictures."""
    cells = []
    for counts in COUNTS:
        by_picture = defaultdict(list)
        for each in scores:
            if each.case.counts == counts:
                by_picture[each.case.picture].append((each.nmi, each.iou))
        nmi, iou = np.mean([np.mean(some, axis=0) for some in by_picture.values()], axis=0)
        cells.append(f"{nmi:.3f} / {iou:.3f}")
    return cells


def _print_choices(half: str, names: Sequence[str], cases: Sequence[Case]) -> None:
    changes = {"as chosen": TUNING} | {
        f"{name} {value:g}": replace(TUNING, **{name: value}) for name, values in CHOICES.items() for value in values
    }
    rows = []
    for change, tuning in changes.items():
        prepared = {name: PreparedImage(load_image(half, name), tuning) for name in names}
        scores = [_score(each, partial(_segment, prepared[each.picture])) for each in cases]
        rows.append([change, *_average(scores)])
    print_table("Choices: NMI / IoU", ["choice", *COUNTS], rows)


def _segment(prepared: PreparedImage, seeds: Seeds) -> Array:
    return prepared.segment(seeds).labels


def _print_trust(scenes: Mapping[str, Scene], cases: Sequence[Case]) -> None:
    counts, sums, right = (np.zeros(len(BINS) - 1) for _ in range(3))
    verdicts = defaultdict(list)
    for case in cases:
        found, truth = scenes[case.picture].prepared.segment(case.seeds), case.annotation.segments
        highest = found.probabilities.max(axis=2).ravel()
        bins = np.digitize(highest, BINS) - 1
        counts += np.bincount(bins, minlength=len(counts))
        sums += np.bincount(bins, highest, len(counts))
        right += np.bincount(bins, (found.labels == truth).ravel(), len(counts))
        for expected, iou in zip(found.expected_iou, measure_iou(truth, found.labels), strict=True):
            verdicts[judge_overlap(expected)[0]].append((expected, iou))
    rows = [
        [f"{low:g} to {high:.3g}", f"{n / counts.sum():.1%}", f"{total / n:.3f}", f"{good / n:.3f}"]
        for low, high, n, total, good in zip(BINS[:-1], BINS[1:], counts, sums, right, strict=True)
        if n
    ]
    print_table("Pixels", ["probability", "of pixels", "mean", "right"], rows)
    print(f"\n- mean gap: {np.abs(sums - right).sum() / counts.sum():.3f}")
    described = [
        [verdict, str(len(some)), *(f"{value:.3f}" for value in np.mean(some, axis=0))]
        for verdict, some in sorted(verdicts.items(), key=lambda item: -np.mean(item[1]))
    ]
    print_table("Segments", ["verdict", "segments", "expected IoU", "IoU"], described)
    every = np.concatenate([np.array(some) for some in verdicts.values()])
    print(f"\n- mean of all: expected {every[:, 0].mean():.3f}, true {every[:, 1].mean():.3f}")
    print(f"- correlation: {np.corrcoef(every.T)[0, 1]:.2f}")


def _print_clicks(half: str, scenes: Mapping[str, Scene], methods: Sequence[str]) -> None:
    rows = []
    for method in methods:
        curves = np.array(
            [
                _click(partial(METHODS[method], scene), load_annotations(half, name)[0], int(name))
                for name, scene in scenes.items()
            ]
        )
        reached = np.where((curves >= WANTED).any(axis=1), (curves >= WANTED).argmax(axis=1), N_CLICKS + 1)
        means = [f"{curves[:, n].mean():.3f}" for n in SHOWN_CLICKS]
        rows.append([method, *means, f"{np.mean(np.diff(curves, axis=1) >= 0):.0%}", f"{reached.mean():.1f}"])
    columns = ["method", *map(str, SHOWN_CLICKS), "rises", f"clicks to {WANTED}"]
    print_table("IoU after clicks into the largest wrong region", columns, rows)


def _click(method: Callable[[Seeds], Array], annotation: Annotation, seed: int) -> list[float]:
    """Return the IoU after each click."""
    seeds = [[pixel] for pixel in annotation.draw_seeds(np.random.default_rng(seed))]
    curve = []
    for _ in range(N_CLICKS + 1):
        labels = method(seeds)
        curve.append(float(np.mean(measure_iou(annotation.segments, labels))))
        regions, _ = label(labels != annotation.segments)
        sizes = np.bincount(regions.ravel())
        sizes[0] = 0
        inside = np.pad(regions == sizes.argmax(), 1)
        y, x = np.unravel_index(int(distance_transform_edt(inside)[1:-1, 1:-1].argmax()), labels.shape)
        seeds[int(annotation.segments[y, x])].append((int(x), int(y)))
    return curve


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=["train", "val"], default="val")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--only", default="", help="only methods whose name contains this, and ours")
    for flag in ("quick", "clicks", "trust", "choices"):
        parser.add_argument(f"--{flag}", action="store_true")
    run(**vars(parser.parse_args()))
