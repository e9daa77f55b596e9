"""The start page: what the corpus is about, one topic as an example, and no useless controls."""

import pytest
from playwright.sync_api import expect

from tests.browser.acting import search, see_topic
from tests.browser.corpus import SUBJECTS

pytestmark = pytest.mark.xdist_group("browser")


def test_the_start_shows_the_topics_of_the_corpus(page, serving):
    page.goto("./")
    entries = page.locator(".entry")
    expect(entries).to_have_count(12)
    words = entries.evaluate_all("all => all.map((each) => each.dataset.word)")
    assert words == serving.get("api/indexes/hobbies")["distinctive_words"]
    expect(page.locator(".entry-share").first).to_contain_text("%")
    subjects = {word: name for name, vocabulary in SUBJECTS.items() for word in vocabulary.split() if word != "mate"}
    known = {subjects[word] for word in words if word in subjects}
    assert len(known) == len(SUBJECTS)
    for entry, word in zip(entries.all(), words, strict=True):
        others = entry.locator(".entry-words").inner_text().split(", ")
        if word in subjects:
            assert subjects[word] in {subjects.get(other) for other in others}


def test_one_topic_is_answered_as_an_example(page, serving):
    page.goto("./")
    example = page.locator(".example-topic")
    expect(example).to_be_visible()
    word = example.locator("q").inner_text()
    answer = serving.get("api/indexes/hobbies/topic", q=word)
    shown = example.locator(".example-words li").all_inner_texts()
    first = sorted(answer["words"][: len(shown)], key=lambda each: -each["probability"])
    assert shown == [each["word"] for each in first]
    assert example.locator(".example-documents li").all_inner_texts() == [
        each["name"] for each in answer["documents"][:3]
    ]
    example.get_by_role("button", name=f"Open the topic of {word}").click()
    see_topic(page, word)


def test_a_phrase_to_begin_with_has_its_topic(page, serving):
    (index,) = [each for each in serving.get("api/indexes")["indexes"] if each["name"] == "hobbies"]
    phrase = {"word": "solar eclipse", "other": "moon"}
    changed = {**index, "starters": [phrase, *index["starters"][:3]]}
    (topic,) = serving.get("api/indexes/hobbies/overview", words="eclipse")["topics"]
    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(json={"topics": [{**topic, "words": ["solar eclipse"]}], "skipped": [], "n_documents": 403})

    page.route("**/api/indexes", lambda route: route.fulfill(json={"indexes": [changed]}))
    page.route("**/overview?*", answer)
    page.goto("./")
    entry = page.locator('.entry[data-word="solar eclipse"]')
    expect(entry.locator(".entry-share")).to_contain_text("%")
    assert "words=solar+eclipse&" in asked[0]


def test_no_word_of_a_title_is_part_of_another(page):
    page.goto("./")
    titled = """async (words) => {
        const { titleOf } = await import(new URL("static/shared/topic-title.js", document.baseURI));
        return titleOf(words);
    }"""
    words = ["translation", "machine translation", "machine", "mt", "translations"]
    assert page.evaluate(titled, words) == "machine translation, mt, translations"
    assert page.evaluate(titled, ["sushi", "rice", "fish", "roll"]) == "sushi, rice, fish"


def test_controls_appear_with_a_search(page):
    page.goto("./")
    expect(page.locator(".entry").first).to_be_visible()
    expect(page.locator("#narrower")).to_be_hidden()
    expect(page.locator("#where")).to_be_hidden()
    page.locator("#query").fill("oven")
    see_topic(page, "oven")
    expect(page.locator("#narrower")).to_be_visible()
    expect(page.locator("#where")).to_be_hidden()  # this index has no columns


def test_a_start_whose_topics_do_not_come_has_its_words(page):
    page.route(
        "**/overview?*", lambda route: route.fulfill(status=503, json={"error": {"code": "busy", "message": "Busy."}})
    )
    page.goto("./")
    page.locator(".entry").first.click()
    expect(page.locator("#topic")).to_be_visible()
    page.watch.faults.clear()  # the status was the test's own


def test_the_page_says_in_plain_words_what_it_found(page):
    search(page, "mate")
    expect(page.locator(".alternatives")).to_contain_text("How much of your search each topic explains")
    expect(page.locator(".alternative").first).to_contain_text("of your search")
    expect(page.locator("#narrower")).to_have_attribute("aria-valuetext", "Automatic")
