"""A report as one HTML file: no scripts, nothing from elsewhere, for the screen and for paper."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mixsearch import __version__
from mixsearch.errors import SearchError
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.report.markup import Markup, is_link, join, make_text, tag
from mixsearch.topics.answers import Answer, Question, answer_questions, describe_topic, find_words, name_answers
from mixsearch.topics.groups import GroupedTopic, TopicGroup, TopicGroups
from mixsearch.topics.topic import format_about

if TYPE_CHECKING:
    from mixsearch.topics.index import TopicIndex

# Nothing but the style of this page is loaded or run, whatever the documents hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TONES = {"strong": "good", "fair": "doubt", "weak": "bad", None: "doubt"}
N_COLORS = 8  # of the style sheet; further lines use them again
_MAX_COLUMNS = 3  # of groups, chosen by themselves
_MAX_GROUPS = 21  # as many as are made by default, and the others
_WIDTH, _HEIGHT = 760, 320
_MARGINS = (52.0, 12.0, 200.0, 28.0)  # of a chart: left, top, right, bottom
_MAX_LABEL, _MAX_TICKS = 26, 9
_METHODS = (
    "A topic is found from its hint alone. Documents that contain the words of the hint are compared with all "
    "documents, in their words and in what these usually occur with; each document gets one score.",
    "Documents of the hint are then left out in turn and judged by their other words. Where they rank says how sure a "
    "match is, and how likely a document of each score belongs to the topic. All numbers are sums of this: about how "
    "many documents, their share in a period or group, and the words that distinguish them.",
    "A word in few documents, or one that is used in many ways, is an uncertain match: read its documents first. "
    "Irony, negation and rare spellings are not understood.",
)


@dataclass(frozen=True)
class Report:
    """Topics of an index, as plain data for a page.

    Parameters
    ----------
    title : str
        The title.
    created : date
        When the report was made.
    n_documents : int
        The number of documents of the index.
    where : str or None
        The filter of the documents.
    topics : dict of str to dict
        What `describe_topic` says of each topic.
    timeline : TopicGroups or None
        The topics over time.
    groups : tuple of TopicGroups
        The topics by the values of columns.
    failed : tuple of Answer
        The questions without a topic, with their errors.
    """

    title: str
    created: date
    n_documents: int
    where: str | None
    topics: dict[str, dict[str, Any]]
    timeline: TopicGroups | None
    groups: tuple[TopicGroups, ...]
    failed: tuple[Answer, ...]

    @cached_property
    def html(self) -> str:
        """The report as one HTML page, which opens offline."""
        return make_page(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, completely or not at all.

        Parameters
        ----------
        path : path
            A file .html. It is replaced if it exists.
        """
        file = Path(path)
        if file.suffix.lower() not in (".html", ".htm"):
            raise SearchError(
                "Cannot write a report to {file!r}: the name must end in .html.", code="unknown_format", file=str(file)
            )
        with explain_os_errors("write to", file), write_atomically(file) as temporary:
            temporary.write_bytes(self.html.encode("utf-8", "replace"))

    def __repr__(self) -> str:
        return f"Report on {self.title}: {', '.join(self.topics)}"

    def _repr_html_(self) -> str:
        # Neither scripts nor styles pass the frame, in either direction.
        title = escape(f"Topics of {self.title}", quote=True)
        return (
            f'<iframe title="{title}" sandbox srcdoc="{escape(self.html, quote=True)}" '
            'style="width: 100%; height: 640px; border: 1px solid #8884; border-radius: 8px"></iframe>'
        )


def make_report(
    index: TopicIndex,
    questions: Sequence[Question],
    *,
    title: str | None = None,
    over: str | Literal["auto"] | None = "auto",
    by: Sequence[str] | Literal["auto"] = "auto",
    where: str | None = None,
    n_words: int = 12,
    n_documents: int = 10,
) -> Report:
    """Search for topics and describe them for a report.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    questions : sequence of Question
        What to search for. A question without a topic leaves the others alone.
    title : str, optional
        The title; by default the name of the index.
    over : str, "auto" or None, default="auto"
        The column of the timeline: dates or numbers. "auto" takes the first column of dates, if there is one.
    by : sequence of str or "auto", default="auto"
        The columns of the groups. "auto" takes the first three columns of categories.
    where : str, optional
        A filter of the documents that are listed and counted.
    n_words, n_documents : int
        How many words and documents to list for each topic.

    Returns
    -------
    Report

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.report import make_report
    >>> from mixsearch.topics import IndexOptions, Question, build_index, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> report = make_report(open_index(built.path), [Question("sushi", "sushi")])
    >>> report.title, report.timeline.over, [groups.by for groups in report.groups]
    ('reviews', 'date', ['city'])
    """
    answers = answer_questions(index, [Question(**(vars(question) | {"where": where})) for question in questions])
    topics = name_answers(answers)
    failed = tuple(answer for answer in answers if answer.error is not None)
    if not topics:
        raise failed[0].error or _make_error() if failed else _make_error()
    column = index.columns.find("date") if over == "auto" else over
    columns = _choose_columns(index) if by == "auto" else list(by)
    return Report(
        title=title or index.path.stem,
        created=date.today(),
        n_documents=index.n_documents,
        where=where,
        topics={
            name: describe_topic(index, topic, name=name, n_words=n_words, n_documents=n_documents)
            for name, topic in topics.items()
        },
        timeline=None if column is None else index.group(topics, over=column, where=where),
        groups=tuple(index.group(topics, by=each, where=where) for each in columns),
        failed=failed,
    )


def _choose_columns(index: TopicIndex) -> list[str]:
    return [column.name for column in index.columns.described if column.role == "category"][:_MAX_COLUMNS]


def _make_error() -> SearchError:
    return SearchError("A report needs at least one hint, got none.", code="no_hints")


# ---- The page -------------------------------------------------------------------------------------------------------


def make_page(report: Report) -> str:
    """Return a report as one HTML page: no scripts, and nothing from elsewhere."""
    style = files("mixsearch.report").joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"mixsearch {__version__}"),
        tag("title", report.title),
        tag("style", Markup(style)),
    )
    sections = [_make_topic(report, name, position) for position, name in enumerate(report.topics)]
    body = tag("body", _make_header(report), tag("main", _make_summary(report), *sections, _make_methods(report)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _make_header(report: Report) -> Markup:
    n_topics = len(report.topics)
    facts = [
        f"{n_topics} topic{'s' if n_topics > 1 else ''}",
        f"{report.n_documents:,} documents",
        f"{report.created:%d %B %Y}".lstrip("0"),
    ]
    where = report.where and tag("p", "Only documents with ", tag("code", report.where), class_="where")
    return tag("header", tag("h1", report.title), tag("p", " · ".join(facts), class_="facts"), where or None)


def _make_summary(report: Report) -> Markup:
    rows = [_make_row(name, answer, position) for position, (name, answer) in enumerate(report.topics.items())]
    head = tag("tr", tag("th", "Topic", scope="col"), tag("th", "Documents", scope="col"))
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="summary"), class_="scroll")
    return tag("section", tag("h2", "Summary"), table, _make_timeline(report), _list_failed(report), id="summary")


def _make_row(name: str, answer: dict[str, Any], position: int) -> Markup:
    words = ", ".join(word["word"] for word in answer["words"][:6])
    link = tag("a", _mark_color(position), tag("bdi", name), href=f"#topic-{position + 1}")
    heading = tag("th", link, tag("span", words, class_="words"), scope="row")
    return tag("tr", heading, tag("td", answer["sentence"]))


def _make_topic(report: Report, name: str, position: int) -> Markup:
    answer = report.topics[name]
    badge = tag("span", answer["match"] or "unchecked", class_=f"badge {_TONES[answer['match']]}")
    meanings = [f"{', '.join(each['words'])} ({each['share']:.0%})" for each in answer["alternatives"]]
    tables = [_make_groups(groups, groups.topics[position], position) for groups in report.groups]
    return tag(
        "section",
        tag("h2", _mark_color(position), tag("bdi", name), badge),
        tag("p", answer["sentence"]),
        tag("p", f"{answer['check'][:1].upper()}{answer['check'][1:]}.", class_="verdict"),
        _list_notes([warning["message"] for warning in answer["warnings"]]),
        tag("p", "Words: ", tag("bdi", ", ".join(word["word"] for word in answer["words"]))),
        tag("p", "Meanings of the hint: ", tag("bdi", "; ".join(meanings))) if meanings else None,
        *tables,
        _make_documents(answer),
        id=f"topic-{position + 1}",
        class_="topic",
    )


def _make_groups(groups: TopicGroups, topic: GroupedTopic, position: int) -> Markup | None:
    """Return a table of groups with bars, those of the largest share first if they have no order."""
    listed = [group for group in topic.groups if group.n_documents]
    if groups.kind == "category":
        listed.sort(key=lambda group: -(group.share or 0))
    if not listed:
        return None
    largest = max(group.share or 0 for group in listed) or 1
    head = tag("tr", *(tag("th", text, scope="col") for text in (groups.by, "Share", "", "About it", "Documents")))
    rows = [_make_group(group, largest) for group in listed[:_MAX_GROUPS]]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_=f"data c{position % N_COLORS}")
    return tag("div", tag("h3", f"By {groups.by}"), tag("div", table, class_="scroll"))


def _make_group(group: TopicGroup, largest: float) -> Markup:
    share = group.share or 0
    bar = tag("rect", width=_round(100 * share / largest), height=10, y=2, class_="bar")
    return tag(
        "tr",
        tag("th", tag("bdi", group.label), scope="row"),
        tag("td", f"{share:.1%}", class_="number"),
        tag("td", tag("svg", bar, viewBox="0 0 100 14", width=100, height=14, aria_hidden="true")),
        tag("td", format_about(group.n_members), class_="number"),
        tag("td", f"{group.n_documents:,}", class_="number"),
    )


def _make_documents(answer: dict[str, Any]) -> Markup | None:
    if not answer["documents"]:
        return None
    words = [word["word"] for word in answer["words"]]
    items = [_make_document(document, words) for document in answer["documents"]]
    return tag("div", tag("h3", "Documents"), tag("ol", *items, class_="documents"))


def _make_document(document: dict[str, Any], words: Sequence[str]) -> Markup:
    linked = tag("bdi", document["title"] or document["name"] or f"Document {document['row']}")
    if is_link(document["link"]):
        linked = tag("a", linked, href=document["link"], rel="noopener noreferrer")
    day = None if document["date"] is None else document["date"].removesuffix("T00:00:00")
    meta = [day, document["name"] if document["title"] else None, f"row {document['row']}"]
    snippet = document["snippet"]
    return tag(
        "li",
        tag("span", linked, class_="title"),
        tag("span", " · ".join(each for each in meta if each), class_="meta"),
        None if snippet is None else tag("p", tag("bdi", highlight(snippet, words)), class_="snippet"),
    )


def highlight(snippet: str, words: Sequence[str]) -> Markup:
    """Return a snippet with the words of the topic marked."""
    parts, last = [], 0
    for start, end in find_words(snippet, words):
        parts += [make_text(snippet[last:start]), tag("mark", snippet[start:end])]
        last = end
    return join(*parts, snippet[last:])


def _list_notes(sentences: Sequence[str]) -> Markup | None:
    return tag("ul", *(tag("li", sentence) for sentence in sentences), class_="notes") if sentences else None


def _list_failed(report: Report) -> Markup | None:
    if not report.failed:
        return None
    items = [tag("li", tag("b", answer.question.name), f": {answer.error}") for answer in report.failed]
    return tag("div", tag("h3", "Hints without a topic"), tag("ul", *items, class_="notes"))


def _mark_color(position: int) -> Markup:
    return tag("i", class_=f"mark c{position % N_COLORS}", aria_hidden="true")


def _make_methods(report: Report) -> Markup:
    made = tag("p", f"Made with mixsearch {__version__} on {report.created:%Y-%m-%d}.", class_="made")
    paragraphs = [tag("p", text) for text in _METHODS]
    return tag("section", tag("h2", "How to read this report"), *paragraphs, made, id="methods", class_="methods")


# ---- The chart ------------------------------------------------------------------------------------------------------


class _Frame(NamedTuple):
    """The place of periods and shares in a chart."""

    labels: Sequence[str]
    ceiling: float

    def place(self, i: int, share: float) -> tuple[float, float]:
        left, top, right, bottom = _MARGINS
        x = left + (_WIDTH - left - right) * (i + 0.5) / len(self.labels)
        return _round(x), _round(top + (_HEIGHT - top - bottom) * (1 - min(share / self.ceiling, 1)))


def _make_timeline(report: Report) -> Markup | None:
    if report.timeline is None or not report.timeline.topics[0].groups:
        return None
    topics, column = report.timeline.topics, report.timeline.over
    chart = draw_lines(topics, f"Topics by {column}")
    return tag("figure", chart, tag("figcaption", f"Share of the documents that belong to each topic, by {column}."))


def draw_lines(topics: Sequence[GroupedTopic], title: str) -> Markup:
    """Return shares over time as lines with their names at the ends."""
    largest = max((group.share or 0 for topic in topics for group in topic.groups), default=0)
    ceiling, ticks = _make_scale(largest)
    frame = _Frame([group.label for group in topics[0].groups], ceiling)
    left, top, right, bottom = _MARGINS
    parts: list[Markup] = []
    for tick in ticks:
        y = frame.place(0, tick)[1]
        parts.append(tag("line", x1=left, x2=_WIDTH - right, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{100 * tick:.3g}%", x=left - 8, y=y + 4, class_="tick end"))
    step = -(-len(frame.labels) // _MAX_TICKS)
    for i, label in enumerate(frame.labels[::step]):
        x = frame.place(i * step, 0)[0]
        parts.append(tag("text", label, x=x, y=_HEIGHT - 8, class_="tick middle"))
    ends = [frame.place(*_find_last(topic))[1] for topic in topics]
    for position, (topic, end) in enumerate(zip(topics, _spread(ends, top + 4, _HEIGHT - bottom), strict=True)):
        lines = [
            tag("polyline", points=" ".join(f"{x},{y}" for x, y in run), class_="stroke")
            for run in _find_runs(topic, frame)
        ]
        share = f"{_find_last(topic)[1]:.1%}"
        name = tag("text", f"{shorten(topic.hint)} {share}", x=_WIDTH - right + 8, y=_round(end + 4), class_="name")
        parts.append(tag("g", *lines, name, class_=f"c{position % N_COLORS}"))
    description = " ".join(describe_line(topic) for topic in topics)
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *parts,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=f"{title}. {description}",
        class_="chart",
    )


def _find_runs(topic: GroupedTopic, frame: _Frame) -> list[list[tuple[float, float]]]:
    """Return the points of groups with documents, in runs without a gap."""
    runs: list[list[tuple[float, float]]] = [[]]
    for i, group in enumerate(topic.groups):
        if group.share is None:
            runs.append([])
        else:
            runs[-1].append(frame.place(i, group.share))
    return [run for run in runs if run]


def _find_last(topic: GroupedTopic) -> tuple[int, float]:
    """Return the last group with documents, and the share there."""
    shares = [(i, group.share) for i, group in enumerate(topic.groups) if group.share is not None]
    return shares[-1] if shares else (0, 0.0)


def describe_line(topic: GroupedTopic) -> str:
    """Return the course of a line in a sentence."""
    shown = [group for group in topic.groups if group.share is not None]
    if not shown:
        return f"{topic.hint}: no documents."
    best = max(shown, key=lambda group: group.share or 0)
    first, last, most = (f"{group.share:.1%} in {group.label}" for group in (shown[0], shown[-1], best))
    return f"{topic.hint}: {first}, {last}, at most {most}."


def shorten(text: str) -> str:
    """Return a label of at most as many characters as there is room for."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_LABEL else f"{plain[: _MAX_LABEL - 1]}…"


def _make_scale(largest: float) -> tuple[float, list[float]]:
    """Return the end of an axis, and its ticks."""
    largest = min(max(largest, 1e-4), 1.0)
    magnitude = 10 ** math.floor(math.log10(largest / 4))
    step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude * 5 >= largest)
    n = math.ceil(largest / step - 1e-9)
    return n * step, [i * step for i in range(n + 1)]


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


def _round(value: float) -> float:
    return round(value, 1)
