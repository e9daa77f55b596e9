"""Tables and figure of the segmentation experiment: the paper's table, all methods, and example images."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments._bsds import load_annotations, load_image
from mixsearch.experiments._figures import choose_color, style_axes
from mixsearch.experiments._rows import Rows
from mixsearch.experiments._segmentation_methods import METHODS, Scene
from mixsearch.experiments._tables import format_markdown
from mixsearch.plots import MUTED_COLOR, TEXT_COLOR
from mixsearch.segmentation import Pixel, find_borders, make_segment_colors

FEATURES_OF_BOTH = "rich features"
ALL = "all"
PAIRS = (("whitening, RGB", "k-means, RGB"), ("whitening, rich", "k-means, rich"))
# The quantiles of the images shown, from the worst to the best.
SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
SHOWN_METHODS = ("k-means, RGB", "whitening, RGB", "k-means, rich", "whitening, rich and smoothed", "random walker")
RANKED_BY = "whitening, rich and smoothed"


def compute_scores(rows: Rows, method: str) -> dict[int, float]:
    """Return the NMI of each image: the best draw of seeds for each annotation, then the mean over annotations."""
    best: dict[int, dict[str, float]] = {}
    for row in rows.where(method=method, metric="nmi"):
        by_annotation = best.setdefault(int(row.setting["image"]), {})
        by_annotation[row.target] = max(by_annotation.get(row.target, 0.0), row.value)
    return {image: float(np.mean(list(values.values()))) for image, values in best.items()}


def table(rows: Rows) -> str:
    """Format the paper's table for both kinds of features, every method, and the images that the figure shows."""
    return "\n".join([_format_paper_table(rows), _format_methods(rows), _format_footnotes(rows), _format_shown(rows)])


def _iterate_splits(rows: Rows) -> Iterator[tuple[str, Rows]]:
    for split in rows.levels("split"):
        yield split, rows.where(split=split)
    yield ALL, rows


def _format_paper_table(rows: Rows) -> str:
    columns = ["features", "data set", "N", "N_W", "N_K", "T_W (s)", "T_K (s)", "NMI_W", "NMI_K"]
    return format_markdown(
        columns, (_format_pair(*pair, split, part) for pair in PAIRS for split, part in _iterate_splits(rows))
    )


def _format_pair(ours: str, theirs: str, split: str, rows: Rows) -> list[str]:
    W, K = compute_scores(rows, ours), compute_scores(rows, theirs)
    wins = [np.sign(W[image] - K[image]) for image in W]
    times = [rows.where(method=method, metric="seconds").median for method in (ours, theirs)]
    medians = [_median(scores) for scores in (W, K)]
    counts = [len(W), wins.count(1.0), wins.count(-1.0)]
    features = ours.partition(", ")[2]
    return [features, split, *map(str, counts), *(f"{t:.3f}" for t in times), *(f"{nmi:.3f}" for nmi in medians)]


def _median(scores: Mapping[int, float]) -> float:
    return float(np.median(list(scores.values()))) if scores else float("nan")


def _format_methods(rows: Rows) -> str:
    parts = list(_iterate_splits(rows))
    columns = ["method", *(f"median NMI, {split}" for split, _ in parts), "mean NMI", "mean of one draw", "seconds"]
    return format_markdown(
        columns, (_format_method(method, parts) for method in METHODS if method in rows.levels("method"))
    )


def _format_method(method: str, parts: Sequence[tuple[str, Rows]]) -> list[str]:
    everything = parts[-1][1]
    medians = [_median(compute_scores(part, method)) for _, part in parts]
    mean = float(np.mean(list(compute_scores(everything, method).values())))
    one = everything.where(method=method, metric="nmi").mean
    seconds = everything.where(method=method, metric="seconds").median
    return [method, *(f"{nmi:.3f}" for nmi in (*medians, mean, one)), f"{seconds:.3f}"]


def _format_footnotes(rows: Rows) -> str:
    spent = rows.where(method=FEATURES_OF_BOTH, metric="seconds").median
    notes = [
        f"Best of {_count_draws(rows, RANKED_BY)} draws of seeds for each annotation. Seconds are medians of one "
        "segmentation on one core; those with rich features leave out the features themselves, which take "
        f"{spent:.3f} s, but for 'rich and smoothed', which counts all."
    ]
    n_walks = _count_draws(rows, "random walker")
    if not n_walks:
        notes.append("The random walker was left out: it needs scikit-image.")
    elif n_walks < _count_draws(rows, RANKED_BY):
        notes.append(f"The random walker has the best of {n_walks} only.")
    return "\n".join(notes) + "\n"


def _format_shown(rows: Rows) -> str:
    """Format the NMI of the segmentations that the figure shows, from the same seeds."""
    methods = [method for method in SHOWN_METHODS if method in rows.levels("method")]
    lines = []
    for shown in _choose_images(rows):
        part = rows.where(image=shown.image, target=str(shown.annotation), metric="nmi")
        seeds = " ".join(f"{x},{y}" for x, y in shown.seeds)
        found = [[row.value for row in part.where(method=method) if row.note == seeds] for method in methods]
        lines.append([f"{shown.split} {shown.image}", seeds, *(f"{nmi[0]:.3f}" if nmi else "" for nmi in found)])
    return format_markdown(["image", "seeds", *methods], lines)


def _count_draws(rows: Rows, method: str) -> int:
    return len(rows.where(method=method, metric="nmi").levels("seed"))


class ShownImage(NamedTuple):
    """An image to show, with the seeds of its first draw."""

    split: str
    image: int
    annotation: int
    seeds: tuple[Pixel, ...]


def draw(rows: Rows, title: str) -> Figure:
    """Draw the NMI of every method, and example segmentations if the images are available."""
    chosen = _choose_images(rows)
    try:
        scenes = {shown: Scene(load_image(shown.split, str(shown.image))) for shown in chosen}
    except SearchError:
        scenes = {}
    figure = Figure(figsize=(12, 4.2 + 1.7 * (2 + len(SHOWN_METHODS)) * bool(scenes)), dpi=110, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    if not scenes:
        _draw_scores(figure, rows)
        return figure
    panels: Any = figure.subfigures(2, 1, height_ratios=[1, 0.4 * (2 + len(SHOWN_METHODS))])
    _draw_scores(panels[0], rows)
    _draw_images(panels[1], scenes, [method for method in SHOWN_METHODS if method in rows.levels("method")])
    return figure


def _draw_scores(figure: Figure | SubFigure, rows: Rows) -> None:
    axes: Axes = figure.subplots()
    methods = [method for method in METHODS if method in rows.levels("method")]
    rng = np.random.default_rng(0)
    for index, method in enumerate(methods):
        scores = np.array(list(compute_scores(rows, method).values()))
        x = index + rng.uniform(-0.18, 0.18, len(scores))
        axes.scatter(x, scores, s=9, color=choose_color(method, index), alpha=0.45, linewidths=0)
        axes.hlines(np.median(scores), index - 0.3, index + 0.3, color=choose_color(method, index), linewidth=2.5)
        axes.text(
            index + 0.33, np.median(scores), f"{np.median(scores):.2f}", fontsize=8, color=TEXT_COLOR, va="center"
        )
    axes.set_xticks(range(len(methods)), [method.replace(", ", "\n") for method in methods])
    style_axes(axes, "Every image, and the median", y="NMI")


def _choose_images(rows: Rows) -> list[ShownImage]:
    """Choose images from bad to good by quantiles of the score."""
    scores = compute_scores(rows, RANKED_BY)
    ranked = sorted(scores, key=lambda image: scores[image])
    if not ranked:
        return []
    images = dict.fromkeys(ranked[round(part * (len(ranked) - 1))] for part in SHOWN)
    return [_find_first_draw(rows.where(method=RANKED_BY, metric="nmi", image=image)) for image in images]


def _find_first_draw(rows: Rows) -> ShownImage:
    first = next(iter(rows))
    seeds = tuple((int(x), int(y)) for x, y in (pixel.split(",") for pixel in first.note.split()))
    return ShownImage(str(first.setting["split"]), int(first.setting["image"]), int(first.target), seeds)


def _draw_images(figure: Figure | SubFigure, scenes: Mapping[ShownImage, Scene], methods: Sequence[str]) -> None:
    grid = figure.subplots(2 + len(methods), len(scenes), squeeze=False)
    for column, (shown, scene) in zip(grid.T, scenes.items(), strict=True):
        annotation = next(a for a in load_annotations(shown.split, str(shown.image)) if a.person == shown.annotation)
        column[0].imshow(scene.rgb)
        column[0].plot(*zip(*shown.seeds, strict=True), "+", color="red", markersize=9, markeredgewidth=1.8)
        column[1].imshow(_paint(annotation.segments))
        for axes, method in zip(column[2:], methods, strict=True):
            axes.imshow(_paint(_compute_labels(method, scene, shown.seeds)))
    for axes, name in zip(grid[:, 0], ("image and seeds", "drawn by a person", *methods), strict=True):
        axes.set_ylabel(name.replace(", ", ",\n"), fontsize=8, color=TEXT_COLOR)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(MUTED_COLOR)


def _compute_labels(method: str, scene: Scene, seeds: Sequence[Pixel]) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak seeds are part of the experiment
        labels = METHODS[method](scene, seeds)
    return np.asarray(labels - labels.min())


def _paint(labels: Array) -> Array:
    """Return segments in colors with white lines between them, (h, w, 3)."""
    painted = make_segment_colors(int(labels.max()) + 1)[labels]
    painted[find_borders(labels)] = 255
    return painted
