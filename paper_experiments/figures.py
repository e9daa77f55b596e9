"""Figures and tables: colors, grouped bars, gains and speed-ups over a baseline, and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from threadpoolctl import threadpool_limits

from mixsearch._typing import Array
from mixsearch.show.plots import MUTED_COLOR, TEXT_COLOR
from paper_experiments.experiment import Rows

T = TypeVar("T")


def time_call(work: Callable[..., T], *arguments: Any, clock: Callable[[], float] = process_time) -> tuple[T, float]:
    """Return the result of a call and the seconds it took: of the processor, so that other work does not count."""
    start = clock()
    result = work(*arguments)
    return result, clock() - start


def limit_threads() -> AbstractContextManager[Any]:
    """Limit BLAS and OpenMP to one thread, so that times are those of one core."""
    return threadpool_limits(limits=1)


def write_picture(path: Path, figure: Figure | bytes, n_colors: int = 128, **texts: str) -> None:
    """Write a figure, or an encoded image, as a PNG of few colors, a third of the size, with text chunks."""
    encoded, chunks = BytesIO(figure if isinstance(figure, bytes) else b""), PngInfo()
    if isinstance(figure, Figure):
        figure.savefig(encoded, dpi=150)
    for key, text in texts.items():
        chunks.add_text(key, text)
    with Image.open(encoded) as image:
        image.convert("RGB").quantize(n_colors, dither=Image.Dither.NONE).save(path, optimize=True, pnginfo=chunks)


def format_markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table with one line per row."""
    rule = ["---"] * len(columns)
    rows = (map(_hide_unknown, cells) for cells in (columns, rule, *lines))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n"


def _hide_unknown(cell: str) -> str:
    """Hide NaN: a dash for a missing value, no standard error for a single seed."""
    return "–" if cell == "nan" else cell.replace(" ± nan", "")


def format_mean(rows: Rows) -> str:
    """Return the mean of some rows, or an empty text if there are none."""
    return f"{rows.mean:.3g}" if len(rows) else ""


FAINT = "#D5D8DC"
# From the palette of Okabe and Ito, safe for color-blind readers; blue for searches.
COLORS = {
    "whitening": "#0072B2",
    "refined": "#003B5C",
    "cancellation": "#56B4E9",
    "cancellation, as printed": "#B3DDF5",
    "Fast-TPM": "#E69F00",
    "TPM": "#D55E00",
    "TPM by the mean": "#CC79A7",
    "k-means": "#D55E00",
    "EM": "#D55E00",
    "NMF": "#E69F00",
    "SS-NMF": "#D55E00",
    "random walker": "#009E73",
    "oracle": "#8A9099",
}
OTHERS = ("#009E73", "#CC79A7", "#F0E442", "#999999")
_WIDTH = 0.84  # of a group of bars, in units of the distance between groups


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    stderr: float


def choose_color(method: str, index: int = 0) -> str:
    """Return the color of a method, by its name or by the word before a comma."""
    return COLORS.get(method) or COLORS.get(method.partition(",")[0]) or OTHERS[index % len(OTHERS)]


def new_figure(title: str, n_rows: int = 1, n_columns: int = 1, size: tuple[float, float] = (4.2, 3.2)) -> Figure:
    """Make a figure for a grid of panels of the given size in inches."""
    figure = Figure(figsize=(size[0] * n_columns, 0.6 + size[1] * n_rows), dpi=150, layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=TEXT_COLOR)
    return figure


def style_axes(axes: Axes, title: str, x: str = "", y: str = "") -> None:
    """Set the title and labels of axes, and mute their frame and grid."""
    axes.set_title(title, loc="left", fontsize=10, color=TEXT_COLOR)
    axes.set_xlabel(x, fontsize=9, color=TEXT_COLOR)
    axes.set_ylabel(y, fontsize=9, color=TEXT_COLOR)
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, labelcolor=MUTED_COLOR, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)


class Bars(NamedTuple):
    """A series with one bar in each group."""

    name: str
    color: str
    heights: Sequence[Estimate]
    opacity: float = 1.0


def draw_bars(axes: Axes, groups: Sequence[str], series: Sequence[Bars]) -> None:
    """Draw grouped bars with error bars of one standard error."""
    width = _WIDTH / len(series)
    for index, bars in enumerate(series):
        centers = np.arange(len(groups)) + (index + 0.5) * width - _WIDTH / 2
        heights, errors = np.array(bars.heights, dtype=np.float64).reshape(-1, 2).T
        axes.bar(centers, heights, width, color=bars.color, alpha=bars.opacity, label=bars.name, linewidth=0)
        axes.errorbar(centers, heights, errors, fmt="none", ecolor=TEXT_COLOR, elinewidth=0.8)
    axes.set_xticks(range(len(groups)), list(groups))


def add_shared_legend(figure: Figure, panels: Iterable[Axes], n_columns: int = 6) -> None:
    """Add one legend below all panels, with fewer columns where it would be too wide."""
    known = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    while True:
        legend = figure.legend(
            known.values(),
            known,
            loc="outside lower left",
            ncols=n_columns,
            frameon=False,
            fontsize=9,
            labelcolor=TEXT_COLOR,
        )
        if n_columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()
        n_columns = (n_columns + 1) // 2


def compute_ratio(ours: Array, theirs: Array) -> Estimate:
    """Return mean(ours) / mean(theirs) of paired values, (n,), with its jackknife standard error."""
    n = len(ours)
    if not n:
        return Estimate(float("nan"), float("nan"))
    ratio = float(ours.mean() / theirs.mean())
    if n < 2:
        return Estimate(ratio, float("nan"))
    without = (ours.sum() - ours) / (theirs.sum() - theirs)
    return Estimate(ratio, float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))))


# Lower gains are clipped in figures: a method that finds another component would dominate the scale.
MIN_GAIN = -100.0
MIN_SPEEDUP = 0.5
OPACITIES = (1.0, 0.6)
ORACLE = "oracle"
SYMBOLS = {"sigma": "σ", "length": "L"}


class CellFormat(NamedTuple):
    """The format of a table cell: a mean, and its ratio to the baseline."""

    mean: str
    estimate: Callable[[Rows, str], Estimate]
    compared: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of methods with a baseline, and its layout."""

    baseline: str  # method to compare with, given the same moments
    groups: str  # label of the groups of bars
    by: str = "target"  # column of the groups; the columns `moments` and `n` make the panels
    shade: str | None = "sigma"  # column of the setting that shades bars
    logarithmic: bool = False  # whether speed-ups have a logarithmic scale

    def draw_gains(self, rows: Rows, title: str) -> Figure:
        """Draw the paper's percentage relative error gain, with that of the oracle."""
        figure = self._draw(rows.where(metric="error"), title, f"error gain over {self.baseline}, %", self.gain)
        for axes in figure.axes:
            low, high = axes.get_ylim()
            axes.set_ylim(max(low, MIN_GAIN), high)
            axes.axhline(0, color=MUTED_COLOR, linewidth=0.8)
        return figure

    def draw_speedups(self, rows: Rows, title: str) -> Figure:
        """Draw how many times faster methods are than the baseline."""
        figure = self._draw(rows.where(metric="seconds"), title, f"times faster than {self.baseline}", self.speedup)
        for axes in figure.axes:
            if self.logarithmic:
                axes.set_yscale("log")
                axes.set_ylim(bottom=MIN_SPEEDUP)
                axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axes.minorticks_off()
            axes.axhline(1, color=MUTED_COLOR, linewidth=0.8)
        return figure

    def gain(self, rows: Rows, method: str) -> Estimate:
        """Return G = 100 (1 - error / baseline's error) of mean errors over paired seeds."""
        ratio = compute_ratio(rows.where(method=method).values, rows.where(method=self.baseline).values)
        return Estimate(100 * (1 - ratio.value), 100 * ratio.stderr)

    def speedup(self, rows: Rows, method: str) -> Estimate:
        """Return the baseline's mean time over the method's."""
        return compute_ratio(rows.where(method=self.baseline).values, rows.where(method=method).values)

    def format_errors(self, rows: Rows) -> str:
        """Format mean errors over seeds and components, and the gains."""
        show = CellFormat("{:.3g}", self.gain, "{:+.1f} ± {:.1f}%")
        return self._format_table(rows.where(metric="error"), ("moments", self.shade or self.by, "n"), show)

    def format_gains(self, rows: Rows) -> str:
        """Format gains with the fewest and with the most samples, and the baseline's errors."""
        errors, sizes = rows.where(metric="error"), rows.levels("n")
        columns = ("moments", self.shade or self.by)
        methods, lines = self._list_methods(errors), []
        for levels in product(*map(errors.levels, columns)):
            setting = errors.where(**dict(zip(columns, levels, strict=True)))
            ends = [setting.where(n=n) for n in (sizes[0], sizes[-1])]
            cells = [self._format_range([self.gain(end, method).value for end in ends]) for method in methods]
            baseline = " to ".join(f"{end.where(method=self.baseline).mean:.3g}" for end in ends)
            lines.append([*map(str, levels), *cells, baseline])
        head = f"error of {self.baseline}, n={sizes[0]:,} to {sizes[-1]:,}"
        return format_markdown([*columns, *(f"gain of {method}" for method in methods), head], lines)

    def _format_range(self, gains: Sequence[float]) -> str:
        return "" if np.isnan(gains).any() else " to ".join(f"{round(gain):+d}%" for gain in gains)

    def format_times(self, rows: Rows) -> str:
        """Format mean seconds and speed-ups over the baseline."""
        show = CellFormat("{:.3g} s", self.speedup, "{:.1f} ± {:.1f}×")
        return self._format_table(rows.where(metric="seconds"), ("moments", "n", self.by), show)

    def _format_table(self, rows: Rows, columns: Sequence[str], show: CellFormat) -> str:
        methods = [*self._list_methods(rows), self.baseline]
        lines = []
        for levels in product(*map(rows.levels, columns)):
            part = rows.where(**dict(zip(columns, levels, strict=True)))
            cells = (self._format_cell(part, method, show) for method in methods)
            lines.append([*(f"{level:,}" if isinstance(level, int) else f"{level}" for level in levels), *cells])
        return format_markdown([*columns, *methods], lines)

    def _format_cell(self, rows: Rows, method: str, show: CellFormat) -> str:
        own = rows.where(method=method)
        if not len(own):
            return ""
        mean = show.mean.format(own.mean)
        if method == self.baseline:
            return mean
        return f"{mean} ({show.compared.format(*show.estimate(rows, method))})"

    def _draw(self, rows: Rows, title: str, label: str, estimate: Callable[[Rows, str], Estimate]) -> Figure:
        choices, sizes = rows.levels("moments"), rows.levels("n")
        figure = new_figure(title, len(choices), len(sizes), (4.6, 2.9))
        grid = figure.subplots(len(choices), len(sizes), squeeze=False, sharey="row")
        methods = self._list_methods(rows)
        for (line, choice), (column, n) in product(enumerate(choices), enumerate(sizes)):
            axes, panel = grid[line, column], rows.where(moments=choice, n=n)
            groups = panel.levels(self.by)
            draw_bars(axes, [f"{group}" for group in groups], self._make_bars(panel, groups, methods, estimate))
            style_axes(axes, f"{choice} moments, n={n:,}", self.groups, label if column == 0 else "")
        add_shared_legend(figure, grid.flat, n_columns=len(methods))
        return figure

    def _list_methods(self, rows: Rows) -> list[str]:
        """Return all methods but the baseline, the oracle last."""
        return sorted((name for name in rows.levels("method") if name != self.baseline), key=ORACLE.__eq__)

    def _make_bars(
        self, panel: Rows, groups: Sequence[Any], methods: Sequence[str], estimate: Callable[[Rows, str], Estimate]
    ) -> list[Bars]:
        """Return one series of bars for each method and shade."""
        levels = panel.levels(self.shade) if self.shade else [None]
        bars = []
        for method, (level, opacity) in product(methods, zip(levels, OPACITIES, strict=False)):
            rows = panel if self.shade is None else panel.where(**{self.shade: level})
            if method in rows.levels("method"):
                heights = [estimate(rows.where(**{self.by: group}), method) for group in groups]
                bars.append(Bars(self._make_label(method, level), choose_color(method), heights, opacity))
        return bars

    def _make_label(self, method: str, level: float | None) -> str:
        return method if self.shade is None else f"{method}, {SYMBOLS.get(self.shade, self.shade)}={level:g}"
