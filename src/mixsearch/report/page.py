"""A report as one HTML file: no scripts, nothing from elsewhere, for the screen and for paper."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from mixsearch import __version__
from mixsearch.display import format_share, plain_chance, plain_number, pluralize
from mixsearch.index.answer import Answer, TopicWord, TypicalDocument
from mixsearch.index.description import find_words
from mixsearch.index.groups import GroupedTopic, GroupShare
from mixsearch.report.charts import N_COLORS, Line, draw_groups, draw_lines, draw_spark, draw_words, find_span
from mixsearch.report.contents import Report, ReportedTopic, list_methods
from mixsearch.report.markup import Markup, is_link, join, make_text, tag

# Nothing but the style of this page is loaded or run, whatever the documents hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_TONES = {"clear": "good", "likely": "good", "distinct": "good", "doubtful": "doubt", "close": "doubt"}
_MAX_GROUPS = 21  # as many as are made by default, and the others
_N_WORDS = 5
# Other meanings with a smaller part of the hint are noise.
_MIN_SHARE = 0.001


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
    body = tag(
        "body",
        _make_header(report),
        tag(
            "main",
            _make_summary(report),
            *(_make_topic(report, topic, position) for position, topic in enumerate(report.topics)),
            _make_methods(report),
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _make_header(report: Report) -> Markup:
    n_topics = len(report.topics)
    facts = [
        f"{n_topics} topic{'s' if n_topics > 1 else ''}",
        f"{report.n_documents:,} documents",
        f"{report.created:%d %B %Y}".lstrip("0"),
    ]
    where = (
        None if report.where is None else tag("p", "Only documents with ", tag("code", report.where), class_="where")
    )
    return tag("header", tag("h1", report.title), tag("p", " · ".join(facts), class_="facts"), where)


def _make_summary(report: Report) -> Markup:
    rows = [_make_row(report, topic, position) for position, topic in enumerate(report.topics)]
    has_timeline = report.timeline is not None
    head = tag(
        "tr",
        *(tag("th", name, scope="col") for name in ("Topic", "Verdict")),
        tag("th", "Share", scope="col", class_="number"),
        tag("th", "Documents about it", scope="col", class_="number"),
        tag("th", "Over time", scope="col", class_="course") if has_timeline else None,
    )
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="summary"), class_="scroll")
    chart = None
    if report.timeline is not None and len(report.topics) > 1:
        chart = _make_figure(
            draw_lines(_list_lines(report), f"Topics by {report.timeline.column}", height=320),
            f"Mean share of the documents, by {report.timeline.column}; bands are 95% intervals.{_note_span(report)}",
        )
    return tag("section", tag("h2", "Summary"), table, chart, _list_failed(report), id="summary")


def _make_row(report: Report, topic: ReportedTopic, position: int) -> Markup:
    answer = topic.answer
    words = ", ".join(word.word for word in answer.words[:_N_WORDS])
    spark = None
    if report.timeline is not None and topic.timeline is not None:
        line = _make_line(topic.name, position, topic.timeline)
        spark = tag("td", draw_spark(line, f"{topic.name} by {report.timeline.column}"), class_="course")
    return tag(
        "tr",
        tag(
            "th",
            tag("a", _mark_color(position), tag("bdi", topic.name), href=f"#topic-{position + 1}"),
            tag("span", words, class_="words"),
            scope="row",
        ),
        tag("td", _make_badge(answer)),
        tag("td", format_share(answer.weight), class_="number"),
        tag("td", _count_about(answer), class_="number"),
        spark,
    )


def _make_topic(report: Report, topic: ReportedTopic, position: int) -> Markup:
    answer = topic.answer
    heading = tag("h2", _mark_color(position), tag("bdi", topic.name), _make_badge(answer))
    return tag(
        "section",
        heading,
        tag("p", _explain_verdict(answer), class_="verdict"),
        _list_notes(answer),
        _list_facts(answer),
        tag("div", _make_words(answer, position), _make_related(answer), class_="columns"),
        _make_timeline(report, topic, position),
        *(_make_groups(groups.column, own, position) for groups, own in zip(report.groups, topic.groups, strict=True)),
        _make_documents(answer),
        id=f"topic-{position + 1}",
        class_="topic",
    )


def _make_words(answer: Answer, position: int) -> Markup | None:
    words = _list_words(answer)
    if not words:
        return None
    chart = draw_words(words, position, f"Words of {answer.hint}")
    return tag(
        "div", tag("h3", "Words"), _make_figure(chart, "Probability, and how many times likelier than elsewhere.")
    )


def _make_related(answer: Answer) -> Markup:
    related = ", ".join(f"{word.word} ({plain_number(word.likelier)}×)" for word in answer.related_words)
    others = [
        tag("li", tag("bdi", ", ".join(other.words)), tag("span", f"{format_share(other.share_of_hint)} of the hint"))
        for other in answer.alternatives
        if other.share_of_hint >= _MIN_SHARE
    ]
    return tag(
        "div",
        join(tag("h3", "Related words"), tag("p", tag("bdi", related))) if related else None,
        join(tag("h3", "Other meanings"), tag("ul", *others, class_="others")) if others else None,
    )


def _make_timeline(report: Report, topic: ReportedTopic, position: int) -> Markup | None:
    if report.timeline is None or topic.timeline is None:
        return None
    column = report.timeline.column
    line = _make_line(topic.name, position, topic.timeline)
    chart = draw_lines([line], f"{topic.name} by {column}", height=220)
    caption = f"Mean share of the documents, by {column}; the band is a 95% interval.{_note_span(report)}"
    return tag("div", tag("h3", "Over time"), _make_figure(chart, caption), _make_data(topic.timeline, column))


def _make_groups(column: str, topic: GroupedTopic, position: int) -> Markup | None:
    shown = topic.groups[:_MAX_GROUPS]
    if not shown:
        return None
    chart = draw_groups(shown, position, f"{topic.hint} by {column}")
    more = f" The first {_MAX_GROUPS} of {len(topic.groups)}." if len(topic.groups) > _MAX_GROUPS else ""
    caption = f"Mean share of the documents of each {column}, with a 95% interval.{more}"
    return tag("div", tag("h3", f"By {column}"), _make_figure(chart, caption), _make_data(topic, column))


def _make_data(topic: GroupedTopic, column: str) -> Markup:
    """Return the numbers of a chart as a table that can be opened."""
    names = (column, "Documents", "Share", "95% interval", "About it")
    head = tag("tr", *(tag("th", name, scope="col", class_="number" if i else None) for i, name in enumerate(names)))
    rows = [_make_data_row(group) for group in topic.groups]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="data")
    return tag("details", tag("summary", "Numbers"), tag("div", table, class_="scroll"))


def _make_data_row(group: GroupShare) -> Markup:
    share = interval = about = "–"
    if group.share is not None and group.low is not None and group.high is not None:
        share, interval = format_share(group.share), f"{format_share(group.low)} to {format_share(group.high)}"
    if group.n_about is not None:
        about = f"{group.n_about:,.0f}"
    cells = [tag("td", each, class_="number") for each in (f"{group.n_documents:,}", share, interval, about)]
    return tag("tr", tag("th", tag("bdi", group.label), scope="row"), *cells)


def _make_documents(answer: Answer) -> Markup | None:
    if not answer.documents:
        return None
    words = [word.word for word in _list_words(answer)]
    items = [_make_document(document, words) for document in answer.documents]
    return tag("div", tag("h3", "Documents"), tag("ol", *items, class_="documents"))


def _make_document(document: TypicalDocument, words: Sequence[str]) -> Markup:
    label = document.title or document.name or f"Document {document.row}"
    linked = tag("bdi", label)
    if is_link(document.link):
        linked = tag("a", linked, href=document.link, rel="noopener noreferrer")
    day = None if document.date is None else document.date.removesuffix("T00:00:00")
    meta = [day, document.name if document.title else None, f"row {document.row}"]
    return tag(
        "li",
        tag("span", format_share(document.share), class_="share"),
        tag("span", linked, class_="title"),
        tag("span", " · ".join(each for each in meta if each), class_="meta"),
        None
        if document.snippet is None
        else tag("p", tag("bdi", highlight(document.snippet, words)), class_="snippet"),
    )


def highlight(snippet: str, words: Sequence[str]) -> Markup:
    """Return a snippet with the words of the topic marked."""
    parts, last = [], 0
    for start, end in find_words(snippet, words):
        parts += [make_text(snippet[last:start]), tag("mark", snippet[start:end])]
        last = end
    return join(*parts, snippet[last:])


def _list_words(answer: Answer) -> list[TopicWord]:
    """Return the words that are likelier in the topic than elsewhere."""
    return [word for word in answer.words if word.likelier > 1]


def _make_badge(answer: Answer) -> Markup:
    return tag("span", answer.verdict_code, class_=f"badge {_TONES.get(answer.verdict_code, 'bad')}")


def _explain_verdict(answer: Answer) -> str:
    if answer.confidence is None:
        sentence = f"The hint leads to this topic by a factor of {plain_number(answer.lead)}: {answer.verdict}."
    else:
        chance = plain_chance(answer.confidence)
        sentence = f"The chance that this topic is about what was asked is {chance}: {answer.verdict}."
    return f"{sentence} Look at the other meanings, or add a word." if answer.is_doubtful else sentence


def _list_notes(answer: Answer) -> Markup | None:
    notes = [tag("li", warning.message) for warning in answer.warnings]
    return tag("ul", *notes, class_="notes") if notes else None


def _list_facts(answer: Answer) -> Markup:
    facts = [("of all text", format_share(answer.weight))]
    if answer.n_about is not None:
        facts.append(("documents about it", _count_about(answer)))
    if answer.n_holding is not None:
        facts.append(("documents with the words of the hint", f"{answer.n_holding:,}"))
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts")


def _count_about(answer: Answer) -> str:
    if answer.n_about is None:
        return "–"
    return f"{answer.n_about:,.0f} ({answer.n_about_low:,.0f} to {answer.n_about_high:,.0f})"


def _list_failed(report: Report) -> Markup | None:
    if not report.failed:
        return None
    items = [tag("li", tag("b", outcome.query.name), f": {outcome.error}") for outcome in report.failed]
    return tag("div", tag("h3", "Hints without a topic"), tag("ul", *items, class_="notes"))


def _list_lines(report: Report) -> list[Line]:
    return [
        _make_line(topic.name, position, topic.timeline)
        for position, topic in enumerate(report.topics)
        if topic.timeline is not None
    ]


def _make_line(name: str, position: int, topic: GroupedTopic) -> Line:
    return Line(name, position, topic.groups[find_span(topic.groups)])


def _note_span(report: Report) -> str:
    """Return which periods are not drawn."""
    groups = () if report.timeline is None else report.timeline.topics[0].groups
    span = find_span(groups)
    n_left = sum(group.n_documents for group in (*groups[: span.start], *groups[span.stop :]))
    if not n_left:
        return ""
    first, last = groups[span.start].label, groups[span.stop - 1].label
    documents = f"{n_left:,} {pluralize(n_left, 'document')}"
    return f" {documents} before {first} or after {last} {pluralize(n_left, 'is', 'are')} not drawn."


def _make_figure(chart: Markup, caption: str) -> Markup:
    return tag("figure", chart, tag("figcaption", caption))


def _mark_color(position: int) -> Markup:
    return tag("i", class_=f"mark c{position % N_COLORS}", aria_hidden="true")


def _make_methods(report: Report) -> Markup:
    parts = [join(tag("h3", heading), tag("p", text)) for heading, text in list_methods(report)]
    made = tag("p", f"Made with mixsearch {__version__} on {report.created:%Y-%m-%d}.", class_="made")
    return tag("section", tag("h2", "How to read this report"), *parts, made, id="methods", class_="methods")
