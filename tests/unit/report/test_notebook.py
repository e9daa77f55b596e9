from html.parser import HTMLParser

import pytest
from tests.served_corpus import SCRIPT, open_made

from mixsearch.errors import UnknownWordError


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("shown"))


class Frame(HTMLParser):
    """The attributes of the frame."""

    def handle_starttag(self, name, attributes):
        assert name == "iframe"
        self.attributes = dict(attributes)


def frame_of(shown):
    frame = Frame()
    frame.feed(shown._repr_html_())
    return frame.attributes


def test_a_notebook_gets_the_whole_report_in_a_frame_without_rights(index):
    shown = index.show("sushi", "court -goal", height=300)
    frame = frame_of(shown)
    assert frame["srcdoc"] == shown.html
    assert "sandbox" in frame
    assert "height: 300px" in frame["style"]
    assert [topic.name for topic in shown.report.topics] == ["sushi", "court -goal"]
    assert SCRIPT not in shown.html
    assert "sushi, court -goal" in repr(shown)


def test_without_hints_there_are_words_to_start_with(index):
    assert len(index.show().report.topics) >= 2


def test_options_are_those_of_a_report(index):
    shown = index.show("sushi", title="Food", n_words=3)
    assert shown.report.title == "Food"
    assert len(shown.report.topics[0].answer.words) == 3


def test_an_unknown_word_is_an_error(index):
    with pytest.raises(UnknownWordError, match="sushy"):
        index.show("sushy")
