"""A map of topics: what they share, where their circles are, and which words share a circle."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.index import IndexOptions, build_index, map_topics, open_index
from mixsearch.index.compare import compute_overlaps
from mixsearch.index.layout import GAP, HEIGHT, arrange_circles, scale_to_plane
from mixsearch.index.map import MAX_GROUPS, MAX_WORDS, find_groups

SUBJECTS = {
    "food": ["sushi", "rice", "ramen", "noodle", "soup", "fish", "tuna", "bowl", "chef", "plate"],
    "sport": ["goal", "match", "team", "ball", "league", "coach", "player", "score", "win", "cup"],
    "law": ["court", "judge", "law", "crime", "trial", "jury", "lawyer", "guilty", "appeal", "prison"],
}
LANGUAGE = ["the", "and", "day", "good", "time"]


def draw_texts(n=300, seed=0):
    """Documents on three subjects in turn; there are twice as many on food."""
    rng = np.random.default_rng(seed)
    turns = ["food", "sport", "food", "law"]
    texts = []
    for i in range(n):
        own, common = rng.choice(SUBJECTS[turns[i % 4]], 25), rng.choice(LANGUAGE, 25)
        texts.append(" ".join(np.where(rng.random(25) < 0.7, own, common)))
    return texts


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in draw_texts()))
    built = build_index(folder / "texts.jsonl", folder / "index", IndexOptions(n_components=3), every_word())
    return open_index(built.path)


def draw_topics(n, d, seed):
    return np.random.default_rng(seed).dirichlet(np.full(d, 0.2), n)


def gaps(circles):
    """Return the gap between each pair of circles."""
    return pdist(circles.centers) - (circles.radii[:, None] + circles.radii)[np.triu_indices(len(circles.radii), 1)]


def test_overlap_is_the_sum_of_the_smaller_probabilities():
    topics = draw_topics(6, 30, seed=0)
    by_hand = [[math.fsum(map(min, one, other)) for other in topics] for one in topics]
    assert_allclose(compute_overlaps(topics), by_hand, atol=1e-12)


def test_points_in_the_plane_are_found_again_from_their_distances():
    distances = pdist(np.random.default_rng(1).normal(size=(12, 2)))
    found = scale_to_plane(squareform(distances))
    assert_allclose(pdist(found), distances, atol=1e-10)
    assert_allclose(found.mean(axis=0), 0, atol=1e-10)


@pytest.mark.slow
@given(n=st.integers(2, 80), seed=st.integers(0, 1000), spread=st.sampled_from([0.0, 1.0, 4.0]))
def test_circles_are_apart_and_in_the_plane(n, seed, spread):
    rng = np.random.default_rng(seed)
    circles = arrange_circles(1 - compute_overlaps(draw_topics(n, 20, seed)), rng.lognormal(0, spread, n))
    assert gaps(circles).min() > -1e-5
    assert (circles.centers >= circles.radii[:, None]).all()
    assert (circles.centers <= [1, HEIGHT] - circles.radii[:, None]).all()


def test_areas_go_by_size():
    sizes = np.array([1.0, 2.0, 4.0, 4.0])
    circles = arrange_circles(1 - np.eye(4), sizes)
    assert_allclose(circles.radii**2 / circles.radii[0] ** 2, sizes)
    assert gaps(circles).min() > GAP / 2


def test_words_of_one_topic_share_an_entry(index):
    found = map_topics(index, ["sushi", "judge", "rice", "goal", "court", "tuna"])
    groups = {frozenset(topic.words) for topic in found.topics}
    assert groups == {frozenset({"sushi", "rice", "tuna"}), frozenset({"judge", "court"}), frozenset({"goal"})}
    assert set(found.topics[0].label) <= set(SUBJECTS["food"])
    assert found.topics[0].weight == pytest.approx(0.5, abs=0.1)
    assert found.n_documents == 300


def test_neighbours_are_those_with_most_in_common(index):
    words = ["sushi", "goal", "judge"]
    found = map_topics(index, words, refine=False)
    topics = {word: index.search(word, refine=False).probabilities for word in words}
    names = [topic.words[0] for topic in found.topics]
    shared = compute_overlaps([topics[name] for name in names])
    for place, topic in enumerate(found.topics):
        for near in topic.near:
            assert near.overlap == pytest.approx(shared[place, near.topic])
            assert near.topic != place
        assert len(topic.near) == np.count_nonzero(shared[place] >= 0.25) - 1


def test_words_are_chosen_by_what_they_tell_or_by_documents(index):
    distinctive = [word for topic in map_topics(index, n=9).topics for word in topic.words]
    assert [sum(word in words for word in distinctive) for words in SUBJECTS.values()] == [1, 1, 1]
    frequent = {word for topic in map_topics(index, n=5, by="frequent").topics for word in topic.words}
    assert frequent == set(LANGUAGE)


def test_a_word_that_is_not_there_is_skipped_with_suggestions(index):
    found = map_topics(index, ["sushi", "sushy", " sushi ", ""])
    (skipped,) = found.skipped
    assert (skipped.word, skipped.code) == ("sushy", "unknown_word")
    assert skipped.suggestions == ("sushi",)
    assert len(found.topics) == 1


def test_too_many_words_are_an_error(index):
    with raises("too_many_words"):
        map_topics(index, [f"w{i}" for i in range(MAX_WORDS + 1)])
    with raises("bad_argument"):
        map_topics(index, n=0)


def test_topics_with_much_in_common_are_one_group():
    families = np.repeat(np.arange(10), 3)
    overlaps = np.where(families[:, None] == families, 0.6, 0.05) + 0.4 * np.eye(30)
    groups = find_groups(overlaps)
    assert len(set(groups.tolist())) == MAX_GROUPS
    assert all(len(set(groups[families == family].tolist())) == 1 for family in range(10))
    assert groups[0] == 0
