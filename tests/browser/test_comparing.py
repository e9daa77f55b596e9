"""Topics side by side."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.acting import saved, search, see_topic
from tests.dated_corpus import YEARS, open_made
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
READ_BARS = """rows => rows.flatMap((row) => [...row.querySelectorAll("td")].map((cell) => [
    parseFloat(cell.querySelector("i")?.style.width ?? "0"), cell.innerText.trim()]))"""


def pin(page, query):
    search(page, query)
    page.locator("#pin").click()
    expect(page.locator("#pin")).to_have_text("Pinned")


@pytest.fixture
def compared(page):
    pin(page, "mate")
    pin(page, "harbour")
    page.get_by_role("navigation").get_by_role("link", name="Compare").click()
    expect(page.locator(".topic-head")).to_have_count(2)
    return page


def test_pinned_topics_are_one_table_of_words(compared, serving):
    answer = serving.get("api/indexes/hobbies/compare", topic=["q=mate", "q=harbour"])
    assert [head.get_attribute("data-hint") for head in compared.locator(".topic-head").all()] == ["mate", "harbour"]
    shown = compared.locator("#word-matrix tbody tr").evaluate_all("all => all.map((one) => one.dataset.word)")
    first = {each["word"] for topic in answer["topics"] for each in topic["words"][:10]}
    assert shown == [each["word"] for each in answer["words"] if each["word"] in first]
    share = f"{100 * answer['own_overlaps'][0][1]:.0f}%"
    expect(compared.locator("#nearest")).to_contain_text(f"mate and harbour share {share} of their own words")


def test_all_bars_have_one_scale(compared):
    bars = compared.locator("#word-matrix tbody tr").evaluate_all(READ_BARS)
    known = [(width, float(text.rstrip("%"))) for width, text in bars if text.endswith("%") and width > 5]
    assert max(width for width, _ in known) == pytest.approx(100, abs=0.1)
    ratios = [width / share for width, share in known]
    assert max(ratios) < 1.2 * min(ratios)
    rooms = compared.locator("#word-matrix .bar").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().width)"
    )
    assert max(rooms) < min(rooms) + 1


def test_words_that_topics_share_are_set_off(compared, serving):
    answer = serving.get("api/indexes/hobbies/compare", topic=["q=mate", "q=harbour"])
    one, other = ({each["word"] for each in topic["words"]} for topic in answer["topics"])
    shown = compared.locator(".is-shared").evaluate_all("all => all.map((one) => one.dataset.word)")
    assert shown
    assert set(shown) <= one & other


def test_a_topic_is_opened_or_removed_from_the_comparison(compared):
    compared.get_by_role("button", name="Remove mate").click()
    expect(compared.locator(".topic-head")).to_have_count(1)
    compared.get_by_role("link", name="Open harbour").click()
    see_topic(compared, "harbour")
    compared.go_back()
    expect(compared.locator(".topic-head")).to_have_count(1)
    compared.get_by_role("button", name="Remove harbour").click()
    expect(compared.locator(".welcome")).to_contain_text("Nothing pinned yet")


def test_a_comparison_is_a_link_and_a_file(compared, open_page, serving):
    topics = parse_qs(urlsplit(compared.url).query)["topic"]
    answer = serving.get("api/indexes/hobbies/compare", topic=topics)
    assert json.loads(saved(compared, "json")) == answer
    assert saved(compared, "csv") == serving.read("api/indexes/hobbies/compare.csv", topic=topics)
    assert saved(compared, "png").startswith(b"\x89PNG")
    assert b"<svg" in saved(compared, "svg")
    other = open_page()
    other.goto(compared.url)
    expect(other.locator(".topic-head")).to_have_count(2)


def test_a_word_without_a_topic_says_so_in_its_column(page):
    page.goto("compare?topic=q%3Doven&topic=q%3Dtelescopw")
    expect(page.locator(".topic-head")).to_have_count(2)
    expect(page.locator('.topic-head[data-hint="telescopw"]')).to_contain_text("is not among the 157 words")


def test_the_same_word_in_two_indexes(page):
    page.goto("compare?index=hobbies&topic=q%3Dgoal+oven")
    page.locator("#beside").select_option("tiny")
    expect(page.locator(".topic-head")).to_have_count(2)
    expect(page.locator(".topic-head").nth(1)).to_contain_text("in tiny")
    striker = page.locator('#word-matrix tr[data-word="striker"] td')
    expect(striker.first).to_have_text("not in it")
    expect(striker.nth(1)).to_contain_text("%")
    page.get_by_role("link", name="Open goal oven").nth(1).click()
    expect(page.locator("#index")).to_have_value("tiny")


def test_topics_over_time_have_one_axis(open_page, tmp_path):
    with serve({"dated": open_made(tmp_path)}) as dated:
        page = open_page(dated.address)
        page.goto("compare?topic=q%3Dsushi&topic=q%3Djudge")
        expect(page.locator(".band-chart .stroke")).to_have_count(2)
        food, law = page.locator(".band-chart g").evaluate_all(
            "all => all.map((one) => [...one.querySelectorAll('.dot')].map((dot) => Number(dot.getAttribute('cy'))))"
        )
        assert len(food) == len(law) == len(YEARS)
        # Food rises and law falls: the lines cross, and up is small.
        assert food[0] > law[0]
        assert food[-1] < law[-1]
        page.close()


def test_nothing_pinned_says_how_to_pin(page):
    page.goto("compare")
    expect(page.locator(".welcome")).to_contain_text("Pin to compare at the top of its card")
    page.get_by_role("link", name="Find a topic").click()
    expect(page.locator("#query")).to_be_visible()
