"""Topics: one score, one membership, and every number that follows from them."""

import pickle
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from mixsearch import LdaSearch
from mixsearch.datasets import make_reviews, make_topics
from mixsearch.errors import ArgumentError, AuditError, HintError, SearchError, UnknownWordError, WeakHintWarning
from mixsearch.topics.groups import group_topics, name_topics
from mixsearch.topics.membership import TopicCheck, estimate_membership
from mixsearch.topics.topic import format_about
from mixsearch.topics.topic_search import TopicSearch
from mixsearch.topics.words import choose_words

reviews = make_reviews(2_000, random_state=0)
search = TopicSearch(n_components=30).fit(reviews.text)
planted = make_topics(3_000, 300, 6, mean_length=40, random_state=0)
model = TopicSearch(n_components=20).fit(planted.counts, vocabulary=planted.vocabulary)


def planted_word(topic):
    return planted.vocabulary[planted.labelled_word(topic)]


def test_lists_membership_and_frames_have_one_order():
    topic = search.search("sushi")
    rows, listed = zip(*topic.documents(2_000), strict=True)
    assert sorted(rows) == list(range(2_000))
    assert np.all(np.diff(listed) <= 0)
    assert np.all(np.diff(topic.scores[list(rows)]) <= 0)
    assert np.array_equal(topic.membership()[list(rows)], listed)
    assert topic.n_members == pytest.approx(float(topic.membership().sum()), rel=1e-12)
    assert topic.weight == pytest.approx(topic.n_members / 2_000)


def test_all_views_are_sums_over_membership():
    columns = reviews.to_columns()
    frame = pl.DataFrame({"city": columns["city"], "date": columns["date"]})
    topics = name_topics([search.search("sushi"), search.search("pizza")])
    for over, by in ((None, "city"), ("date", None), ("date", "city")):
        groups = group_topics(topics, frame, over=over, by=by)
        for grouped, topic in zip(groups.topics, topics.values(), strict=True):
            assert sum(group.n_members for group in grouped.groups) == pytest.approx(topic.n_members, rel=1e-12)
            assert grouped.n_members == topic.n_members
            assert sum(group.n_containing for group in grouped.groups) == topic.n_containing
            assert sum(group.n_documents for group in grouped.groups) == 2_000
            assert all(group.share == group.n_members / group.n_documents for group in grouped.groups)
    in_rome = np.array(columns["city"]) == "Rome"
    topic = topics["sushi"].within(in_rome)
    by_city = group_topics({"sushi": topics["sushi"]}, frame, by="city").topics[0].groups
    assert topic.n_members == pytest.approx(next(g.n_members for g in by_city if g.label == "Rome"), rel=1e-12)
    filtered = group_topics({"sushi": topics["sushi"]}, frame, by="city", subset=in_rome)
    assert filtered.topics[0].n_members == pytest.approx(topic.n_members, rel=1e-12)
    assert all(in_rome[row] for row, _ in topic.documents(50))


def test_membership_of_counts_is_that_of_the_same_documents():
    topic = model.search(planted_word(1))
    assert np.allclose(topic.membership(planted.counts), topic.membership(), atol=1e-3)


def test_members_are_the_documents_of_the_planted_topic():
    for i in range(6):
        topic = model.search(planted_word(i))
        is_about = planted.shares[:, i] > 0.3
        listed = [row for row, _ in topic.documents(50)]
        assert is_about[listed].mean() > 0.9
        assert 0.5 < topic.n_members / is_about.sum() < 2
        best = np.argsort(-planted.topics[i])[:20]
        assert {word for word, _ in topic.top_words(5)} <= {planted.vocabulary[column] for column in best}


def test_the_component_is_that_of_the_third_moment_of_exact_documents():
    """Documents of one topic each, in which no two topics share a word: every component is a group of words."""
    rng = np.random.default_rng(0)
    blocks = [sp.csr_array(rng.poisson(1.0, (200, 30))) for _ in range(3)]
    counts = sp.csr_array(sp.block_diag(blocks, "csr"))
    component = TopicSearch(n_components=3).fit(counts).search(0).component
    assert component.probabilities[:30].sum() == pytest.approx(1, abs=0.01)
    assert component.probabilities.sum() == pytest.approx(1)
    assert component.weight == pytest.approx(1 / 3, rel=0.1)
    assert component.separation > 10


def test_function_words_are_weak_and_topical_words_strong():
    rng = np.random.default_rng(0)
    texts = [f"{text} {'indeed' if rng.random() < 0.4 else ''}" for text in reviews.text]
    noisy = TopicSearch(n_components=30).fit(texts)
    with pytest.warns(WeakHintWarning, match="little else in common"):
        weak = noisy.search("indeed")
    assert weak.check.match == "weak"
    assert 0.4 < weak.check.precedence < 0.6
    assert weak.n_members < 0.3 * 2_000
    assert noisy.search("sushi").check.match == "strong"
    most = TopicCheck(np.arange(1, 101), 900, 1_100)  # even if documents without a word of most are of another language
    assert most.precedence > 0.9
    assert most.match == "weak"


def test_a_word_to_avoid_leaves_documents_out():
    topic = search.search("sushi -tuna")
    without = {row for row, membership in topic.documents(2_000) if membership > 0}
    assert without
    assert not any("tuna" in reviews.text[row] for row in without)


def test_marked_documents_are_members_and_others_are_not():
    rows = np.flatnonzero(planted.shares[:, 0] > 0.8)[:5]
    others = np.flatnonzero(planted.shares[:, 1] > 0.8)[:3]
    topic = model.search(documents=rows, not_documents=others)
    membership = topic.membership()
    assert np.all(membership[rows] == 1)
    assert np.all(membership[others] == 0)
    assert planted.shares[[row for row, _ in topic.documents(50)], 0].mean() > 0.6
    few = model.search(documents=rows[:2])
    assert not few.is_probability
    assert few.n_members is None
    with pytest.raises(HintError) as error:
        model.search(documents=rows, not_documents=rows[:1])
    assert error.value.code == "contradicting_documents"


def test_phrases_stand_for_their_words_and_words_for_their_plurals():
    words = ["films", "film", "glass", "award", "film award", "parties", "party", "award-winning", "cve-1", "cve-2"]
    corpus, inside = SimpleNamespace(words=words), np.arange(10.0, 0, -1)
    assert choose_words(corpus, np.array([0, 1, 2, 5, 6]), inside, 5) == [0, 2, 5]
    assert choose_words(corpus, np.array([3, 2, 4]), inside, 3) == [4, 2]
    assert choose_words(corpus, np.array([3, 7, 8, 9]), inside, 4) == [3, 8, 9]  # names share their first letters


@pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")
def test_meanings_of_a_word_are_clusters_of_its_documents():
    rng = np.random.default_rng(0)
    texts = [
        f"{'jaguar' if rng.random() < 0.3 else ''} {' '.join(rng.choice(words, 8))}"
        for words in (["engine", "wheel", "car", "drive", "speed", "road"], ["cat", "jungle", "prey", "river", "paw"])
        for _ in range(500)
    ]
    texts += [" ".join(rng.choice(["sun", "rain", "wind", "snow", "storm"], 8)) for _ in range(4_000)]
    fitted = TopicSearch(n_components=5).fit(texts)
    topic = fitted.search("jaguar")
    cars, cats = sorted(topic.alternatives, key=lambda meaning: meaning.words[0] in ("car", "engine"), reverse=True)
    assert set(cars.words) < {"engine", "wheel", "car", "drive", "speed", "road"}
    assert set(cats.words) < {"cat", "jungle", "prey", "river", "paw"}
    i = topic.alternatives.index(cats)
    chosen = fitted.search("jaguar", meaning=i)
    assert all(500 <= row < 1_000 for row, _ in chosen.documents(100))
    with pytest.raises(HintError) as error:
        fitted.search("jaguar", meaning=7)
    assert error.value.code == "no_such_meaning"
    assert fitted.search("engine").alternatives == ()


def test_narrower_topics_follow_the_words_and_broader_ones_the_neighbourhood():
    narrow, plain, broad = (model.search(planted_word(0), narrower=step) for step in (2, 0, -2))
    spread = [topic.scores[~topic.contains].std() / topic.scores.std() for topic in (narrow, plain, broad)]
    assert len({round(value, 6) for value in spread}) == 3
    assert broad._scores.walk.weight == 4 * plain._scores.walk.weight == 16 * narrow._scores.walk.weight


def test_near_copies_do_not_fill_the_first_page():
    about_sushi = [text for text, share in zip(reviews.text, reviews.shares[:, 0], strict=True) if share == 1]
    texts = [next(text for text in about_sushi if "sushi" in text)] * 200 + list(reviews.text)
    texts = [f"{text} {i % 7}" for i, text in enumerate(texts)]
    topic = TopicSearch(n_components=30).fit(texts).search("sushi")
    rows = [row for row, _ in topic.documents(10)]
    assert sum(row < 200 for row in rows) <= 5


def test_an_audit_counts_the_members():
    topic = model.search(planted_word(2))
    is_about = planted.shares[:, 2] > 0.5
    result = topic.judge({row: bool(is_about[row]) for row in topic.audit(40).tolist()})
    assert result.n_members.low <= is_about.sum() <= result.n_members.high
    with pytest.raises(HintError):
        topic.judge({10_000: True})
    every_third = topic.within(np.arange(3_000) % 3 == 0)
    drawn = every_third.audit(40)
    assert np.all(drawn % 3 == 0)
    result = every_third.judge({row: bool(is_about[row]) for row in drawn.tolist()})
    assert result.n_rows == every_third.n_documents == 1_000
    assert result.n_listed == round(every_third.n_members)
    assert result.n_members.low <= is_about[::3].sum() <= result.n_members.high
    with pytest.raises(HintError, match="does not match the filter"):
        every_third.judge({1: True})
    row = int(drawn[0])
    with pytest.raises(AuditError, match=f"Row {row} is judged"):
        every_third.judge({row: not is_about[row]})


def test_groups_have_intervals_from_ten_judgements_on():
    frame, is_about = (
        pl.DataFrame({"city": reviews.to_columns()["city"]}),
        reviews.shares[:, reviews.subjects.index("sushi")] > 0.5,
    )
    topic = search.search("sushi")
    in_rome = frame["city"].to_numpy() == "Rome"
    for n in (9, 60):
        topic.judge({row: bool(is_about[row]) for row in topic.audit(n).tolist()})
        groups = group_topics({"sushi": topic}, frame, by="city").topics[0].groups
        assert all((group.low is None) == (n < 10) for group in groups)
    assert sum(group.n_judged for group in groups) == 69
    for group in groups:
        assert group.low <= is_about[frame["city"].to_numpy() == group.label].mean() <= group.high
        assert group.low <= group.estimate <= group.high
    filtered = group_topics({"sushi": topic}, frame, by="city", subset=in_rome).topics[0].groups
    assert [group.low is None for group in filtered] == [group.label != "Rome" for group in filtered]
    # Judgements of some documents say nothing about others.
    part = topic.within(in_rome)
    part.judge({row: bool(is_about[row]) for row in part.audit(20).tolist()})
    assert {group.low for group in group_topics({"sushi": part}, frame, by="city").topics[0].groups} == {None}


def test_odd_hints_are_errors_and_ties_have_one_membership():
    for documents in ([1.5], [float("nan")], np.arange(2_000) < 3, ["寿司"], [None], [""], []):
        with pytest.raises(HintError):
            search.search(documents=documents)
    for narrower in (4, float("nan"), "x"):
        with pytest.raises(ArgumentError):
            search.search("sushi", narrower=narrower)
    copies = TopicSearch().fit(np.vstack([np.eye(6), np.zeros((4, 6)), np.eye(6)]))
    with pytest.warns(WeakHintWarning):
        topic = copies.search(0)
    assert len(set(topic.membership()[6:10])) == 1
    with pytest.warns(WeakHintWarning, match="All documents contain '0'"):
        topic = TopicSearch().fit([[1, 1], [2, 1], [3, 0], [1, 2]]).search(0)
    assert topic.check.match is None
    with pytest.raises(SearchError):
        model.search(planted_word(0)).membership(np.ones((1, 3)))
    assert np.array_equal(pickle.loads(pickle.dumps(topic)).membership(), topic.membership())


def test_the_curve_of_membership_is_concave_and_sums_to_the_members():
    rng = np.random.default_rng(0)
    members, others = rng.normal(3, 1, 300), rng.normal(0, 1, 5_000)
    background = -np.sort(-np.concatenate([members, others]))
    left_out = np.sort(rng.normal(3, 1, 400))[::-1]
    check = TopicCheck(1 + np.searchsorted(-background, -left_out), len(background))
    levels, membership = estimate_membership(background, left_out, check)
    assert np.all(np.diff(membership) >= 0)
    estimate = np.interp(background, levels, membership)
    total = estimate.sum() + np.interp(left_out, levels, membership).sum()
    assert 0.7 < total / 700 < 1.4  # those that nobody pointed at, and those of the hint
    assert estimate[1_500:].mean() < 0.05


def test_checks_say_what_they_found():
    few = TopicCheck(np.array([1, 2, 9, 40, 812]), 2_310)
    assert str(few) == "4 of 5 documents come back among the first 40 when left out"
    many = TopicCheck(np.arange(1, 101) * 8, 10_000, 100)
    assert str(many) == (
        "76% of the documents with the hint's words rank, by their other words, among the first 610 of 10,000 others"
    )
    assert str(TopicCheck(np.empty(0), 10)) == "no check: it needs two documents"
    assert [format_about(n) for n in (0, 7.4, 83, 1_449, 98_765)] == ["0", "7", "83", "1,400", "99,000"]


@pytest.mark.parametrize(
    ("X", "code"),
    [
        ("one text", "one_string"),
        ([[1, -1], [2, 3]], "bad_counts"),
        ([[0, 0], [0, 1]], "too_few_documents"),
        ([[np.nan, 1], [2, 3]], None),
        ([[1e300, 1], [2, 3]], "bad_counts"),
    ],
)
def test_bad_counts_are_errors(X, code):
    with pytest.raises(SearchError) as error:
        TopicSearch().fit(X)
    assert code is None or error.value.code == code


def test_small_and_odd_corpora_are_searched():
    tiny = TopicSearch().fit([[1, 1, 0], [0, 1, 1]])
    with pytest.warns(WeakHintWarning, match="Only one document"):
        topic = tiny.search(0)
    assert topic.documents(2)[0][0] == 0
    assert len(repr(topic)) > 20
    sparse = TopicSearch().fit(["", None, "sushi and tuna", "tuna and rice", float("nan"), "sushi with rice"])
    with pytest.warns(WeakHintWarning):
        topic = sparse.search("sushi")
    assert {row for row, _ in topic.documents(2)} == {2, 5}
    assert len(topic.documents(10)) == 6
    with pytest.raises(UnknownWordError):
        sparse.search("ramen")
    with pytest.raises(HintError) as error:
        sparse.search()
    assert error.value.code == "one_hint_needed"


def test_the_preset_of_the_paper_is_its_model():
    paper = TopicSearch(6, preset="paper").fit(planted.counts, vocabulary=planted.vocabulary)
    component = LdaSearch(6, preset="paper").fit(planted.counts, vocabulary=planted.vocabulary)
    for i in (0, 3):
        topic, expected = paper.search(planted_word(i)), component.search(words=planted_word(i))
        assert np.allclose(topic.component.probabilities, expected.probabilities, atol=1e-6)
        assert np.allclose(topic.membership(planted.counts), topic.membership(), atol=1e-6)
        assert np.allclose(topic.scores, expected.membership(planted.counts), atol=1e-6)
        assert topic.top_words(1)[0][0] == planted.vocabulary[int(np.argmax(expected.probabilities))]
    assert planted.shares[[row for row, _ in paper.search(documents=[0, 1, 2]).documents(5)]].shape == (5, 6)


def test_a_topic_of_one_document_has_words_of_documents_like_it():
    row = next(i for i, text in enumerate(reviews.text) if "sushi" in text)
    topic = search.search(documents=[row])
    words = [word for word, _ in topic.top_words(5)]
    assert len(words) == 5
    assert all(0 < share <= 1 for _, share in topic.top_words(20))
