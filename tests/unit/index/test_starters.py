import json

import numpy as np
import pytest

from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.index.starters import find_main_phrases
from mixsearch.text import CorpusOptions

SUBJECTS = {
    "food": ["sushi", "ramen", "noodle", "soup", "tuna", "don", "she"],
    "sport": ["goal", "match", "team", "league", "coach", "3rd", "he"],
    "law": ["court", "judge", "crime", "trial", "lawyer", "ve", "our"],
    "music": ["song", "band", "album", "guitar", "melody", "didn", "your"],
}
NO_STARTERS = {"don", "she", "3rd", "he", "ve", "our", "didn", "your"}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Four subjects; function words and fragments belong to one each, as pronouns do in reviews."""
    rng = np.random.default_rng(0)
    names = list(SUBJECTS)
    texts = [" ".join(rng.choice(SUBJECTS[names[i % 4]], 20)) for i in range(240)]
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    reading = CorpusOptions(token_pattern=r"\w+", min_df=1, max_df=1.0, stop_words=[])
    return open_index(build_index(folder / "texts.jsonl", folder / "index", IndexOptions(n_components=4), reading).path)


def get_subject(word):
    return next(name for name, words in SUBJECTS.items() if word in words)


def test_there_is_one_word_to_begin_with_per_topic_and_another_of_the_same(index):
    starters = index.starters(4)
    assert {get_subject(each.word) for each in starters} == set(SUBJECTS)
    for each in starters:
        assert each.other != each.word
        assert get_subject(each.other) == get_subject(each.word)
        assert each.name == f"{each.word} {each.other}"
        assert each.n_documents == index.document_frequency(each.word)


def test_function_words_and_fragments_are_not_offered(index):
    assert set(index.vocabulary) >= NO_STARTERS
    offered = {word for each in index.starters(20) for word in (each.word, each.other)}
    assert not offered & NO_STARTERS


def test_a_word_that_is_mostly_part_of_one_phrase_is_offered_as_the_phrase():
    vocabulary = ["fine", "tuning", "fine tuning", "art", "fine art", "modern art"]
    document_frequencies = np.array([20, 12, 11, 30, 4, 12])
    assert find_main_phrases(vocabulary, document_frequencies) == {"fine": 2, "tuning": 2}
