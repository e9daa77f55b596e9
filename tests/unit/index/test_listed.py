import json

import numpy as np
import pytest

from mixsearch.cli.console import spell
from mixsearch.index import IndexOptions, Query, build_index, open_index
from mixsearch.text import CorpusOptions

FOOD = ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate", "salt", "tea"]
SPORT = ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup", "race", "run"]
SELDOM = "wasabi"
READING = CorpusOptions(min_df=1, max_df=1.0, stop_words=[])


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Food and sport; one word of food is too rare to be among the first ten of its topic."""
    rng = np.random.default_rng(0)
    texts = [list(rng.choice(FOOD if i % 2 else SPORT, 20)) for i in range(200)]
    for i in range(1, 12, 2):
        texts[i].append(SELDOM)
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": " ".join(words)}) for words in texts))
    options = IndexOptions(n_components=2, search={"damping": False})
    return open_index(build_index(folder / "texts.jsonl", folder / "index", options, READING).path)


def find_notes(index, *words, code="word_not_listed", avoid=()):
    found = index.find(Query("asked", words=dict.fromkeys(words, 1.0) | dict.fromkeys(avoid, -0.1)))
    return [warning for warning in found.warnings if warning.code == code]


def test_a_word_that_the_topic_does_not_list_is_told_with_a_way_on(index):
    (note,) = find_notes(index, SELDOM)
    assert note.fields == {"words": "'wasabi'", "n_words": 10, "argument": "narrower=1"}
    assert spell(note.fields["argument"]) == "--narrower"


def test_a_topic_that_lists_one_of_the_words_needs_no_note(index):
    listed = index.search("rice").top_words(1)[0][0]
    for words in ([listed.title()], [SELDOM, listed], [f"{listed[:3]}*"], [f"{listed} {SELDOM}"]):
        assert find_notes(index, *words) == []


def test_a_word_to_avoid_that_the_topic_lists_is_noted(index):
    listed = [word for word, _ in index.search("rice").top_words(10)]
    one, other = [word for word in listed if word != "rice"][:2]
    (note,) = find_notes(index, "rice", avoid=[one], code="avoided_word_listed")
    assert note.fields == {"words": f"'{one}'", "n_words": 10}
    (note,) = find_notes(index, "rice", avoid=[one, f"{other[:3]}*", "goal"], code="avoided_word_listed")
    assert note.fields == {"words": f"'{one}', '{other[:3]}*'", "n_words": 10}
