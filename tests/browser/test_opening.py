"""Files dropped onto the page: upload, inspection, indexing, search."""

import json

import pytest
from playwright.sync_api import expect

from mixsearch.web import Access, Limits
from tests.browser.acting import drop_file, see_topic
from tests.served_corpus import draw_texts
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture(scope="module")
def empty():
    with serve({}, Access(files=True), Limits(n_threads=2, timeout=120, decode_timeout=60)) as serving:
        yield serving


def reviews(n=240):
    return "\n".join(
        json.dumps({"review": text.encode(errors="replace").decode(), "stars": row % 5, "id": f"r{row}"})
        for row, text in enumerate(draw_texts(n))
    )


def test_a_file_is_dropped_indexed_and_searched(open_page, empty):
    page = open_page(empty.address)
    page.goto("./")
    expect(page.get_by_role("heading", name="No documents to search yet")).to_be_visible()
    page.get_by_role("link", name="here").click()
    drop_file(page, "reviews.jsonl", reviews())
    expect(page.get_by_role("heading", name="reviews.jsonl")).to_be_visible()
    expect(page.locator(".found-columns tbody th")).to_have_text(["review", "stars", "id"])
    expect(page.get_by_label("review holds text")).to_be_checked()
    expect(page.get_by_label("id holds text")).not_to_be_checked()
    page.get_by_role("button", name="Search its texts").click()
    expect(page.locator(".filter-line")).to_contain_text("reviews")
    page.locator("#query").fill("sushi")
    see_topic(page, "sushi")


def test_an_index_can_be_cancelled_while_it_is_built(open_page, empty):
    page = open_page(empty.address)
    page.goto("open")
    drop_file(page, "many.jsonl", reviews(6000))
    page.get_by_role("button", name="Search its texts").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="many.jsonl")).to_be_visible()
    assert "many" not in {each["name"] for each in empty.get("api/indexes")["indexes"]}


def test_a_file_that_cannot_be_opened_says_so(open_page, empty, library):
    page = open_page(empty.address)
    page.goto("open")
    drop_file(page, "broken.parquet", "PAR1 and nothing")
    expect(page.get_by_role("alert")).to_contain_text("broken.parquet")
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    drop_file(page, "notes.doc", "anything")
    expect(page.get_by_role("alert")).to_contain_text("'notes.doc' cannot be opened")
    with serve(library) as closed:
        page = open_page(closed.address)
        page.goto("open")
        expect(page.get_by_role("heading", name="No files here")).to_be_visible()
        expect(page.locator("#open-file")).to_have_count(0)
