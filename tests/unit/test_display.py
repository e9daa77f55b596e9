import pytest

from mixsearch.display import Card, plain_number, pluralize


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.12345, "0.123"),
        (12345.6, "12,346"),
        (999.6, "1,000"),
        (float("inf"), "∞"),
        (float("-inf"), "-∞"),
        (float("nan"), "nan"),
        (0, "0"),
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


def test_a_card_without_bars_is_only_facts():
    card = Card("plain", [("weight", "1")])
    assert "table" in card.html()
    assert card.text().splitlines() == ["plain", "  weight  1"]


def test_one_thing_has_another_word_than_several():
    assert [pluralize(n, "row") for n in (0, 1, 2)] == ["rows", "row", "rows"]
    assert [pluralize(n, "it is", "they are") for n in (0, 1, 2)] == ["they are", "it is", "they are"]
