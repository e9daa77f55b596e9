"""Segments of one picture found in another: halves of BSDS500 pictures, and pictures that have nothing to do with it.

    python benchmarks/alike_segments.py [train|val]

Each picture is cut into halves. Five random pixels of each segment of one half are its seeds; the segments are then
looked for in the other half, without any seed. Constants were chosen on train.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mixsearch.errors import SearchError, collect_warnings
from mixsearch.experiments._bsds import list_images, load_annotations, load_image
from mixsearch.segmentation import PreparedImage, Segmentation, prepare_image, segment_like
from mixsearch.segmentation._color import convert_to_lab
from mixsearch.segmentation._segment_model import describe_appearance

N_SEEDS = 5
MIN_SHARE = 0.03  # segments below this part of a half are left out


class Half(NamedTuple):
    """One half of a picture as the first one, the other as the second."""

    picture: str
    first: Segmentation
    seeds: dict[str, list[tuple[int, int]]]
    colours: dict[str, Any]
    other: PreparedImage
    truth: Any


def main() -> None:
    split = sys.argv[1] if len(sys.argv) > 1 else "val"
    halves = list(cut_pictures(split))
    overlaps: dict[str, list[float]] = {
        "segment_like": [],
        "superpixels by the model": [],
        "nearest seed by colour": [],
    }
    expected, n_absent, n_said, n_warned = [], 0, 0, 0
    for half in halves:
        found, has_doubts = search(half.first, half.other)
        n_warned += has_doubts
        labelled = [None if found is None else found.labels, label_superpixels(half), label_by_colour(half)]
        for i, name in enumerate(half.seeds):
            inside = half.truth == int(name)
            if inside.mean() < MIN_SHARE:
                n_absent += 1
                n_said += found is None or not (found.labels == i).any()
                continue
            for way, labels in zip(overlaps, labelled, strict=True):
                overlaps[way].append(0.0 if labels is None else measure_overlap(labels == i, inside))
            if found is not None:
                expected.append(float(found.expected_iou[i]))
    print(f"{split}: {len(halves)} halves, {len(overlaps['segment_like'])} segments")
    for way, values in overlaps.items():
        print(f"  {way}: mean IoU {np.mean(values):.3f}")
    print(f"  expected IoU {np.mean(expected):.3f}; segments that are not there: {n_absent}, of which seen {n_said}")
    print(f"  halves with a doubt: {n_warned}")
    print(f"  segments in other pictures: {describe_others(halves)}")


def cut_pictures(split: str) -> Iterator[Half]:
    rng = np.random.default_rng(0)
    for each, name in list_images():
        if each != split:
            continue
        image, truth = load_image(each, name).to_uint8(), load_annotations(each, name)[0].segments
        axis = int(image.shape[1] >= image.shape[0])
        images, truths = (np.array_split(part, 2, axis=axis) for part in (image, truth))
        for one, other in ((0, 1), (1, 0)):
            seeds = draw_seeds(truths[one], rng)
            if len(seeds) < 2:
                continue
            lab = convert_to_lab(images[one] / np.float32(255))
            colours = {key: np.array([lab[y, x] for x, y in pixels]) for key, pixels in seeds.items()}
            first = prepare_image(np.ascontiguousarray(images[one])).segment(seeds)
            yield Half(name, first, seeds, colours, prepare_image(np.ascontiguousarray(images[other])), truths[other])


def draw_seeds(truth: Any, rng: np.random.Generator) -> dict[str, list[tuple[int, int]]]:
    seeds = {}
    for i in np.unique(truth):
        y, x = np.nonzero(truth == i)
        if len(y) >= MIN_SHARE * truth.size:
            chosen = rng.choice(len(y), N_SEEDS)
            seeds[str(i)] = [(int(x[j]), int(y[j])) for j in chosen]
    return seeds


def search(first: Segmentation, other: PreparedImage) -> tuple[Segmentation | None, bool]:
    """Return the segmentation, if any, and whether there was a warning or an error."""
    with collect_warnings() as warnings:
        try:
            return segment_like(other.image, first), len(warnings) > 0
        except SearchError:
            return None, True


def label_superpixels(half: Half) -> Any:
    likeness = half.first.to_model().compare(describe_appearance(half.other.features))
    return likeness.probabilities.argmax(axis=1)[half.other.features.graph.superpixels.labels]


def label_by_colour(half: Half) -> Any:
    lab = convert_to_lab(half.other.image.rows(slice(None)))
    nearest = [
        np.min([np.linalg.norm(lab - colour, axis=2) for colour in colours], axis=0)
        for colours in half.colours.values()
    ]
    return np.argmin(nearest, axis=0)


def measure_overlap(one: Any, other: Any) -> float:
    return float(np.sum(one & other) / np.sum(one | other))


def describe_others(halves: list[Half]) -> str:
    """How often nothing like a segment is found in pictures of something else, and how often there is any warning."""
    n, n_missing, n_warned, n_pairs = 0, 0, 0, 0
    for half, other in zip(halves, halves[len(halves) // 2 :] + halves[: len(halves) // 2], strict=True):
        if half.picture == other.picture:
            continue
        n_pairs += 1
        n += len(half.seeds)
        found, has_doubts = search(half.first, other.other)
        n_missing += len(half.seeds) if found is None else int((found.sizes == 0).sum())
        n_warned += has_doubts
    return f"{n_missing} of {n} not found; {n_warned} of {n_pairs} pictures with a doubt"


if __name__ == "__main__":
    main()
