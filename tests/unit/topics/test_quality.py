"""Planted topics are found well. Each test fails if a constant of quality is changed for the worse."""

import numpy as np
import pytest

from mixsearch import TopicSearch


def plant(
    n_documents, n_topics, words_per_topic, *, n_common=100, common_share=0.0, mean_length=40, alpha=0.01, seed=0
):
    """Return counts of documents, (n, d), and their topics, (k, d). Topics share only the first, common words."""
    rng = np.random.default_rng(seed)
    topics = np.zeros((n_topics, n_common + n_topics * words_per_topic))
    for i, topic in enumerate(topics):
        first = n_common + i * words_per_topic
        topic[first : first + words_per_topic] = rng.dirichlet(np.ones(words_per_topic))
    common = np.zeros(topics.shape[1])
    common[:n_common] = rng.dirichlet(np.ones(n_common))
    shares = rng.dirichlet(np.full(n_topics, alpha), size=n_documents)
    probabilities = (1 - common_share) * shares @ topics + common_share * common
    lengths = 3 + rng.poisson(mean_length, size=n_documents)
    counts = [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, probabilities, strict=True)]
    return np.array(counts), topics


@pytest.mark.filterwarnings("ignore")
def test_enough_components_separate_a_topic_from_those_next_to_it():
    """Half of them would mix it with others: under a quarter of its words would be its own."""
    counts, topics = plant(2000, 80, 6)
    search = TopicSearch(80).fit(counts)
    own = []
    for topic in topics[::5]:
        found = search.search(words=[int(topic.argmax())], n_components="enough", refine=False)
        own.append(found.probabilities[topic > 0].sum())
    assert np.mean(own) > 0.35


@pytest.mark.filterwarnings("ignore")
def test_a_refined_topic_leaves_common_words_to_the_corpus():
    """Seven of ten words of each document are common ones."""
    counts, topics = plant(800, 10, 20, common_share=0.7, alpha=0.1)
    search = TopicSearch(10).fit(counts)
    found = [search.search(words=[int(topic.argmax())]) for topic in topics]
    assert np.mean([topic.probabilities[:100].sum() for topic in found]) < 0.59


@pytest.mark.parametrize("refine", [False, True])
def test_long_documents_about_a_topic_come_before_short_ones(refine):
    counts, topics = plant(600, 8, 25, common_share=0.2, mean_length=100, alpha=0.1)
    rng = np.random.default_rng(1)
    short = np.array([rng.multinomial(4, topics[i % 8]) for i in range(200)])
    search = TopicSearch(8).fit(np.vstack([counts, short]))
    for topic in topics:
        documents = search.search(words=[int(topic.argmax())], refine=refine).documents(10)
        assert max(row for row, _ in documents) < len(counts)


@pytest.fixture(scope="module")
def companions():
    """Refined topics, each of which has three words of ten in its documents, next to one of three frequent topics."""
    rng = np.random.default_rng(0)
    topics = np.zeros((11, 220))
    for i, topic in enumerate(topics):
        topic[20 * i : 20 * (i + 1)] = rng.dirichlet(np.ones(20))
    counts = []
    for _ in range(900):
        topic, frequent = topics[rng.integers(8)], topics[8 + rng.integers(3)]
        mixed = frequent if rng.random() < 0.2 else 0.3 * topic + 0.7 * frequent
        counts.append(rng.multinomial(3 + rng.poisson(60), mixed))
    search = TopicSearch(11).fit(np.array(counts))
    return [(topic > 0, search.search(words=[int(topic.argmax())])) for topic in topics[:8]]


def test_a_refined_topic_leaves_the_words_of_other_topics_to_them(companions):
    assert np.mean([found.probabilities[own].sum() for own, found in companions]) > 0.56


def test_typical_words_are_those_of_the_topic_itself(companions):
    """Its documents are full of the words of other topics."""
    assert np.mean([own[[int(word) for word, _ in found.top_words(20)]].mean() for own, found in companions]) > 0.85


def test_rare_words_are_not_related_to_a_topic_by_chance():
    """Many words occur in two documents only, often both about the same topic."""
    counts, topics = plant(600, 8, 25, common_share=0.2, alpha=0.1)
    rng = np.random.default_rng(1)
    rare = np.zeros((600, 300), dtype=int)
    for column in rare.T:
        column[rng.choice(600, 2, replace=False)] = 1
    search = TopicSearch(8).fit(np.hstack([counts, rare]))
    for topic in topics:
        related = search.search(words=[int(topic.argmax())], refine=False).related_words(10)
        assert all(int(word) < counts.shape[1] for word, _ in related)


def test_habits_of_authors_are_not_counted_as_topics():
    """Each of 100 authors uses three words of their own, one word in twenty."""
    counts, _ = plant(600, 6, 25, common_share=0.3, mean_length=80, alpha=0.1)
    rng = np.random.default_rng(1)
    habits = np.zeros((600, 300), dtype=int)
    for document, row in enumerate(habits):
        author = document % 100
        row[3 * author : 3 * author + 3] = rng.poisson(4 / 3, size=3)
    assert 5 <= TopicSearch("auto").fit(np.hstack([counts, habits])).n_components_ <= 15
