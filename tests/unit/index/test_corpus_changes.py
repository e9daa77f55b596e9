"""What rose and fell agrees with what was planted."""

import numpy as np
import pytest
from tests.dated_corpus import open_made
from tests.served_corpus import LANGUAGE, SUBJECTS

from mixsearch.errors import SearchError
from mixsearch.index import find_changes

EARLY, LATE = "year <= 2018", "year >= 2021"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


@pytest.fixture(scope="module")
def changes(index):
    return find_changes(index, EARLY, LATE)


def test_planted_topics_and_their_words_rise_and_fall(index, changes):
    assert (changes.n_before, changes.n_after) == (index.match(EARLY).sum(), index.match(LATE).sum())
    assert [set(change.words[:3]) <= set(SUBJECTS["food"]) for change in changes.risen_topics] == [True]
    assert [set(change.words[:3]) <= set(SUBJECTS["law"]) for change in changes.fallen_topics] == [True]
    assert {change.item for change in changes.risen_words} == set(SUBJECTS["food"])
    assert {change.item for change in changes.fallen_words} == set(SUBJECTS["law"])
    for change in (*changes.risen_topics, *changes.risen_words):
        assert 0 < change.low <= change.difference <= change.high
        assert change.difference == pytest.approx(change.after - change.before)


def test_nothing_changes_for_sure_between_halves_of_one_year(index):
    found = find_changes(index, "year = 2019 and stars <= 3", "year = 2019 and stars >= 4")
    listed = [*found.risen_topics, *found.fallen_topics, *found.risen_words, *found.fallen_words]
    assert not listed
    assert found.n_words == len(index.vocabulary) == sum(map(len, SUBJECTS.values())) + len(LANGUAGE)
    assert found.to_csv().count("\n") == 1
    assert list(found.to_frame().columns)[:3] == ["kind", "direction", "item"]


def test_changes_turn_round_with_the_groups(index, changes):
    back = find_changes(index, LATE, EARLY)
    assert [each.item for each in back.fallen_words] == [each.item for each in changes.risen_words]
    assert [each.difference for each in back.fallen_topics] == pytest.approx(
        [-each.difference for each in changes.risen_topics]
    )


def test_given_topics_are_compared_under_their_names(index):
    found = find_changes(index, EARLY, LATE, topics={"meals": "sushi", "games": "goal"}, n_words=2)
    assert [change.item for change in found.risen_topics] == ["meals"]
    assert found.n_topics == 2
    assert len(found.risen_words) == len(found.fallen_words) == 2


def test_frames_have_a_row_for_each_change(changes):
    frame = changes.to_frame()
    assert set(frame["kind"]) == {"topic", "word"}
    assert np.all((frame["direction"] == "risen") == (frame["difference"] > 0))


def test_groups_that_overlap_are_one_sentence(index):
    with pytest.raises(SearchError, match="360 documents match both before and after") as caught:
        find_changes(index, "year <= 2018", "year <= 2020")
    assert caught.value.code == "groups_overlap"
