"""A report: the page with its data inside, as one HTML file that opens offline."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np

from mixsearch import __version__
from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.topics.answers import Answer, Question, answer_questions, describe_topic
from mixsearch.topics.groups import group_values
from mixsearch.topics.overview import list_mapped, list_topics, place_in_plane
from mixsearch.topics.topic import Topic

if TYPE_CHECKING:
    from mixsearch.topics.index import TopicIndex

__all__ = ["Report", "make_report"]

STATIC_FILES = Path(__file__).parent / "web" / "static"
GROUPED_ROLES = ("date", "category", "number")
N_DOCUMENTS = 100  # of each topic, that the page can list
N_LABELLED, N_LABELS = 40, 20  # words to search for, and topics that are named on the map
COLUMNS, ROWS = 640, 320  # places on the map, about one for each pixel
MAX_CHIPS = 8


@dataclass(frozen=True)
class Report:
    """Topics of an index, as one page.

    Parameters
    ----------
    title : str
        The title of the page.
    html : str
        The page: it opens offline, and loads nothing.
    names : tuple of str
        The names of the topics.
    failed : tuple of Answer
        The questions without a topic, with their errors.
    """

    title: str
    html: str
    names: tuple[str, ...]
    failed: tuple[Answer, ...]

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
        return f"Report on {self.title}: {', '.join(self.names)}"

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.title, quote=True)}" sandbox="allow-scripts" '
            f'srcdoc="{escape(self.html, quote=True)}" '
            'style="width: 100%; height: 760px; border: 1px solid #8884; border-radius: 8px"></iframe>'
        )


def make_report(
    index: TopicIndex,
    questions: Sequence[Question],
    *,
    title: str | None = None,
    by: str | None = None,
    where: str | None = None,
) -> Report:
    """Search for topics, and put the page and all that it shows of them into one file.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    questions : sequence of Question
        What to search for, at most eight. A question without a topic leaves the others alone.
    title : str, optional
        The title; by default the name of the index.
    by : str, optional
        The column of the chart. By default the first one of dates, or of categories.
    where : str, optional
        A filter of the documents that are listed and counted.

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
    >>> report = make_report(open_index(built.path), [Question("sushi", "sushi"), Question("pizza", "pizza")])
    >>> report.names
    ('sushi', 'pizza')
    """
    asked = [Question(**(vars(question) | {"where": where})) for question in questions[:MAX_CHIPS]]
    answers = answer_questions(index, asked)
    topics = {write_query(answer.question): answer for answer in answers if answer.topic is not None}
    failed = tuple(answer for answer in answers if answer.error is not None)
    if not topics:
        raise failed[0].error or _make_error() if failed else _make_error()
    state = urlencode([*[("t", query) for query in topics], *([("by", by)] if by else [])])
    data = collect_data(index, {query: answer.topic for query, answer in topics.items() if answer.topic}, where)
    name = title or index.path.stem
    names = tuple(answer.question.name for answer in topics.values())
    return Report(name, make_page(name, {**data, "state": f"?{state}"}), names, failed)


def _make_error() -> SearchError:
    return SearchError("A report needs at least one hint, got none.", code="no_hints")


def write_query(question: Question) -> str:
    """Write a question as the page does in its address."""
    pairs: list[tuple[str, Any]] = [("q", question.words)] if question.words else []
    pairs += [("documents", row) for row in question.documents or ()]
    pairs += [("not_documents", row) for row in question.not_documents or ()]
    pairs += [("narrower", f"{question.narrower:g}")] if question.narrower else []
    pairs += [] if question.meaning is None else [("meaning", question.meaning)]
    return urlencode(pairs, safe="*").replace("~", "%7E")


def collect_data(index: TopicIndex, topics: Mapping[str, Topic], where: str | None) -> dict[str, Any]:
    """Collect all that the page shows of some topics, by their queries."""
    columns = [column for column in index.columns.described if column.role in GROUPED_ROLES]
    described = {
        query: describe_topic(index, topic, n_words=7, n_documents=N_DOCUMENTS) for query, topic in topics.items()
    }
    rows = {document["row"] for topic in described.values() for document in topic["documents"]}
    listed = index.corpus.find_rows(sorted(rows))
    groups = {}
    labels = {}
    for column in columns:
        over, by = (column.name, None) if column.role == "date" else (None, column.name)
        groups[column.name] = index.group(dict(topics), over=over, by=by, where=where).to_dict()
        values = group_values(index.columns.take(np.arange(index.n_documents), [column.name])[column.name], column.role)
        labels[column.name] = {
            int(index.corpus.rows[i]): values.labels[values.codes[i]] for i in listed if values.codes[i] >= 0
        }
    return {
        "info": describe_index(index, index.path.stem),
        "topics": described,
        "groups": groups,
        "places": labels,
        "map": b64encode(keep_map(index)).decode(),
        "memberships": {query: b64encode(encode_membership(topic)).decode() for query, topic in topics.items()},
    }


def make_page(title: str, data: Mapping[str, Any]) -> str:
    """Return the page with its data inside. Nothing but its own script and style is run, whatever the texts hold."""
    style, script = read_page()
    script = script.replace("</script", "<\\/script")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} · mixsearch</title>\n<style>{style}</style>\n</head>\n"
        f'<body>\n<div id="page"></div>\n<script type="application/json" id="shared-data">{written}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def read_page() -> tuple[str, str]:
    """Return the style and the script of the page, which are built together with a wheel."""
    try:
        style, script = ((STATIC_FILES / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    except FileNotFoundError as error:
        raise SearchError(
            "This installation has no page, since it was built without Node.js. Install a wheel, or run `make page` in "
            "the sources.",
            code="page_missing",
        ) from error
    return style, script


def describe_index(index: TopicIndex, name: str) -> dict[str, Any]:
    """Return what the page knows of an index."""
    columns = index.columns
    return {
        "name": name,
        "generation": index.generation,
        "n_documents": index.n_documents,
        "n_words": index.corpus.n_words,
        "has_names": index.has_names,
        "columns": [vars(column) for column in columns.stored],
        "over": columns.find("date"),
        "by": columns.find("category"),
    }


def keep_map(index: TopicIndex) -> bytes:
    """Return the encoded map, from the file beside the index that keeps it: placing the documents takes seconds."""
    file, tag = index.path.with_name(f"{index.path.name}.map"), f"{__version__} {index.generation}\n".encode()
    with suppress(OSError):
        stored = file.read_bytes()
        if stored.startswith(tag):
            return stored.removeprefix(tag)
    encoded = encode_map(index)
    with suppress(OSError), write_atomically(file) as temporary:
        temporary.write_bytes(tag + encoded)
    return encoded


def encode_map(index: TopicIndex) -> bytes:
    """Encode the documents in the plane, and words at the places of the largest topics.

    Their number as uint32, the steps between their rows as uint32, x and y as uint16; then the words as JSON.
    """
    documents, points = place_in_plane(index.corpus)
    rows = np.asarray(index.corpus.rows)[documents]
    x, y = np.minimum(points * (COLUMNS, ROWS), (COLUMNS - 1, ROWS - 1)).astype("<u2").T
    labels = []
    for listed in list_topics(index, N_LABELLED)[:N_LABELS]:
        weights = listed.topic.membership()[documents]
        members = points[weights >= min(0.5, float(weights.max(initial=0)))]
        if len(members):
            left, top = np.median(members, axis=0).tolist()
            labels.append({"word": listed.hints[0], "x": left, "y": top})
    arrays = (np.array(len(rows), "<u4"), np.diff(rows, prepend=0).astype("<u4"), x, y)
    return b"".join(array.tobytes() for array in arrays) + json.dumps(labels).encode()


def encode_membership(topic: Topic) -> bytes:
    """Encode as bits which documents of the map are members: those that belong to the topic rather than not."""
    weights: Array = topic.member_weights[list_mapped(len(topic.member_weights))]
    return np.packbits(weights >= 0.5, bitorder="little").tobytes()


def list_largest(index: TopicIndex, n: int) -> list[dict[str, Any]]:
    """List the largest topics, those first that are strong."""
    topics = sorted(list_topics(index, 4 * n), key=lambda topic: topic.match != "strong")[:n]
    total = index.n_documents
    return [
        {"hint": topic.hints[0], "words": topic.words, "n_members": topic.n_members, "share": topic.n_members / total}
        for topic in topics
    ]
