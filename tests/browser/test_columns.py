"""Columns of documents: titles, dates and links, filters, a topic over time and by group."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import asked, search, see_topic
from tests.dated_corpus import YEARS, draw_rows, open_made
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
ROWS = draw_rows()


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
    page.locator("#document-order").select_option("date, newest first")
    expect(page.locator(".document time").first).to_have_text(str(YEARS[-1]))
    assert asked(page) == {"q": "sushi", "sort_by": "date", "descending": "true"}


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
    box = page.locator("#where")
    box.press_sequentially("year <= 2016 and s")
    page.locator(".column-name").filter(has_text="shop").click()
    expect(box).to_have_value("year <= 2016 and shop ")
    box.press_sequentially("= 'Oslo'")
    box.press("Enter")
    n = sum(row["year"] <= 2016 and row["shop"] == "Oslo" for row in ROWS)
    expect(page.locator("#matching")).to_have_text(f"{n} documents")
    assert {(row["year"] <= 2016, row["shop"]) for row in rows_shown(page)} == {(True, "Oslo")}
    page.locator("#query").fill("sushi")
    see_topic(page, "sushi")
    assert asked(page) == {"q": "sushi", "where": "year <= 2016 and shop = 'Oslo'"}
    page.locator("#within").check()
    expect(page.locator("#topic")).to_contain_text("Share of matching documents")
    assert asked(page)["within"] == "true"
    page.get_by_role("button", name="remove", exact=True).click()
    expect(page.locator("#matching")).to_be_hidden()
    assert asked(page) == {"q": "sushi"}


def test_a_filter_that_cannot_be_used_says_why(page):
    search(page, "judge")
    filter_by(page, "year >> 2016")
    trouble = page.locator("#trouble")
    expect(trouble).to_contain_text("The filter cannot be read at character 7")
    expect(page.locator("#where")).to_have_attribute("aria-invalid", "true")
    trouble.get_by_role("button", name="Remove the filter").click()
    see_topic(page, "judge")
    expect(page.locator("#where")).to_have_value("")


def test_a_topic_is_shown_over_time_and_by_group(page, dated):
    search(page, "sushi")
    dots = page.locator(".over .dot")
    expect(dots).to_have_count(len(YEARS))
    heights = [float(dot.get_attribute("cy")) for dot in dots.all()]
    assert heights[0] - heights[-1] > 50  # food rises, and the axis points down
    expect(page.locator(".over polygon.band")).to_have_count(2)
    page.locator(".over select").select_option("date")
    expect(page.locator(".over svg[role=img]")).to_have_attribute("aria-label", re.compile("by date. "))
    with page.expect_download() as download:
        page.locator(".over").get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().startswith("hint,column,label")
    shops = page.locator(".by .group-row")
    groups = dated.get("api/indexes/dated/topic/groups", topic="q=sushi", by="shop")["topics"][0]["groups"]
    expect(shops).to_have_count(len(groups))
    shops.get_by_role("button", name="Rome").click()
    expect(page.locator("#where")).to_have_value("shop = 'Rome'")
    expect(page.locator("#matching")).to_have_text(f"{sum(row['shop'] == 'Rome' for row in ROWS)} documents")
    expect(shops).to_have_count(1)
