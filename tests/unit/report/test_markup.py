from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from mixsearch.report.markup import is_link, tag

HOSTILE = "<script>alert(1)</script>\" onload='x' & \x00"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def read(markup):
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


def test_text_and_attributes_are_escaped():
    reader = read(tag("p", HOSTILE, title=HOSTILE))
    assert reader.tags == [("p", {"title": HOSTILE.replace("\x00", "\ufffd")})]
    assert reader.text == HOSTILE.replace("\x00", "\ufffd")


@given(st.text(), st.text())
def test_no_text_leaves_its_element(text, attribute):
    reader = read(tag("p", text, title=attribute))
    assert [name for name, _ in reader.tags] == ["p"]
    assert list(reader.tags[0][1]) == ["title"]


def test_only_pages_of_the_web_are_links():
    assert is_link("https://example.org/a?b=1#c")
    assert is_link("HTTP://example.org")
    for address in (None, "", "javascript:alert(1)", "data:text/html,x", " https://x", "java\nscript:x"):
        assert not is_link(address)
