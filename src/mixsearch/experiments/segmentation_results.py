"""What the segments of pictures show: the paper's table, all methods side by side, and pictures to look at."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments.bsds import load_annotations, load_picture
from mixsearch.experiments.drawing import colour_of, style_axes
from mixsearch.experiments.rows import Rows
from mixsearch.experiments.segmentation_methods import METHODS, Scene
from mixsearch.experiments.tables import markdown
from mixsearch.plots import MUTED_COLOR, TEXT_COLOR
from mixsearch.segmentation import Pixel, find_borders, make_segment_colors

FEATURES_OF_BOTH = "rich features"
ALL = "all"
PAIRS = (("whitening, RGB", "k-means, RGB"), ("whitening, rich", "k-means, rich"))
# Which pictures are shown: those at these parts of the way from the worst to the best.
SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
SHOWN_METHODS = ("k-means, RGB", "whitening, RGB", "k-means, rich", "whitening, rich and smoothed", "random walker")
RANKED_BY = "whitening, rich and smoothed"


def scores_of(rows: Rows, method: str) -> dict[int, float]:
    """NMI of each picture: the best draw of seeds for each annotation, then the mean over annotations."""
    best: dict[int, dict[str, float]] = {}
    for row in rows.where(method=method, metric="nmi"):
        of_picture = best.setdefault(int(row.setting["image"]), {})
        of_picture[row.of] = max(of_picture.get(row.of, 0.0), row.value)
    return {image: float(np.mean(list(values.values()))) for image, values in best.items()}


def table(rows: Rows) -> str:
    """The paper's table for both kinds of features, then every method."""
    return "\n".join([_paper_table(rows), _every_method(rows), _footnotes(rows)])


def _parts(rows: Rows) -> Iterator[tuple[str, Rows]]:
    for split in rows.levels("split"):
        yield split, rows.where(split=split)
    yield ALL, rows


def _paper_table(rows: Rows) -> str:
    columns = ["features", "data set", "N", "N_W", "N_K", "T_W (s)", "T_K (s)", "NMI_W", "NMI_K"]
    return markdown(columns, (_contest(*pair, split, part) for pair in PAIRS for split, part in _parts(rows)))


def _contest(ours: str, theirs: str, split: str, rows: Rows) -> list[str]:
    W, K = scores_of(rows, ours), scores_of(rows, theirs)
    wins = [np.sign(W[image] - K[image]) for image in W]
    times = [rows.where(method=method, metric="seconds").median for method in (ours, theirs)]
    medians = [_median(scores) for scores in (W, K)]
    counts = [len(W), wins.count(1.0), wins.count(-1.0)]
    features = ours.partition(", ")[2]
    return [features, split, *map(str, counts), *(f"{t:.3f}" for t in times), *(f"{nmi:.3f}" for nmi in medians)]


def _median(scores: Mapping[int, float]) -> float:
    return float(np.median(list(scores.values()))) if scores else float("nan")


def _every_method(rows: Rows) -> str:
    parts = list(_parts(rows))
    columns = ["method", *(f"median NMI, {split}" for split, _ in parts), "mean NMI", "mean of one draw", "seconds"]
    return markdown(columns, (_standing(method, parts) for method in METHODS if method in rows.levels("method")))


def _standing(method: str, parts: Sequence[tuple[str, Rows]]) -> list[str]:
    everything = parts[-1][1]
    medians = [_median(scores_of(part, method)) for _, part in parts]
    mean = float(np.mean(list(scores_of(everything, method).values())))
    one = everything.where(method=method, metric="nmi").mean
    seconds = everything.where(method=method, metric="seconds").median
    return [method, *(f"{nmi:.3f}" for nmi in (*medians, mean, one)), f"{seconds:.3f}"]


def _footnotes(rows: Rows) -> str:
    spent = rows.where(method=FEATURES_OF_BOTH, metric="seconds").median
    notes = [
        f"Best of {_n_draws(rows, RANKED_BY)} draws of seeds for each annotation. Seconds are medians of one "
        "segmentation on one core; those with rich features leave out the features themselves, which take "
        f"{spent:.3f} s, but for 'rich and smoothed', which counts all."
    ]
    n_walks = _n_draws(rows, "random walker")
    if not n_walks:
        notes.append("The random walker was left out: it needs scikit-image.")
    elif n_walks < _n_draws(rows, RANKED_BY):
        notes.append(f"The random walker has the best of {n_walks} only.")
    return "\n".join(notes) + "\n"


def _n_draws(rows: Rows, method: str) -> int:
    return len(rows.where(method=method, metric="nmi").levels("seed"))


class FoldSums(NamedTuple):
    """A picture to look at, with the seeds of its first draw."""

    split: str
    image: int
    annotation: int
    seeds: tuple[Pixel, ...]


def draw(rows: Rows, title: str) -> Figure:
    """NMI of every method, and some pictures with their segments where the pictures are at hand."""
    chosen = _chosen(rows)
    try:
        scenes = {shown: Scene(load_picture(shown.split, str(shown.image))) for shown in chosen}
    except SearchError:
        scenes = {}
    figure = Figure(figsize=(12, 4.2 + 1.7 * (2 + len(SHOWN_METHODS)) * bool(scenes)), dpi=110, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    if not scenes:
        _draw_scores(figure, rows)
        return figure
    panels: Any = figure.subfigures(2, 1, height_ratios=[1, 0.4 * (2 + len(SHOWN_METHODS))])
    _draw_scores(panels[0], rows)
    _draw_pictures(panels[1], scenes, [method for method in SHOWN_METHODS if method in rows.levels("method")])
    return figure


def _draw_scores(figure: Figure | SubFigure, rows: Rows) -> None:
    axes: Axes = figure.subplots()
    methods = [method for method in METHODS if method in rows.levels("method")]
    rng = np.random.default_rng(0)
    for place, method in enumerate(methods):
        scores = np.array(list(scores_of(rows, method).values()))
        aside = place + rng.uniform(-0.18, 0.18, len(scores))
        axes.scatter(aside, scores, s=9, color=colour_of(method, place), alpha=0.45, linewidths=0)
        axes.hlines(np.median(scores), place - 0.3, place + 0.3, color=colour_of(method, place), linewidth=2.5)
        axes.text(
            place + 0.33, np.median(scores), f"{np.median(scores):.2f}", fontsize=8, color=TEXT_COLOR, va="center"
        )
    axes.set_xticks(range(len(methods)), [method.replace(", ", "\n") for method in methods])
    style_axes(axes, "Every picture, and the median", y="NMI")


def _chosen(rows: Rows) -> list[FoldSums]:
    """Pictures from bad to good, none picked by hand."""
    scores = scores_of(rows, RANKED_BY)
    ranked = sorted(scores, key=lambda image: scores[image])
    images = dict.fromkeys(ranked[round(part * (len(ranked) - 1))] for part in SHOWN)
    return [_first_draw(rows.where(method=RANKED_BY, metric="nmi", image=image)) for image in images]


def _first_draw(rows: Rows) -> FoldSums:
    first = next(iter(rows))
    seeds = tuple((int(x), int(y)) for x, y in (pixel.split(",") for pixel in first.note.split()))
    return FoldSums(str(first.setting["split"]), int(first.setting["image"]), int(first.of), seeds)


def _draw_pictures(figure: Figure | SubFigure, scenes: Mapping[FoldSums, Scene], methods: Sequence[str]) -> None:
    grid = figure.subplots(2 + len(methods), len(scenes), squeeze=False)
    for column, (shown, scene) in zip(grid.T, scenes.items(), strict=True):
        annotation = next(a for a in load_annotations(shown.split, str(shown.image)) if a.number == shown.annotation)
        column[0].imshow(scene.rgb)
        column[0].plot(*zip(*shown.seeds, strict=True), "+", color="red", markersize=9, markeredgewidth=1.8)
        column[1].imshow(_painted(annotation.segments))
        for axes, method in zip(column[2:], methods, strict=True):
            axes.imshow(_painted(_labels(method, scene, shown.seeds)))
    for axes, name in zip(grid[:, 0], ("picture and seeds", "drawn by a person", *methods), strict=True):
        axes.set_ylabel(name.replace(", ", ",\n"), fontsize=8, color=TEXT_COLOR)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(MUTED_COLOR)


def _labels(method: str, scene: Scene, seeds: Sequence[Pixel]) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak seeds are a part of what is shown
        labels = METHODS[method](scene, seeds)
    return np.asarray(labels - labels.min())


def _painted(labels: Array) -> Array:
    """Segments in colours, with white lines between them, (h, w, 3)."""
    painted = make_segment_colors(int(labels.max()) + 1)[labels]
    painted[find_borders(labels)] = 255
    return painted
