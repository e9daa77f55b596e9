"""Columns of documents: titles, dates and links, filters, a topic over time and by group."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, search, see_topic
from tests.browser.looking import FIND_NAMELESS, FIND_WIDER, MEASURE_CONTRASTS
from tests.dated_corpus import YEARS, draw_rows, open_made
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
ROWS = draw_rows()
AA = 4.5


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    with serve({"dated": open_made(tmp_path_factory.mktemp("dated"))}) as started:
        yield started


@pytest.fixture
def page(open_page, dated):
    return open_page(dated.address)


def filter_by(page, where):
    page.locator("#where").fill(where)
    page.locator("#where").press("Enter")


def rows_shown(page):
    return [
        ROWS[int(row)] for row in page.locator(".document").evaluate_all("all => all.map((each) => each.dataset.row)")
    ]


def test_documents_have_their_titles_dates_and_links(page):
    search(page, "sushi")
    expect(page.locator(".document")).to_have_count(10)
    shown = rows_shown(page)
    assert page.locator(".document-name").all_inner_texts() == [row["title"] for row in shown]
    assert page.locator(".document time").all_inner_texts() == [str(row["year"]) for row in shown]
    links = page.locator(".document-link").evaluate_all("all => all.map((each) => each.getAttribute('href'))")
    assert links == [row["url"] for row in shown]
    page.locator(".document-name").first.click()
    reader = page.get_by_role("dialog")
    expect(reader.locator("#reader-title")).to_have_text(shown[0]["title"])
    expect(reader.locator(".document-columns")).to_contain_text(f"shop{shown[0]['shop']}")
    page.locator("#like").click()
    expect(page.locator(".like-chip")).to_contain_text(f"like {shown[0]['title']}")
    expect(page.locator("#topic .eyebrow")).to_have_text(f"Topic of {shown[0]['title']}")
    expect(page).to_have_title(f"{shown[0]['title']} · mixsearch")


def test_a_link_that_would_run_a_script_is_none(page):
    def poison(route):
        answer = route.fetch()
        found = answer.json()
        for document in found["documents"]:
            document["link"] = "javascript:window.pwned=1"
        route.fulfill(response=answer, json=found)

    page.route("**/topic?*", poison)
    search(page, "sushi")
    expect(page.locator(".document")).to_have_count(10)
    expect(page.locator(".document a")).to_have_count(0)


def test_a_filter_narrows_the_documents(page):
    search(page, "judge")
    steps = page.evaluate("history.length")
    filter_by(page, "year <= 2016 and shop = 'Oslo'")
    n = sum(row["year"] <= 2016 and row["shop"] == "Oslo" for row in ROWS)
    expect(page.locator("#matching")).to_have_text(f"{n} documents")
    assert {(row["year"] <= 2016, row["shop"]) for row in rows_shown(page)} == {(True, "Oslo")}
    assert asked(page) == {"q": "judge", "where": "year <= 2016 and shop = 'Oslo'"}
    assert page.evaluate("history.length") == steps + 1
    page.locator("#query").fill("sushi")
    see_topic(page, "sushi")
    expect(page.locator("#matching")).to_have_text(f"{n} documents")
    page.get_by_role("button", name="remove", exact=True).click()
    expect(page.locator("#matching")).to_be_hidden()
    assert asked(page) == {"q": "sushi"}


def test_a_search_within_finds_the_topic_in_the_documents_that_match(page, dated):
    filters = {"where": "shop = 'Oslo'"}
    search(page, "sushi", **filters)
    expect(page.locator("#share")).not_to_be_empty()
    whole = page.locator("#share").inner_text()
    page.locator("#within").check()
    expect(page.locator("#topic")).to_contain_text("Share of matching documents")
    inside = dated.get("api/indexes/dated/topic", q="sushi", within=True, **filters)
    assert page.locator("#share").inner_text() != whole
    assert float(page.locator("#share").inner_text().rstrip("% ")) == pytest.approx(100 * inside["weight"], abs=0.6)
    assert asked(page)["within"] == "true"


def test_a_filter_that_cannot_be_used_says_why(page):
    search(page, "judge")
    filter_by(page, "yeer > 2016")
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text("This filter cannot be used")
    expect(trouble).to_contain_text("Did you mean 'year'?")
    expect(page.locator("#where")).to_have_attribute("aria-invalid", "true")
    filter_by(page, "year >> 2016")
    expect(trouble).to_contain_text("The filter cannot be read at its character 7")
    trouble.get_by_role("button", name="Remove the filter").click()
    see_topic(page, "judge")
    expect(page.locator("#topic")).to_be_visible()
    expect(page.locator("#where")).to_have_value("")


def test_columns_are_suggested_while_a_filter_is_typed(page):
    search(page, "judge")
    box = page.locator("#where")
    box.focus()
    names = page.locator(".column-name")
    expect(names).to_have_count(6)
    box.press_sequentially("stars > 2 and s")
    expect(names).to_have_count(2)
    names.filter(has_text="shop").click()
    expect(box).to_have_value("stars > 2 and shop ")
    expect(box).to_be_focused()
    box.press_sequentially("= 'Rome'")
    box.press("Enter")
    n = sum((row["stars"] or 0) > 2 and row["shop"] == "Rome" for row in ROWS)
    expect(page.locator("#matching")).to_have_text(f"{n} documents")


def test_a_topic_is_shown_over_time(page):
    search(page, "sushi")
    dots = page.locator(".over .dot")
    expect(dots).to_have_count(len(YEARS))
    heights = [float(dot.get_attribute("cy")) for dot in dots.all()]
    assert heights[0] - heights[-1] > 50  # food rises, and the axis points down
    expect(page.locator(".over polygon.band")).to_have_count(2)
    expect(page.locator(".over svg[role=img]")).to_have_attribute("aria-label", re.compile("by year. 2015: "))
    page.locator(".over select").select_option("date")
    expect(page.locator(".over svg[role=img]")).to_have_attribute("aria-label", re.compile("by date. "))
    with page.expect_download() as download:
        page.locator(".over").get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().startswith("hint,column,label")


def test_a_share_above_the_scale_is_an_arrow_and_not_a_point_of_it(page):
    def raise_first(route):
        answer = route.fetch().json()
        answer["topics"][0]["groups"][0] |= {"share": 1.0, "low": 0.2, "high": 1.0, "n_documents": 1}
        route.fulfill(json=answer)

    page.route("**/topic/groups?*over=*", raise_first)
    search(page, "sushi")
    expect(page.locator(".over path.above")).to_have_count(1)
    expect(page.locator(".over path.above title")).to_contain_text("100%")
    expect(page.locator(".over circle.dot")).to_have_count(len(YEARS) - 1)


def test_a_group_is_a_filter_by_one_click(page, dated):
    search(page, "sushi")
    shops = page.locator(".by .group-row")
    expect(shops).to_have_count(2)
    answer = dated.get("api/indexes/dated/topic/groups", topic="q=sushi", by="shop")
    labels = [group["label"] for group in answer["topics"][0]["groups"]]
    assert shops.evaluate_all("all => all.map((each) => each.dataset.group)") == labels
    shops.get_by_role("button", name="Rome").click()
    expect(page.locator("#where")).to_have_value("shop = 'Rome'")
    expect(page.locator("#matching")).to_have_text(f"{sum(row['shop'] == 'Rome' for row in ROWS)} documents")
    expect(shops).to_have_count(1)


def test_columns_are_for_everyone(open_page, dated):
    for options in ({}, {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}):
        page = open_page(dated.address, **options)
        search(page, "sushi", where="stars > 1")
        expect(page.locator(".over .dot").first).to_be_attached()
        expect(page.locator(".by .group-row").first).to_be_attached()
        page.locator("#where").focus()
        width = page.viewport_size["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(FIND_WIDER, width + 1)
        assert page.evaluate(FIND_NAMELESS) == []
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            faint = [
                (text, contrast)
                for text, contrast, is_large, _ in page.evaluate(MEASURE_CONTRASTS)
                if contrast < AA - 0.01 and not is_large
            ]
            assert faint == [], theme


def test_documents_are_sorted_by_a_column(page):
    search(page, "sushi")
    page.locator("#document-order").select_option("date, newest first")
    expect(page.locator(".document time").first).to_have_text(str(YEARS[-1]))
    assert asked(page) == {"q": "sushi", "sort_by": "date", "descending": "true"}
    page.locator("#more").click()
    expect(page.locator(".document")).to_have_count(20)
    dates = [row["date"] for row in rows_shown(page)]
    assert dates == sorted(dates, reverse=True)
    page.locator("#document-order").select_option("stars, lowest first")
    expect(page.locator(".document")).to_have_count(10)
    assert [row["stars"] for row in rows_shown(page)] == [1] * 10
    page.locator("#document-order").select_option("most about it first")
    expect(page.locator("#document-order")).to_have_value("")
    assert asked(page) == {"q": "sushi"}
