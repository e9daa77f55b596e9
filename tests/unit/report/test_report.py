"""Reports contain the answers of the index, read back by an HTML parser and by openpyxl."""

import datetime
import re
from dataclasses import fields, replace
from itertools import pairwise

import openpyxl
import pandas as pd
import pytest
from tests.unit.index.planted_reviews import ORDER, make_reviews
from tests.unit.report.test_markup import read

from mixsearch.errors import SearchError
from mixsearch.index import GroupShare, IndexOptions, Query, build_index, group_topics, open_index
from mixsearch.report import make_report, write_report
from mixsearch.report._charts import Line, draw_groups, draw_lines, find_span
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


def test_the_timeline_shows_what_rose_and_what_fell(report):
    taxi, hotel = (next(topic for topic in report.topics if topic.name == name) for name in ("taxi", "hotel"))
    for topic, sign in ((taxi, -1), (hotel, 1)):
        shares = [group.share for group in topic.timeline.groups]
        assert sign * (shares[-1] - shares[0]) > 0.2


def test_columns_can_be_chosen_and_documents_filtered(index):
    query = [Query("taxi", words={"taxi": 1.0})]
    made = make_report(index, query, over=None, by=["stars"], where="stars <= 2")
    assert made.timeline is None
    assert [groups.column for groups in made.groups] == ["stars"]
    assert {document.columns["stars"] for document in made.topics[0].answer.documents} <= {1, 2}
    with pytest.raises(SearchError, match="There is no column 'shops'"):
        make_report(index, query, by=["shops"])
    with pytest.raises(SearchError, match="xyzzy"):
        make_report(index, [Query("xyzzy", words={"xyzzy": 1.0})])
    with pytest.raises(SearchError, match="at least one hint"):
        make_report(index, [])


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


def test_a_page_has_the_facts(report, page):
    text = read(page).text
    for topic in report.topics:
        assert topic.answer.verdict in text
        for word in topic.answer.words[:5]:
            assert word.word in text
        for document in topic.answer.documents:
            assert f"row {document.row}" in text
    assert f"xyzzy: {report.failed[0].error}" in text
    assert "How to read this report" in text
    assert "4 May 2026" in text


def test_every_chart_has_a_title_and_a_description(page):
    charts = re.findall(r"<svg.*?</svg>", page, re.S)
    # Words, timeline, two columns and a small line for each topic, and all timelines together.
    assert len(charts) == 3 * 5 + 1
    for chart in charts:
        assert re.search(r"<title>[^<]+</title><desc>[^<]+</desc>", chart)
        assert 'role="img"' in chart
        assert "NaN" not in chart


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


def test_sheets_of_groups_are_those_of_the_index(index, book):
    timeline = pd.read_excel(book, sheet_name="Timeline")
    expected = group_topics(index, list(ORDER), over="date")
    rows = expected.list_rows()
    assert timeline["topic"].tolist() == [row["hint"] for row in rows]
    assert timeline["documents"].tolist() == [row["n_documents"] for row in rows]
    assert timeline["share"].tolist() == pytest.approx([row["share"] for row in rows], nan_ok=True)
    assert timeline["first day"].dt.date.astype(str).tolist() == list(expected.starts) * 3


def test_other_formats_are_refused(report, tmp_path):
    with pytest.raises(SearchError, match="must end in .html, .htm, .xlsx") as caught:
        write_report(report, tmp_path / "report.pdf")
    assert caught.value.code == "unknown_format"


def test_an_index_without_columns_has_a_report_too(tmp_path):
    build_index(make_reviews()["text"], tmp_path / "r.index", IndexOptions(n_components=3))
    made = make_report(open_index(tmp_path / "r.index"), [Query("taxi", words={"taxi": 1.0})])
    assert made.timeline is None
    assert made.groups == ()
    for name in ("report.html", "report.xlsx"):
        write_report(made, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


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


def test_a_line_stays_within_its_chart():
    groups = make_groups(*[(100, share) for share in (0.0, 1.0, 0.5)])
    chart = draw_lines([Line(f"topic {i}", i, groups) for i in range(12)], "Shares", height=260)
    places = [
        tuple(map(float, pair.split(",")))
        for points in re.findall(r'points="([^"]+)"', chart)
        for pair in points.split()
    ]
    assert all(0 <= x <= 760 and 0 <= y <= 260 for x, y in places)
    heights = sorted(float(y) for y in re.findall(r'y="([\d.]+)" class="name', chart))
    assert all(later - earlier > 10 for earlier, later in pairwise(heights))


def test_an_interval_beyond_the_scale_ends_in_an_arrow():
    few = replace(make_groups((2, 0.1))[0], high=0.9)
    assert draw_groups([*make_groups((500, 0.1), (600, 0.2)), few], 0, "Shares").count("beyond") == 1
    assert "beyond" not in draw_groups(make_groups((500, 0.1), (600, 0.2)), 0, "Shares")
