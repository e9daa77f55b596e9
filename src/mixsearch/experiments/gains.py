"""Pictures and tables of what a method gains over a baseline, in accuracy and in time, laid out as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from mixsearch.experiments.drawing import (
    Bars,
    Estimate,
    colour_of,
    draw_bars,
    new_figure,
    ratio_of_means,
    share_legend,
    style_axes,
)
from mixsearch.experiments.rows import Rows
from mixsearch.experiments.tables import markdown
from mixsearch.plots import MUTED_COLOR

# Gains below this are cut off in pictures: a method that finds another component would hide all else.
LOWEST = -100.0
LEAST_SPEEDUP = 0.5
OPACITIES = (1.0, 0.6)
ORACLE = "oracle"
SYMBOLS = {"sigma": "σ", "length": "L"}


class FoldSums(NamedTuple):
    """What a cell of a table holds: a mean, and how it compares with the baseline."""

    mean: str
    estimate: Callable[[Rows, str], Estimate]
    compared: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What methods are compared with, and how that is laid out.

    Attributes
    ----------
    baseline : str
        The method that the others are compared with, given the same moments.
    groups : str
        What the groups of bars are, in words.
    by : str
        The column that makes the groups; the columns `moments` and `n` make the panels.
    shade : str, optional
        The column of the setting that shades bars.
    logarithmic : bool
        Whether speed-ups are drawn on a scale of powers of ten.
    """

    baseline: str
    groups: str
    by: str = "of"
    shade: str | None = "sigma"
    logarithmic: bool = False

    def draw_gains(self, rows: Rows, title: str) -> Figure:
        """The paper's percentage relative error gain, beside that of the oracle, which no method can pass."""
        figure = self._draw(rows.where(metric="error"), title, f"error gain over {self.baseline}, %", self.gain)
        for axes in figure.axes:
            low, high = axes.get_ylim()
            axes.set_ylim(max(low, LOWEST), high)
            axes.axhline(0, color=MUTED_COLOR, linewidth=0.8)
        return figure

    def draw_speedups(self, rows: Rows, title: str) -> Figure:
        """How many times faster than the baseline."""
        figure = self._draw(rows.where(metric="seconds"), title, f"times faster than {self.baseline}", self.speedup)
        for axes in figure.axes:
            if self.logarithmic:
                axes.set_yscale("log")
                axes.set_ylim(bottom=LEAST_SPEEDUP)
                axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axes.minorticks_off()
            axes.axhline(1, color=MUTED_COLOR, linewidth=0.8)
        return figure

    def gain(self, rows: Rows, method: str) -> Estimate:
        """G = 100 (1 - error / baseline's error), of mean errors over paired seeds."""
        ratio = ratio_of_means(rows.where(method=method).values, rows.where(method=self.baseline).values)
        return Estimate(100 * (1 - ratio.value), 100 * ratio.stderr)

    def speedup(self, rows: Rows, method: str) -> Estimate:
        """The baseline's mean time over the method's."""
        return ratio_of_means(rows.where(method=self.baseline).values, rows.where(method=method).values)

    def table_of_errors(self, rows: Rows) -> str:
        """Mean errors over seeds and components, and the gains."""
        show = FoldSums("{:.3g}", self.gain, "{:+.1f} ± {:.1f}%")
        return self._table(rows.where(metric="error"), ("moments", self.shade or self.by, "n"), show)

    def table_of_times(self, rows: Rows) -> str:
        """Mean seconds, and how many times faster than the baseline that is."""
        show = FoldSums("{:.3g} s", self.speedup, "{:.1f} ± {:.1f}×")
        return self._table(rows.where(metric="seconds"), ("moments", "n", self.by), show)

    def _table(self, rows: Rows, columns: Sequence[str], show: FoldSums) -> str:
        methods = [*self._methods(rows), self.baseline]
        lines = []
        for levels in product(*map(rows.levels, columns)):
            part = rows.where(**dict(zip(columns, levels, strict=True)))
            cells = (self._cell(part, method, show) for method in methods)
            lines.append([*(f"{level:,}" if isinstance(level, int) else f"{level}" for level in levels), *cells])
        return markdown([*columns, *methods], lines)

    def _cell(self, rows: Rows, method: str, show: FoldSums) -> str:
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
        methods = self._methods(rows)
        for (line, choice), (column, n) in product(enumerate(choices), enumerate(sizes)):
            axes, panel = grid[line, column], rows.where(moments=choice, n=n)
            groups = panel.levels(self.by)
            draw_bars(axes, [f"{group}" for group in groups], self._bars(panel, groups, methods, estimate))
            style_axes(axes, f"{choice} moments, n={n:,}", self.groups, label if column == 0 else "")
        share_legend(figure, grid.flat, n_columns=len(methods))
        return figure

    def _methods(self, rows: Rows) -> list[str]:
        """All but the baseline, with the oracle last."""
        return sorted((name for name in rows.levels("method") if name != self.baseline), key=ORACLE.__eq__)

    def _bars(
        self, panel: Rows, groups: Sequence[Any], methods: Sequence[str], estimate: Callable[[Rows, str], Estimate]
    ) -> list[Bars]:
        """Of each method that the panel has, one series for each shade."""
        levels = panel.levels(self.shade) if self.shade else [None]
        bars = []
        for method, (level, opacity) in product(methods, zip(levels, OPACITIES, strict=False)):
            rows = panel if self.shade is None else panel.where(**{self.shade: level})
            if method in rows.levels("method"):
                heights = [estimate(rows.where(**{self.by: group}), method) for group in groups]
                bars.append(Bars(self._label(method, level), colour_of(method), heights, opacity))
        return bars

    def _label(self, method: str, level: float | None) -> str:
        return method if self.shade is None else f"{method}, {SYMBOLS.get(self.shade, self.shade)}={level:g}"
