"""The part of a document that an answer shows."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mixsearch.index.description import find_words, make_snippet

FILLING = "nothing of interest here " * 20


def test_a_snippet_holds_the_part_where_most_words_are():
    text = f"rice {FILLING} Sushi with RICE and soy {FILLING} sushi"
    assert "Sushi with RICE and soy" in make_snippet(text, ["sushi", "rice", "soy"])


def test_a_part_of_a_longer_word_is_not_the_word():
    text = f"rices prices rice_cooker {FILLING} a bowl of rice {FILLING}"
    assert "a bowl of rice" in make_snippet(text, ["rice"])


@given(text=st.text("ab İß_-\n", min_size=150, max_size=400), words=st.lists(st.text("ab İß_-", max_size=3)))
def test_a_snippet_is_a_part_of_the_text(text, words):
    found = make_snippet(text, words)
    assert found.strip("…") in " ".join(text.split())
    assert len(found) <= 162


def test_words_of_scripts_without_spaces_and_hyphenated_phrases_are_found():
    assert "我们喜欢寿司和拉面" in make_snippet(f"{FILLING} 我们喜欢寿司和拉面 {FILLING}", ["寿司"])
    assert "zero-shot learning" in make_snippet(f"{FILLING} zero-shot learning {FILLING}", ["zero shot"])


def test_words_are_found_whole_once_and_the_longer_first():
    text = "New Yorkers in New York eat new-york pizza, İ said; 我们喜欢寿司"
    found = find_words(text, ["york", "new york", "new", "said", "寿司", ""])
    assert [text[start:end] for start, end in found] == ["New", "New York", "new-york", "said", "寿司"]


@given(text=st.text("ab -_", max_size=60), words=st.lists(st.text("ab ", min_size=1, max_size=4), max_size=4))
def test_words_stand_where_a_regular_expression_finds_them(text, words):
    sorted_words = sorted(words, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(word).replace(re.escape(' '), '[ -]')}(?!\w)" for word in sorted_words)
    expected = [found.span() for found in re.finditer(pattern or "(?!)", text)]
    assert find_words(text, words) == expected
