"""Display of results: a few facts and a small bar chart, as text and as HTML."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

_BAR_WIDTH = 24  # characters


def plain_number(x: float) -> str:
    """Format a number with three significant digits, without an exponent if possible."""
    if x != x or x in (float("inf"), float("-inf")):
        return "∞" if x > 0 else ("-∞" if x < 0 else "nan")
    return f"{x:,.0f}" if abs(x) >= 999.5 else f"{x:.3g}"  # which three digits would round to 1e+03


def pluralize(n: int, one: str, many: str = "") -> str:
    """Return the word for one or for several things."""
    return one if n == 1 else many or f"{one}s"


def give_or_take(x: float, stderr: float) -> str:
    """Format a number and its standard error: two digits of the error, and as many decimals of the number."""
    if not 0 < stderr < math.inf:
        return f"{plain_number(x)} ± {plain_number(stderr)}"
    decimals = max(1 - math.floor(math.log10(stderr)), 0)
    return f"{x:,.{decimals}f} ± {stderr:,.{decimals}f}"


def plain_chance(probability: float) -> str:
    """Format a probability in whole per cents, and never as a certainty."""
    if 0.01 <= probability < 0.995:
        return f"{100 * probability:.0f}%"
    return "above 99%" if probability > 0.5 else "below 1%"


def format_share(share: float, stderr: float | None = None) -> str:
    """Format a share as a percentage, with its standard error if it is known."""
    return f"{plain_number(100 * share) if stderr is None else give_or_take(100 * share, 100 * stderr)}%"


@dataclass(frozen=True, slots=True)
class Card:
    """A title, facts and a bar chart."""

    title: str
    facts: list[tuple[str, str]]
    bars: list[tuple[str, float]] = field(default_factory=list)
    bars_title: str = ""

    def _lengths(self) -> list[float]:
        longest = max((value for _, value in self.bars), default=0.0)
        return [max(value, 0.0) / longest if longest > 0 else 0.0 for _, value in self.bars]

    def text(self) -> str:
        """Format the card for a terminal."""
        width = max(len(name) for name, _ in self.facts)
        lines = [self.title, *(f"  {name:<{width}}  {value}" for name, value in self.facts)]
        if self.bars:
            wide = max(len(name) for name, _ in self.bars)
            lines.append(f"  {self.bars_title}:")
            for (name, value), length in zip(self.bars, self._lengths(), strict=True):
                lines.append(
                    f"    {name:<{wide}}  {plain_number(value):>9}  {'█' * round(_BAR_WIDTH * length)}".rstrip()
                )
        return "\n".join(lines)

    def html(self) -> str:
        """Format the card for a notebook. All text is escaped, because names may come from documents."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
            for name, value in self.facts
        )
        bars = "".join(
            f"<tr><td style='text-align:left'>{escape(name)}</td><td>{plain_number(value)}</td>"
            f"<td><div style='background:#4c78a8;height:0.8em;width:{160 * length:.0f}px'></div></td></tr>"
            for (name, value), length in zip(self.bars, self._lengths(), strict=True)
        )
        chart = f"<p><em>{escape(self.bars_title)}</em></p><table>{bars}</table>" if self.bars else ""
        return f"<div><strong>{escape(self.title)}</strong><table>{rows}</table>{chart}</div>"
