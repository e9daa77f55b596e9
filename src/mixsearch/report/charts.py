"""Charts as inline SVG: lines with bands, bars, and dots with intervals. Colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mixsearch.display import format_share, plain_number, pluralize
from mixsearch.index.answer import TopicWord
from mixsearch.index.groups import GroupShare
from mixsearch.report.markup import Markup, join, tag

# Colours of the style sheet; further lines use them again.
N_COLORS = 8
_WIDTH = 760
_CHARACTER = 7.8  # mean width of a character of the labels
_MAX_LABEL = 26
_MAX_TICKS = 9
# Groups with fewer documents, in parts of the mean, have intervals too wide for the scale, and are not drawn at an end.
_MIN_PART = 0.1

# From the index of a group and a share to a point.
_Place = Callable[[int, float], tuple[float, float]]


class Line(NamedTuple):
    """A line of a chart."""

    name: str
    color: int
    groups: Sequence[GroupShare]


def draw_lines(lines: Sequence[Line], title: str, *, height: int = 260) -> Markup:
    """Return shares over time as lines, with bands for their 95% intervals."""
    labels = [group.label for group in lines[0].groups]
    left, top, bottom = 52.0, 12.0, 28.0
    right = 16.0 if len(lines) == 1 else min(max(len(shorten(line.name)) for line in lines) * _CHARACTER + 22, 200)
    ceiling, ticks = _make_scale(_find_ceiling(lines))
    inner, tall = _WIDTH - left - right, height - top - bottom

    def place(i: int, share: float) -> tuple[float, float]:
        x = left + inner * (i + 0.5) / len(labels)
        return _round(x), _round(top + tall * (1 - min(max(share / ceiling, 0), 1)))

    axis = [
        join(
            tag("line", x1=left, x2=left + inner, y1=y, y2=y, class_="grid"),
            tag("text", format_share(tick), x=left - 8, y=_round(y + 4), class_="tick end"),
        )
        for tick, y in ((tick, place(0, tick)[1]) for tick in ticks)
    ]
    step = math.ceil(len(labels) / min(_MAX_TICKS, max(2, int(inner / (max(map(len, labels)) * _CHARACTER + 14)))))
    axis += [
        tag("text", label, x=_round(place(i, 0)[0]), y=height - 8, class_="tick middle")
        for i, label in enumerate(labels)
        if i % step == 0
    ]
    ends = _spread([_find_end(line, place) for line in lines], top + 4, top + tall)
    drawn = [_draw_line(line, place) for line in lines]
    if len(lines) > 1:
        drawn += [
            tag(
                "text",
                shorten(line.name),
                x=_round(left + inner + 10),
                y=_round(end + 4),
                class_=f"name {_color(line)}",
            )
            for line, end in zip(lines, ends, strict=True)
        ]
    base = tag("line", x1=left, x2=left + inner, y1=top + tall, y2=top + tall, class_="axis")
    return _make_svg(join(*axis, base, *drawn), title, " ".join(map(describe_line, lines)), height)


def _draw_line(line: Line, place: _Place) -> Markup:
    parts: list[Markup] = []
    for run in _find_runs(line.groups):
        points = [place(i, line.groups[i].share or 0) for i in run]
        upper = [place(i, line.groups[i].high or 0) for i in run]
        lower = [place(i, line.groups[i].low or 0) for i in reversed(run)]
        parts.append(tag("polygon", points=_list_points([*upper, *lower]), class_="band"))
        parts.append(tag("polyline", points=_list_points(points), class_="stroke"))
        parts += [
            tag(
                "circle",
                tag("title", f"{line.name}, {_describe_group(line.groups[i])}"),
                cx=x,
                cy=y,
                r=2.6,
                class_="dot",
            )
            for i, (x, y) in zip(run, points, strict=True)
        ]
    return tag("g", *parts, class_=_color(line))


def draw_spark(line: Line, title: str) -> Markup:
    """Return the course of one topic as a small line."""
    wide, tall = 130, 28
    ceiling, n = _find_ceiling([line]) or 1.0, len(line.groups)
    runs = [
        [((i + 0.5) / n * wide, 2 + (tall - 4) * (1 - min((line.groups[i].share or 0) / ceiling, 1))) for i in run]
        for run in _find_runs(line.groups)
    ]
    drawn = [tag("polyline", points=_list_points(run), class_="stroke") for run in runs]
    body = tag("g", *drawn, class_=_color(line))
    return _make_svg(body, title, describe_line(line), tall, wide, class_="spark")


def draw_words(words: Sequence[TopicWord], color: int, title: str) -> Markup:
    """Return the words of a topic as bars of their probabilities."""
    longest = max((word.probability for word in words), default=0) or 1.0
    left = min(max((len(shorten(word.word)) for word in words), default=0) * _CHARACTER + 12, 210)
    room, row = _WIDTH / 2 - left - 128, 22
    bars = []
    for i, word in enumerate(words):
        y, width = i * row, max(room * word.probability / longest, 1)
        bars += [
            tag("text", shorten(word.word), x=_round(left - 8), y=y + 15, class_="label end"),
            tag("rect", x=_round(left), y=y + 4, width=_round(width), height=row - 8, rx=2, class_="bar"),
            tag("text", format_share(word.probability), x=_round(left + width + 6), y=y + 15, class_="tick"),
            tag("text", f"{plain_number(word.likelier)}×", x=_WIDTH / 2 - 4, y=y + 15, class_="tick end"),
        ]
    description = ", ".join(f"{word.word} {format_share(word.probability)}" for word in words)
    return _make_svg(
        tag("g", *bars, class_=f"c{color % N_COLORS}"), title, description, len(words) * row + 2, _WIDTH // 2
    )


def draw_groups(groups: Sequence[GroupShare], color: int, title: str) -> Markup:
    """Return the share in each group as a dot with its 95% interval."""
    left = min(max(len(shorten(group.label)) for group in groups) * _CHARACTER + 14, 210)
    known = [Line("", color, groups)]
    ceiling, ticks = _make_scale(_find_ceiling(known))
    row, right, top = 24, 150.0, 6
    inner, height = _WIDTH - left - right, top + len(groups) * row + 24

    def place(share: float) -> float:
        return _round(left + inner * min(max(share / ceiling, 0), 1))

    parts: list[Markup | None] = []
    for tick in ticks:
        parts.append(tag("line", x1=place(tick), x2=place(tick), y1=top, y2=height - 22, class_="grid"))
        parts.append(tag("text", format_share(tick), x=place(tick), y=height - 6, class_="tick middle"))
    for i, group in enumerate(groups):
        y = top + (i + 0.5) * row
        parts.append(tag("text", shorten(group.label), x=_round(left - 10), y=_round(y + 4), class_="label end"))
        if group.share is None:
            continue
        low, high = place(group.low or 0), place(group.high or 0)
        counted = f"{format_share(group.share)} of {group.n_documents:,}"
        parts.append(tag("line", x1=low, x2=high, y1=_round(y), y2=_round(y), class_="interval"))
        if (group.high or 0) > ceiling:
            parts.append(_draw_arrow(high, y))
        parts.append(
            tag(
                "circle", tag("title", _describe_group(group)), cx=place(group.share), cy=_round(y), r=4.2, class_="dot"
            )
        )
        parts.append(tag("text", counted, x=_WIDTH - 4, y=_round(y + 4), class_="tick end"))
    body = tag("g", *parts, class_=f"c{color % N_COLORS}")
    description = "; ".join(f"{group.label}: {_format_group(group)}" for group in groups)
    return _make_svg(body, title, description, height)


def _draw_arrow(x: float, y: float) -> Markup:
    """Return an arrow for the end of an interval outside the scale."""
    tip = [(x - 5, y - 5), (x + 1, y), (x - 5, y + 5)]
    return tag("polyline", points=_list_points(tip), class_="interval beyond")


def find_span(groups: Sequence[GroupShare]) -> slice:
    """Return the periods to draw: without those at each end that have next to no documents."""
    usual = [i for i, group in enumerate(groups) if _is_usual(group, groups)]
    return slice(usual[0], usual[-1] + 1) if usual else slice(0, len(groups))


def _is_usual(group: GroupShare, groups: Sequence[GroupShare]) -> bool:
    return group.n_documents >= _MIN_PART * sum(each.n_documents for each in groups) / len(groups)


def shorten(text: str) -> str:
    """Return a label of at most as many characters as there is room for."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_LABEL else f"{plain[: _MAX_LABEL - 1]}…"


def describe_line(line: Line) -> str:
    """Return the course of a line in a sentence."""
    known = [group for group in line.groups if group.share is not None]
    if not known:
        return f"{line.name}: no documents."
    best = max(known, key=lambda group: group.share or 0)
    return (
        f"{line.name}: {_format_group(known[0])} in {known[0].label}, {_format_group(known[-1])} in {known[-1].label}, "
        f"at most {_format_group(best)} in {best.label}."
    )


def _describe_group(group: GroupShare) -> str:
    documents = f"{group.n_documents:,} {pluralize(group.n_documents, 'document')}"
    return f"{group.label}: {_format_group(group)} of {documents}"


def _format_group(group: GroupShare) -> str:
    return "no documents" if group.share is None else format_share(group.share)


def _make_svg(
    body: Markup, title: str, description: str, height: float, width: int = _WIDTH, class_: str = "chart"
) -> Markup:
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        body,
        viewBox=f"0 0 {width} {_round(height)}",
        role="img",
        aria_label=f"{title}. {description}",
        class_=class_,
    )


def _color(line: Line) -> str:
    return f"c{line.color % N_COLORS}"


def _find_ceiling(lines: Sequence[Line]) -> float:
    """Return the largest share to show: all shares, and the intervals of groups with enough documents."""
    shown = [
        (group.high if _is_usual(group, line.groups) else group.share) or 0.0 for line in lines for group in line.groups
    ]
    return max(shown, default=0.0)


def _make_scale(largest: float) -> tuple[float, list[float]]:
    """Return the end of an axis, and its ticks."""
    largest = min(max(largest, 1e-4), 1.0)
    magnitude = 10 ** math.floor(math.log10(largest / 4))
    step = next(each * magnitude for each in (1, 2, 2.5, 5, 10) if each * magnitude * 5 >= largest)
    n = math.ceil(largest / step - 1e-9)
    return n * step, [i * step for i in range(n + 1)]


def _find_runs(groups: Sequence[GroupShare]) -> list[list[int]]:
    """Return the indices of groups with documents, in runs without a gap."""
    runs: list[list[int]] = []
    for i, group in enumerate(groups):
        if group.share is None:
            continue
        if runs and runs[-1][-1] == i - 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs


def _find_end(line: Line, place: _Place) -> float:
    """Return the height at which a line ends."""
    known = [(i, group.share) for i, group in enumerate(line.groups) if group.share is not None]
    return place(*known[-1])[1] if known else 0.0


def _spread(heights: Sequence[float], top: float, bottom: float, gap: float = 15) -> list[float]:
    """Move labels apart that would cover each other."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = [0.0] * len(heights)
    last = top - gap
    for i in order:
        placed[i] = last = max(heights[i], last + gap)
    last = bottom + gap
    for i in reversed(order):
        placed[i] = last = min(placed[i], last - gap)
    return placed


def _list_points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_round(x)},{_round(y)}" for x, y in points)


def _round(value: float) -> float:
    return round(value, 1)
