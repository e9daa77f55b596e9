"""Figures and tables of accuracy and speed relative to a baseline, laid out as in the paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, StrMethodFormatter

from mixsearch.experiments._figures import (
    Bars,
    Estimate,
    add_shared_legend,
    choose_color,
    compute_ratio,
    draw_bars,
    new_figure,
    style_axes,
)
from mixsearch.experiments._rows import Rows
from mixsearch.experiments._tables import format_markdown
from mixsearch.plots import MUTED_COLOR

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
    """A comparison of methods with a baseline, and its layout.

    Attributes
    ----------
    baseline : str
        The method to compare with, given the same moments.
    groups : str
        The label of the groups of bars.
    by : str
        The column of the groups; the columns `moments` and `n` make the panels.
    shade : str, optional
        The column of the setting that shades bars.
    logarithmic : bool
        Whether speed-ups have a logarithmic scale.
    """

    baseline: str
    groups: str
    by: str = "target"
    shade: str | None = "sigma"
    logarithmic: bool = False

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
