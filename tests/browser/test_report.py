"""A report in a real browser: offline, in light and dark, on paper and on a phone."""

import pytest
from mixsearch.index import IndexOptions, Query, build_index, open_index

from mixsearch.report import make_report, write_report
from mixsearch.text import CorpusOptions
from tests.unit.index.planted_reviews import ORDER, make_reviews

pytestmark = pytest.mark.xdist_group("browser")

HOSTILE = "<img src=x onerror=\"document.title='attacked'\"><script>document.title='attacked'</script>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    reviews = make_reviews(300)
    reviews["title"] = HOSTILE
    build_index(reviews, folder / "r.index", IndexOptions(n_components=3), CorpusOptions(text="text", id="key"))
    queries = [Query(word, words={word: 1.0}) for word in ORDER]
    write_report(make_report(open_index(folder / "r.index"), queries, title="Reviews"), folder / "report.html")
    return (folder / "report.html").as_uri()


@pytest.fixture
def open_report(chromium, report):
    contexts, faults = [], []

    def open_one(**options):
        context = chromium.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("request", lambda request: request.url == report or faults.append(request.url))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.goto(report)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert faults == []


def get_style(page, selector, name):
    return page.eval_on_selector(selector, "(node, name) => getComputedStyle(node)[name]", name)


def test_a_report_opens_offline_and_runs_nothing(open_report):
    page = open_report()
    assert page.title() == "Reviews"
    assert page.locator("section.topic").count() == 3
    assert page.locator("li .title").first.text_content() == HOSTILE
    page.locator("summary").first.click()
    assert page.locator("table.data").first.is_visible()
    for width in (360, 768, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_colours_follow_the_system_and_paper_is_white(open_report):
    light, dark = open_report(color_scheme="light"), open_report(color_scheme="dark")
    assert get_style(light, "body", "backgroundColor") != get_style(dark, "body", "backgroundColor")
    assert get_style(light, "svg .label", "fill") != get_style(dark, "svg .label", "fill")
    dark.emulate_media(media="print")
    assert get_style(dark, "body", "backgroundColor") == "rgb(255, 255, 255)"
    assert get_style(dark, "body", "color") == "rgb(0, 0, 0)"
