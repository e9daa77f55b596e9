"""Whether the probabilities and verdicts of `segment` hold on photographs of BSDS500 with seeds at random pixels.

The probability of each pixel's own label beside how often the label is right; the verdict on each segment beside its
intersection over union (IoU). Constants were chosen on the train half, the val half is for reporting.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
from measuring import print_table
from paper_experiments.segmentation import list_images, load_annotations, load_image
from segments import N_PIXELS
from threadpoolctl import threadpool_limits

from mixsearch.segmentation import prepare_image
from mixsearch.segmentation.result import summarize_segmentation

BINS = np.array([0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0000001])
MAX_QUICK = 4


def run(*, quick: bool = False, half: str = "val", draws: int = 2) -> None:
    pictures = [name for split, name in list_images() if split == half][: MAX_QUICK if quick else None]
    counts, sums, right = (np.zeros(len(BINS) - 1) for _ in range(3))
    verdicts = defaultdict(list)
    with threadpool_limits(1):
        for name in pictures:
            prepared = prepare_image(load_image(half, name))
            for annotation in load_annotations(half, name):
                for n in N_PIXELS:
                    for draw in range(draws):
                        rng = np.random.default_rng([int(name), annotation.person, n, draw])
                        drawn = [annotation.draw_seeds(rng) for _ in range(n)]
                        found = prepared.segment([list(pixels) for pixels in zip(*drawn, strict=True)])
                        highest = found.probabilities.max(axis=2).ravel()
                        bins = np.digitize(highest, BINS) - 1
                        is_right = (found.labels == annotation.segments).ravel()
                        counts += np.bincount(bins, minlength=len(counts))
                        sums += np.bincount(bins, highest, len(counts))
                        right += np.bincount(bins, is_right, len(counts))
                        for i, each in enumerate(summarize_segmentation(found)["segments"]):
                            truth, own = annotation.segments == i, found.mask(i)
                            iou = np.count_nonzero(truth & own) / np.count_nonzero(truth | own)
                            verdicts[each["verdict"]].append((each["expected_iou"], iou))
    rows = [
        [f"{low:g} to {high:.3g}", f"{n / counts.sum():.1%}", f"{total / n:.3f}", f"{good / n:.3f}"]
        for low, high, n, total, good in zip(BINS[:-1], BINS[1:], counts, sums, right, strict=True)
        if n
    ]
    print_table(f"Pixels of {half}", ["probability", "of pixels", "mean", "right"], rows)
    print(f"\n- mean gap: {np.abs(sums - right).sum() / counts.sum():.3f}")
    described = [
        [
            verdict,
            str(len(some)),
            *(f"{value:.3f}" for value in np.mean(some, axis=0)),
            f"{np.mean(np.array(some)[:, 1] > 0.5):.0%}",
        ]
        for verdict, some in sorted(verdicts.items(), key=lambda item: -np.mean(item[1]))
    ]
    print_table(f"Segments of {half}", ["verdict", "segments", "expected IoU", "IoU", "IoU above .5"], described)
    every = np.concatenate([np.array(some) for some in verdicts.values()])
    print(f"\n- correlation of expected IoU and IoU: {np.corrcoef(every.T)[0, 1]:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--half", choices=["train", "val"], default="val")
    parser.add_argument("--draws", type=int, default=2)
    run(**vars(parser.parse_args()))
