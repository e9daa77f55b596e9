import pytest

from mixsearch.display import Card, plain_number


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.12345, "0.123"),
        (12345.6, "12,346"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_written_for_people(number, text):
    assert plain_number(number) == text


CARD = Card("A <b>topic</b>", [("weight", "3%")], [("<script>", 2.0), ("beta", 1.0), ("gamma", -1.0)], "words")


def test_text_has_a_bar_in_proportion_to_each_value():
    lines = CARD.text().splitlines()
    bars = [line.count("█") for line in lines]
    assert bars[-3] == 2 * bars[-2] > 0
    assert bars[-1] == 0


def test_html_escapes_whatever_the_words_hold():
    page = CARD.html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;" in page
