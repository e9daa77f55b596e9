"""An index that is replaced between an answer and a click: no row of the old one opens a document of the new one."""

import random
import time

import pytest
from mixsearch.index import IndexOptions, build_index, open_index
from playwright.sync_api import expect

from mixsearch.web.indexes import watch_indexes
from tests.browser.acting import asked, search, see_topic
from tests.browser.corpus import SUBJECTS, make_documents, write_documents
from tests.every_word import every_word
from tests.serving import serve

pytestmark = pytest.mark.xdist_group("browser")
N_DOCUMENTS = 100


class Living:
    """A served index that can be replaced by one with the same documents in other rows."""

    def __init__(self, folder):
        self._folder = folder
        self.documents = make_documents(SUBJECTS, N_DOCUMENTS)
        self._build()
        self.server = None

    @property
    def path(self):
        return self._folder / "hobbies.index"

    def _build(self):
        file = write_documents(self._folder / "hobbies.jsonl", self.documents)
        build_index(
            file, self.path, IndexOptions(n_components=8, overwrite=True), every_word(text="text", id="name", min_df=2)
        )

    def replace(self):
        """Build the index again, and wait until the server has opened it."""
        before = self._generation
        random.Random(0).shuffle(self.documents)
        self._build()
        end = time.monotonic() + 60
        while self._generation == before:
            assert time.monotonic() < end, "the server did not notice"
            time.sleep(0.05)

    @property
    def _generation(self):
        return self.server.get("api/health")["states"]["hobbies"]["generation"]


@pytest.fixture
def living(tmp_path, monkeypatch):
    monkeypatch.setattr("mixsearch.web.app.watch_indexes", lambda indexes: watch_indexes(indexes, 0.05))
    made = Living(tmp_path)
    with serve({"hobbies": open_index(made.path)}) as made.server:
        yield made


@pytest.fixture
def answered(living, open_page):
    """A page with an answer, all of whose parts have come."""
    page = open_page(living.server.address)
    search(page, "anchor")
    expect(page.locator(".whisker").first).to_be_attached()
    return page


def see_new_answer(page, living, hint="anchor"):
    """Wait for the sentence, and for rows of the index as it is now."""
    expect(page.get_by_role("alert")).to_contain_text("The index has changed")
    see_topic(page, hint)
    names = [document["name"] for document in living.documents]
    shown = page.locator(".document").evaluate_all(
        "all => all.map((each) => [Number(each.dataset.row), each.querySelector('.document-name').textContent])"
    )
    assert shown
    assert all(names[row] == name for row, name in shown)


def test_a_document_of_an_older_answer_asks_the_question_again(answered, living):
    living.replace()
    answered.locator(".document-name").nth(2).click()
    see_new_answer(answered, living)
    expect(answered.get_by_role("dialog")).to_be_hidden()
    assert asked(answered) == {"q": "anchor"}
    name = answered.locator(".document-name").nth(2).inner_text()
    answered.locator(".document-name").nth(2).click()
    text = next(each["text"] for each in living.documents if each["name"] == name)
    expect(answered.locator(".whole")).to_have_text(text)


def test_a_mark_of_an_older_answer_marks_no_other_document(answered, living):
    living.replace()
    answered.locator(".document .mark.yes").nth(1).click()
    see_new_answer(answered, living)
    expect(answered.get_by_role("alert")).to_contain_text("marked documents were removed")
    assert asked(answered) == {"q": "anchor"}
    expect(answered.locator(".likes")).to_be_hidden()


def test_a_map_of_an_older_index_is_drawn_again(living, open_page):
    page = open_page(living.server.address)
    page.goto("overview?show=documents")
    canvas = page.locator(f'canvas[data-drawn="{N_DOCUMENTS}"]')
    canvas.focus()
    living.replace()
    with page.expect_response("**/overview?*"):
        point_at_a_document(page)
    expect(page.get_by_role("alert")).to_contain_text("The index has changed")
    expect(canvas).to_be_visible()


def point_at_a_document(page):
    """Move the pointer over the map until it is over a document."""
    box = page.locator("canvas").bounding_box()
    for step in range(200):
        x, y = box["width"] * (0.2 + 0.03 * (step % 20)), box["height"] * (0.1 + 0.08 * (step // 20))
        page.mouse.move(box["x"] + x, box["y"] + y)
        if page.locator("canvas").evaluate("canvas => canvas.style.cursor") == "pointer":
            return
    raise AssertionError("no document on the map")
