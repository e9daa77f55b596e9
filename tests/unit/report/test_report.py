"""Reports contain the answers of the index, read back by an HTML parser and by openpyxl."""

import datetime
import re
from dataclasses import fields

import openpyxl
import pandas as pd
import pytest
from tests.coded import raises
from tests.unit.index.planted_reviews import ORDER, make_reviews
from tests.unit.report.test_markup import read

from mixsearch.index import IndexOptions, Query, build_index, open_index
from mixsearch.index.groups import GroupShare
from mixsearch.report import make_report, write_report
from mixsearch.report.charts import Line, draw_lines, find_span
from mixsearch.text import CorpusOptions

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'
FORMULA = '=HYPERLINK("http://evil.example")'
DAY = datetime.date(2026, 5, 4)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Build an index whose texts, titles and categories contain injection attacks."""
    reviews = make_reviews(300)
    reviews["title"] = [HOSTILE, FORMULA, "@SUM(1)", "Review"] * 75
    reviews["text"] = reviews["text"] + ' <svg onload="alert(3)"> '
    reviews["shop"] = ["<b>north</b>", "=1+1"] * 150
    path = tmp_path_factory.mktemp("report") / "r.index"
    build_index(reviews, path, IndexOptions(n_components=3), CorpusOptions(text="text", id="key"))
    return open_index(path)


@pytest.fixture(scope="module")
def report(index):
    queries = [Query(word, words={word: 1.0}) for word in (*ORDER, "xyzzy")]
    return make_report(index, queries, title=HOSTILE, created=DAY, n_documents=6)


@pytest.fixture(scope="module")
def page(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(report, path)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def book(report, tmp_path_factory):
    path = tmp_path_factory.mktemp("book") / "report.xlsx"
    write_report(report, path)
    return path


def test_columns_of_time_and_groups_are_found(report):
    assert report.timeline.column == "date"
    assert [groups.column for groups in report.groups] == ["shop", "is_new"]
    assert [topic.name for topic in report.topics] == list(ORDER)
    assert [outcome.query.name for outcome in report.failed] == ["xyzzy"]


def test_columns_can_be_chosen_and_documents_filtered(index):
    query = [Query("taxi", words={"taxi": 1.0})]
    made = make_report(index, query, over=None, by=["stars"], where="stars <= 2")
    assert made.timeline is None
    assert [groups.column for groups in made.groups] == ["stars"]
    assert {document.columns["stars"] for document in made.topics[0].answer.documents} <= {1, 2}
    with raises("unknown_column", column="shops"):
        make_report(index, query, by=["shops"])


def test_nothing_in_a_page_runs_or_is_loaded(page):
    reader = read(page)
    names = {name for name, _ in reader.tags}
    assert names.isdisjoint({"script", "img", "link", "iframe", "object", "form", "base"})
    attributes = [(key, value) for _, given in reader.tags for key, value in given.items()]
    assert not [key for key, _ in attributes if key.startswith("on")]
    links = [value for key, value in attributes if key in ("href", "src")]
    assert all(re.match(r"#|https://example\.org/\d+$", link) for link in links)
    assert any(link.startswith("https://") for link in links)
    assert "url(" not in page
    policy = next(given["content"] for _, given in reader.tags if "http-equiv" in given)
    assert policy.startswith("default-src 'none'")


def test_hostile_text_is_shown_as_it_is(page):
    assert HOSTILE in read(page).text
    assert HOSTILE not in page
    assert "<b>north</b>" not in page.replace("&lt;b&gt;north&lt;/b&gt;", "")


def test_sheets_are_typed_and_no_text_is_a_formula(report, book):
    opened = openpyxl.load_workbook(book)
    names = ["Summary", "Words", "Documents", "Timeline", "Groups", "Other meanings", "In common", "Methods"]
    assert opened.sheetnames == names
    cells = [cell for sheet in opened for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type in ("f", "e")]
    values = {cell.value for cell in cells}
    assert {HOSTILE, FORMULA, "=1+1"} <= values
    summary = pd.read_excel(book, sheet_name="Summary").set_index("topic")
    for topic in report.topics:
        assert summary.loc[topic.name, "share of all text"] == pytest.approx(topic.answer.weight)
        assert summary.loc[topic.name, "documents about it"] == pytest.approx(topic.answer.n_about)
        assert summary.loc[topic.name, "verdict"] == topic.answer.verdict_code
    assert summary.loc["xyzzy", "verdict"] == "not found"
    documents = pd.read_excel(book, sheet_name="Documents")
    assert documents["date"].dtype.kind == "M"
    assert documents.groupby("topic").size().tolist() == [6, 6, 6]


def make_groups(*counted):
    """Groups of some numbers of documents, with a share of each; None for none."""
    nothing = dict.fromkeys(each.name for each in fields(GroupShare))
    return [
        GroupShare(**{
            **nothing, "label": str(2000 + i), "n_documents": n, "share": share, "low": share,
            "high": None if share is None else min(share + 0.1, 1),
        })
        for i, (n, share) in enumerate(counted)
    ]  # fmt: skip


def test_gaps_split_a_line_and_ends_without_documents_are_not_drawn():
    groups = make_groups((1, 1.0), (100, 0.2), (0, None), (100, 0.3), (120, 0.1), (2, 0.9))
    assert find_span(groups) == slice(1, 5)
    chart = draw_lines([Line("a", 0, groups[1:5])], "Shares")
    assert chart.count("<polyline") == 2
    assert chart.count("<circle") == 3


def test_a_notebook_gets_the_whole_report_in_a_frame_without_rights(index):
    shown = index.show("sushi", "taxi -hotel", height=300, title="Things", n_words=3)
    ((name, frame),) = read(shown._repr_html_()).tags
    assert (name, frame["srcdoc"]) == ("iframe", shown.html)
    assert "sandbox" in frame
    assert "height: 300px" in frame["style"]
    assert [topic.name for topic in shown.report.topics] == ["sushi", "taxi -hotel"]
    assert len(shown.report.topics[0].answer.words) == 3
    assert HOSTILE not in shown.html
