"""Segments of images from one pixel of each, compared with k-means started there and the random walker."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from scipy.io import loadmat
from sklearn.metrics import normalized_mutual_info_score

from mixsearch import GaussianSearch
from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.image import read_image
from mixsearch.image.files import find_borders, make_segment_colors
from mixsearch.image.pixel_search import assign_nearest
from mixsearch.image.reading import RasterImage
from mixsearch.image.seeds import Pixel
from mixsearch.image.segment import segment
from mixsearch.show.plots import MUTED_COLOR, TEXT_COLOR
from paper_experiments.baselines import seeded_kmeans
from paper_experiments.corpora import get_data_folder
from paper_experiments.experiment import Case, Experiment, Result, Rows, Value, make_cases
from paper_experiments.figures import choose_color, format_markdown, limit_threads, style_axes, time_call

FOLDER = "images/bsds500"
SPLITS = ("train", "val", "test")
# The paper takes images with fewer than four segments; with one, there is nothing to find.
MIN_SEGMENTS, MAX_SEGMENTS = 2, 3


class Annotation(NamedTuple):
    """The segments that one person drew."""

    person: int  # the index of the person
    segments: Array  # (h, w) of int, from 0

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return int(self.segments.max()) + 1

    def draw_seeds(self, rng: np.random.Generator) -> list[Pixel]:
        """Draw a random pixel (x, y) of each segment."""
        width, flat = self.segments.shape[1], self.segments.ravel()
        chosen = [int(rng.choice(np.flatnonzero(flat == i))) for i in range(self.n_segments)]
        return [(index % width, index // width) for index in chosen]


def list_images() -> list[tuple[str, str]]:
    """Return the split and name of each image in which someone drew two or three segments."""
    folder = get_data_folder() / FOLDER / "groundTruth"
    return [
        (split, path.stem)
        for split in SPLITS
        for path in sorted((folder / split).glob("*.mat"), key=lambda path: int(path.stem))
        if any(_read_annotations(path))
    ]


def load_image(split: str, name: str) -> RasterImage:
    """Read an image."""
    return read_image(get_data_folder() / FOLDER / "images" / split / f"{name}.jpg")


def load_annotations(split: str, name: str) -> list[Annotation]:
    """Read the annotations of an image with two or three segments."""
    found = list(_read_annotations(get_data_folder() / FOLDER / "groundTruth" / split / f"{name}.mat"))
    if not found:
        raise ValueError(f"No annotation of {split} {name} has {MIN_SEGMENTS} to {MAX_SEGMENTS} segments.")
    return found


def _read_annotations(path: Path) -> Iterator[Annotation]:
    for person, drawn in enumerate(loadmat(path)["groundTruth"][0]):
        labels, segments = np.unique(drawn["Segmentation"][0, 0], return_inverse=True)
        if MIN_SEGMENTS <= len(labels) <= MAX_SEGMENTS:
            yield Annotation(person, segments.reshape(drawn["Segmentation"][0, 0].shape))


# The parameter of the random walker: scikit-image's default, better here than 1000.
BETA = 130


Seeds = Sequence[Pixel]
Method = Callable[[RasterImage, Seeds], Array]


def _take(image: RasterImage, seeds: Seeds) -> Array:
    return np.array([image.to_rgb(y, x) for x, y in seeds])


def _kmeans(image: RasterImage, seeds: Seeds) -> Array:
    marked = _mark_seeds(seeds, (image.height, image.width))
    return seeded_kmeans(image.to_rgb().reshape(-1, 3), marked.ravel()).labels.reshape(marked.shape)


def _mark_seeds(seeds: Seeds, shape: tuple[int, int]) -> Array:
    """Return the index of its segment at each seed, and -1 elsewhere, (h, w)."""
    marked = np.full(shape, -1)
    for index, (x, y) in enumerate(seeds):
        marked[y, x] = index
    return marked


def _search_as_printed(image: RasterImage, seeds: Seeds) -> Array:
    """Use the color of the pixel as the hint, as printed in the paper. Two seeds may find the same component."""
    try:
        search = GaussianSearch(len(seeds), preset="paper").fit(image.to_rgb().reshape(-1, 3))
        found = [search.search(color) for color in _take(image, seeds)]
    except SearchError:  # too few directions, or a component without weight: one segment
        return np.zeros((image.height, image.width), dtype=np.int16)
    return assign_nearest(image, np.array([each.center for each in found]))


def _walk(image: RasterImage, seeds: Seeds) -> Array:
    from skimage.segmentation import random_walker

    marked = _mark_seeds(seeds, (image.height, image.width)) + 1  # where 0 stands for no seed
    return np.asarray(random_walker(image.to_rgb(), marked, beta=BETA, channel_axis=-1))


METHODS: Mapping[str, Method] = {
    "whitening": lambda image, seeds: segment(image, seeds, method="paper").labels,
    "whitening as printed": _search_as_printed,
    "k-means": _kmeans,
    "nearest seed": lambda image, seeds: assign_nearest(image, _take(image, seeds)),
    "graph": lambda image, seeds: segment(image, seeds).labels,
    "random walker": _walk,
}


# The random walker takes a hundred times longer than the others, so it has cases of its own.
GROUPS = {
    "clusters": tuple(method for method in METHODS if method != "random walker"),
    "walker": ("random walker",),
}


def has_random_walker() -> bool:
    """Return whether scikit-image is installed."""
    return find_spec("skimage") is not None


ALL = "all"
# The quantiles of the images shown, from the worst to the best.
SHOWN = (0.1, 0.3, 0.5, 0.7, 0.9)
SHOWN_METHODS = ("k-means", "whitening", "graph", "random walker")
RANKED_BY = "graph"


def compute_scores(rows: Rows, method: str) -> dict[int, float]:
    """Return the NMI of each image: the best draw of seeds for each annotation, then the mean over annotations."""
    best: dict[int, dict[str, float]] = {}
    for row in rows.where(method=method, metric="nmi"):
        by_annotation = best.setdefault(int(row.setting["image"]), {})
        by_annotation[row.target] = max(by_annotation.get(row.target, 0.0), row.value)
    return {image: float(np.mean(list(values.values()))) for image, values in best.items()}


def table(rows: Rows) -> str:
    """Format the paper's table, every method, and the images that the figure shows."""
    return "\n".join([_format_paper_table(rows), _format_methods(rows), _format_footnotes(rows), _format_shown(rows)])


def _iterate_splits(rows: Rows) -> Iterator[tuple[str, Rows]]:
    for split in rows.levels("split"):
        yield split, rows.where(split=split)
    yield ALL, rows


def _format_paper_table(rows: Rows) -> str:
    columns = ["data set", "N", "N_W", "N_K", "T_W (s)", "T_K (s)", "NMI_W", "NMI_K"]
    return format_markdown(columns, (_format_split(split, part) for split, part in _iterate_splits(rows)))


def _format_split(split: str, rows: Rows) -> list[str]:
    W, K = compute_scores(rows, "whitening"), compute_scores(rows, "k-means")
    wins = [np.sign(W[image] - K[image]) for image in W]
    times = [rows.where(method=method, metric="seconds").median for method in ("whitening", "k-means")]
    counts = [len(W), wins.count(1.0), wins.count(-1.0)]
    return [split, *map(str, counts), *(f"{t:.3f}" for t in times), *(f"{_median(nmi):.3f}" for nmi in (W, K))]


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
    notes = [
        f"Best of {_count_draws(rows, RANKED_BY)} draws of seeds for each annotation. Seconds are medians of one "
        "segmentation on one core."
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
        images = {shown: load_image(shown.split, str(shown.image)) for shown in chosen}
    except (FileNotFoundError, SearchError):
        images = {}
    figure = Figure(figsize=(12, 4.2 + 1.7 * (2 + len(SHOWN_METHODS)) * bool(images)), dpi=110, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    if not images:
        _draw_scores(figure, rows)
        return figure
    panels: Any = figure.subfigures(2, 1, height_ratios=[1, 0.4 * (2 + len(SHOWN_METHODS))])
    _draw_scores(panels[0], rows)
    _draw_images(panels[1], images, [method for method in SHOWN_METHODS if method in rows.levels("method")])
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


def _draw_images(figure: Figure | SubFigure, images: Mapping[ShownImage, RasterImage], methods: Sequence[str]) -> None:
    grid = figure.subplots(2 + len(methods), len(images), squeeze=False)
    for column, (shown, image) in zip(grid.T, images.items(), strict=True):
        annotation = next(a for a in load_annotations(shown.split, str(shown.image)) if a.person == shown.annotation)
        column[0].imshow(image.to_uint8())
        column[0].plot(*zip(*shown.seeds, strict=True), "+", color="red", markersize=9, markeredgewidth=1.8)
        column[1].imshow(_paint(annotation.segments))
        for axes, method in zip(column[2:], methods, strict=True):
            axes.imshow(_paint(_compute_labels(method, image, shown.seeds)))
    for axes, name in zip(grid[:, 0], ("image and seeds", "drawn by a person", *methods), strict=True):
        axes.set_ylabel(name.replace(", ", ",\n"), fontsize=8, color=TEXT_COLOR)
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(MUTED_COLOR)


def _compute_labels(method: str, image: RasterImage, seeds: Sequence[Pixel]) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak seeds are part of the experiment
        labels = METHODS[method](image, seeds)
    return np.asarray(labels - labels.min())


def _paint(labels: Array) -> Array:
    """Return segments in colors with white lines between them, (h, w, 3)."""
    painted = make_segment_colors(int(labels.max()) + 1)[labels]
    painted[find_borders(labels)] = 255
    return painted


DRAWS = {"clusters": 5, "walker": 5}
QUICK_STEP, QUICK_DRAWS = 4, {"clusters": 3, "walker": 1}


def run(case: Case) -> Iterator[Result]:
    """Run every method from the same seeds, one per segment of each annotation, on one core."""
    split, name = str(case.setting["split"]), str(case.setting["image"])
    image = load_image(split, name)
    with limit_threads():
        for annotation in load_annotations(split, name):
            seeds = annotation.draw_seeds(np.random.default_rng([int(name), annotation.person, case.seed]))
            typed = " ".join(f"{x},{y}" for x, y in seeds)
            for method in GROUPS[str(case.setting["group"])]:
                labels, seconds = time_call(METHODS[method], image, seeds)
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
