"""How an answer looks: a few facts and a small bar chart, as text and as HTML."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

_BAR = 24


def plain_number(x: float) -> str:
    """A number for people: three figures, no exponent where none is needed."""
    if x != x or x in (float("inf"), float("-inf")):
        return "∞" if x > 0 else ("-∞" if x < 0 else "nan")
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def give_or_take(x: float, stderr: float) -> str:
    """A number and its standard error for people: two figures of the error, and as many decimals of the number.

    Examples
    --------
    >>> give_or_take(1.1384, 0.0397), give_or_take(21.4, 12.34)
    ('1.138 ± 0.040', '21 ± 12')
    """
    if not 0 < stderr < math.inf:
        return f"{plain_number(x)} ± {plain_number(stderr)}"
    decimals = max(1 - math.floor(math.log10(stderr)), 0)
    return f"{x:,.{decimals}f} ± {stderr:,.{decimals}f}"


def plain_chance(chance: float) -> str:
    """A chance in whole per cents, and never a certainty.

    Examples
    --------
    >>> plain_chance(0.94), plain_chance(1.0), plain_chance(0.0)
    ('94%', 'above 99%', 'below 1%')
    """
    if 0.01 <= chance < 0.995:
        return f"{100 * chance:.0f}%"
    return "above 99%" if chance > 0.5 else "below 1%"


@dataclass(frozen=True, slots=True)
class Card:
    """Facts and bars under a title."""

    title: str
    facts: list[tuple[str, str]]
    bars: list[tuple[str, float]] = field(default_factory=list)
    bars_title: str = ""

    def _lengths(self) -> list[float]:
        longest = max((value for _, value in self.bars), default=0.0)
        return [max(value, 0.0) / longest if longest > 0 else 0.0 for _, value in self.bars]

    def text(self) -> str:
        """For a terminal."""
        width = max(len(name) for name, _ in self.facts)
        lines = [self.title, *(f"  {name:<{width}}  {value}" for name, value in self.facts)]
        if self.bars:
            wide = max(len(name) for name, _ in self.bars)
            lines.append(f"  {self.bars_title}:")
            for (name, value), length in zip(self.bars, self._lengths(), strict=True):
                lines.append(f"    {name:<{wide}}  {plain_number(value):>9}  {'█' * round(_BAR * length)}".rstrip())
        return "\n".join(lines)

    def html(self) -> str:
        """For a notebook. Every word is escaped: names may come from documents."""
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
