"""Searches for topics: refinement, hints of every kind, presets, limits, and saving to a folder."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from tests.closeness import assert_close

from mixsearch import SearchError, TopicSearch, WeakHintWarning
from mixsearch.datasets import make_topics
from mixsearch.errors import FolderExistsError, HintError, MissingFolderError, SkippedWordsWarning, UnknownWordError
from mixsearch.topics._em import LdaTopic
from mixsearch.topics._local_topic import LocalTopic

data = make_topics(1500, 80, 4, mean_length=60, random_state=3)
search = TopicSearch(4).fit(data.counts, vocabulary=data.vocabulary)
plain = TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts, vocabulary=data.vocabulary)
WORDS = [data.vocabulary[data.labelled_word(i)] for i in range(4)]
MEMBERS = np.argsort(-data.shares, axis=0)[:3].T.tolist()  # rows of documents, three of each topic


def with_columns(columns, n=400, seed=0):
    """Counts of two topics of 20 words each, with further columns."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 2
    counts = rng.multinomial(40, np.repeat(np.eye(2), 20, axis=1)[kinds] / 20)
    return sp.csr_array(np.hstack([counts, columns]))


def test_by_default_topics_are_refined_if_counts_are_damped():
    assert search.search(WORDS[1])._refined is not None
    assert plain.search(WORDS[1])._refined is None
    assert_close(search.search(WORDS[1], refine=True).center, search.search(WORDS[1]).center)
    assert_close(plain.search(WORDS[1], refine=False).center, plain.search(WORDS[1]).center)
    assert isinstance(search.search(WORDS[1])._refined, LocalTopic)
    assert isinstance(plain.search(WORDS[1], refine=True)._refined, LdaTopic)


def test_local_em_makes_at_most_three_iterations_and_none_lowers_its_objective():
    assert len(search.search(WORDS[1], refine=True, max_iter=50)._refined.objectives) == 3
    assert len(search.search(WORDS[1], refine=True, max_iter=1)._refined.objectives) == 1
    assert np.diff(search.search(WORDS[1])._refined.objectives).min() > 0


def test_errors_after_local_em_are_those_of_expected_counts_in_groups_of_documents():
    found = search.search(WORDS[1])
    state, model = found._refined.state, found._family
    counts = model.local.by_document[state.documents].toarray()[:, state.words].astype(float)
    chances = state.shares[:, :1] * state.topics[:, 0] / (state.shares @ state.topics.T)
    own = counts * chances
    blocks = np.arange(len(own)) % 40
    without = np.array([own[blocks != block].sum(axis=0) for block in range(40)])
    wanted = np.sqrt(39 * (without / without.sum(axis=1, keepdims=True)).var(axis=0))
    assert_allclose(found.stderr.center[state.words], np.maximum(wanted, 1 / own.sum()), rtol=1e-3)
    assert 0 < found.stderr.weight < 0.05


def test_error_bars_of_moments_are_in_the_units_of_the_answer():
    found = plain.search(WORDS[1])
    assert found.stderr.center.shape == found.center.shape
    assert 0.003 < found.stderr.weight < 0.05
    frequent = data.topics[1] > 0.002
    errors = (found.center - data.topics[1])[frequent] / found.stderr.center[frequent]
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(1, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("refine", [False, True])
def test_a_word_that_was_never_seen_is_known_to_one_word_at_best(refine):
    counts = sp.csr_array(np.hstack([data.counts.toarray(), np.zeros((1500, 1))]))
    found = TopicSearch(4, alpha0=0.8, damping=False).fit(counts).search(words=data.labelled_word(1), refine=refine)
    assert found.stderr.center[-1] == pytest.approx(1 / (found.weight * counts.sum()), rel=0.05)


@pytest.mark.parametrize("hint", [{"words": WORDS[1]}, {"words": WORDS[1], "project": True}, {"documents": MEMBERS[1]}])
def test_every_kind_of_hint_has_error_bars_and_a_confidence(hint):
    found = plain.search(**hint)
    assert np.isfinite(found.stderr.center).all()
    assert 0 <= found.confidence <= 1


@pytest.mark.parametrize(
    "hint", [{"words": WORDS[1]}, {"documents": MEMBERS[1]}, {"words": WORDS[1], "n_components": 3}]
)
def test_the_moment_estimate_is_the_search_without_refinement(hint):
    estimate, wanted = search.search(**hint).moment_estimate, search.search(**hint, refine=False)
    assert_close(estimate.center, wanted.center)
    assert_close(estimate.weight, wanted.weight)
    assert_close(estimate.documents(5), wanted.documents(5))
    assert_close(estimate.top_words(5), wanted.top_words(5))


def test_refinement_does_not_change_the_scores_of_the_hint():
    refined, rough = search.search(WORDS[1]), search.search(WORDS[1], refine=False)
    for name in ("separation", "share", "score"):
        assert_close(getattr(refined, name), getattr(rough, name))


def test_alternatives_are_as_moments_alone_find_them():
    found = search.search(WORDS[1])
    rough = search.search(WORDS[1], refine=False)
    assert len(found.alternatives) == 3
    for one, other in zip(found.alternatives, rough.alternatives, strict=True):
        assert one._refined is None
        assert_close(one.center, other.center)


def test_a_refined_topic_is_a_distribution_near_the_truth():
    found = plain.search(WORDS[2], refine=True)
    assert found.probabilities.min() >= 0
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert_close(found.center, found.probabilities)
    assert np.corrcoef(found.probabilities, data.topics[2])[0, 1] > 0.95


@pytest.mark.parametrize(
    "options", [{"moments": "plugin"}, {"weights": "uniform"}, {"metric": 0.0}, {"n_components": 2}]
)
def test_local_em_works_with_every_kind_of_fit(options):
    fitted = TopicSearch(**({"n_components": 4} | options)).fit(data.counts, vocabulary=data.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # two components for four topics
        found = fitted.search(WORDS[2])
    assert WORDS[2] in {word for word, _ in found.top_words(80)}
    assert np.corrcoef(found.probabilities, data.topics[2])[0, 1] > 0.8


def test_local_em_works_with_one_component_and_without_neighbours():
    counts = with_columns(np.ones((400, 1), dtype=int))
    found = TopicSearch(1).fit(counts).search(words=[3])
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-5)
    assert np.isfinite([share for _, share in found.documents(400)]).all()


def test_a_word_of_every_document_has_the_language_as_its_topic():
    counts = with_columns(np.full((400, 1), 5))
    found = TopicSearch(1).fit(counts).search(words=[40])
    assert np.isfinite(found.weight)
    assert found.top_words(1, by="probability")[0][0] == "40"
    assert len(found.documents(3)) == 3


def test_a_corpus_of_three_documents_can_be_searched():
    fitted = TopicSearch(1).fit(data.counts[:3])
    with pytest.warns(WeakHintWarning, match="Only . of 3 documents contain the words of the hint"):
        found = fitted.search(words=[int(data.counts[[0]].indices[0])])
    assert len(found.documents(10)) == 3


def test_typical_words_distinguish_topics_even_if_the_likeliest_are_those_of_the_language():
    counts = with_columns(np.full((400, 1), 30))
    found = TopicSearch(2).fit(counts).search(words=[3])
    assert found.top_words(1, by="probability")[0][0] == "40"
    assert {int(word) for word, _ in found.top_words(20)} == set(range(20))
    with pytest.raises(SearchError, match="by must be one of 'typical', 'probability', got 'beauty'"):
        found.top_words(by="beauty")


def test_words_come_with_their_probabilities_however_they_are_ranked():
    found = search.search(WORDS[1])
    for word, probability in [*found.top_words(9), *found.top_words(9, by="probability")]:
        assert probability == found.probabilities[data.vocabulary.index(word)]


def test_related_words_are_likelier_in_the_topic_by_the_factor_given():
    found = search.search(WORDS[1])
    related = found.related_words(8)
    assert 0 < len(related) <= 8
    for word, times in related:
        column = data.vocabulary.index(word)
        assert times == pytest.approx(found.probabilities[column] / found._family.word_mean[column])
        assert times > 1


def test_related_words_do_not_depend_on_the_order_of_the_columns():
    order = np.random.default_rng(0).permutation(80)
    names = [data.vocabulary[column] for column in order]
    shuffled = TopicSearch(4).fit(data.counts[:, order], vocabulary=names)
    one, other = (each.search(WORDS[1]).related_words(5) for each in (search, shuffled))
    assert [word for word, _ in one] == [word for word, _ in other]


def test_a_hint_in_few_documents_gives_a_warning():
    rare = np.zeros((400, 1), dtype=int)
    rare[:8:2] = 1
    fitted = TopicSearch(2).fit(with_columns(rare))
    with pytest.warns(WeakHintWarning, match="Only 4 of 400 documents contain the words of the hint: too few"):
        fitted.search(words=[40])


def test_a_phrase_begins_from_the_documents_that_hold_all_of_its_words():
    """Two words that each belong to one topic, and together to ten documents with a word of their own."""
    extra = np.zeros((400, 3), dtype=int)
    extra[::2, 0] = extra[1::2, 1] = 1
    extra[:10, :] = 2
    names = [f"w{i}" for i in range(40)] + ["new", "york", "broadway"]
    fitted = TopicSearch(2).fit(with_columns(extra), vocabulary=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # both topics hold half of it
        phrase, words = (fitted.search(hint).related_words(43) for hint in ("new york", ["new", "york"]))
    assert dict(phrase)["broadway"] > dict(words).get("broadway", 0)


def test_of_two_words_the_one_to_avoid_decides():
    for ours, theirs in ((0, 1), (1, 0)):
        found = search.search({WORDS[ours]: 1.0, WORDS[theirs]: -1.0}).probabilities
        assert np.corrcoef(found, data.topics[ours])[0, 1] > 0.8
        assert np.corrcoef(found, data.topics[theirs])[0, 1] < 0.3


def test_a_limit_above_the_number_of_holders_changes_nothing():
    n_holders = int(np.count_nonzero(data.counts[:, [data.labelled_word(1)]].toarray()))
    wanted = search.search(WORDS[1])
    for limit in (n_holders, 10**9):
        assert_close(search.search(WORDS[1], max_documents=limit).center, wanted.center)


def test_the_more_documents_stand_for_all_the_nearer_the_answer():
    whole = plain.search(WORDS[1]).center
    errors = [np.linalg.norm(plain.search(WORDS[1], max_documents=n).center - whole) for n in (30, 120, 480)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.05 * np.linalg.norm(whole)


def test_a_sample_of_documents_has_the_expectation_of_all():
    """The mean over the corpora that shuffling its documents gives is that of all documents."""
    v = np.zeros(80)
    v[data.labelled_word(1)] = 1.0
    whole = plain.search(v).moment_estimate
    found = []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(1500)
        shuffled = TopicSearch(4, alpha0=0.8, damping=False).fit(data.counts[order])
        found.append(shuffled.search(v, max_documents=100).center)
    spread = np.linalg.norm(np.std(found, axis=0))
    assert np.linalg.norm(np.mean(found, axis=0) - whole.center) < spread
    assert spread > 0


@pytest.mark.parametrize("limit", [0, -3, 1.5])
def test_a_limit_is_a_whole_number_from_one(limit):
    with pytest.raises(SearchError, match=f"max_documents must be a positive integer, got {limit}"):
        search.search(WORDS[1], max_documents=limit)


def test_narrower_searches_use_twice_the_components_and_broader_ones_half():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)  # two components for four topics
        used = [len(search.search(WORDS[1], n_components=2, narrower=narrower).scores) for narrower in (0, 1, 9, -9)]
        broad = search.search(WORDS[1], narrower=-1)
    assert used == [2, 4, 4, 2]
    assert len(broad.scores) == 2


def test_a_hint_that_no_document_holds_says_so():
    fitted = TopicSearch(2).fit(with_columns(np.zeros((400, 1), dtype=int)))
    with pytest.raises(HintError, match="No document matches the hint: none contains its words"):
        fitted.search(np.eye(41)[40])
    with pytest.raises(UnknownWordError, match="40 is in the vocabulary, but in no document"):
        fitted.search(words=[40])
    with pytest.raises(HintError, match="or their weights cancel"):
        search.search(words={WORDS[1]: 1.0, data.vocabulary.index(WORDS[1]): -1.0})


def test_documents_without_words_among_others_say_nothing():
    some = data.counts[MEMBERS[1]].astype(float)
    more = sp.csr_array(sp.vstack([some, sp.csr_array((3, 80))]))
    assert_allclose(search.search(documents=more).center, search.search(documents=some).center, atol=1e-12)


def test_an_absent_word_among_several_is_skipped_and_named_once():
    with pytest.warns(SkippedWordsWarning, match="Skipped: 'nonsense' is not among the 80 words") as caught:
        found = search.search([WORDS[1], "nonsense"])
    assert len(caught) == 1
    assert_close(found.center, search.search(WORDS[1]).center)


def test_answers_to_many_hints_keep_their_order():
    hints = [WORDS[1], {WORDS[2]: 2.0}, np.eye(80)[data.labelled_word(0)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        found = search.search_many(hints) + search.search_many(MEMBERS[:2], by="documents")
        alone = [search.search(hint) for hint in hints] + [search.search(documents=rows) for rows in MEMBERS[:2]]
        listed = search.search_many([WORDS[3], WORDS[0]], by="words", n_jobs=1)
    for one, other in zip(found, alone, strict=True):
        assert_close(one.center, other.center)
    assert_close([each.top_words(1) for each in listed], [search.search(WORDS[i]).top_words(1) for i in (3, 0)])


def test_counts_that_are_stored_as_zero_are_no_words():
    counts = data.counts.astype(float)
    column = int(np.setdiff1d(np.arange(80), counts[[1499]].indices)[0])
    stored = sp.csr_array(
        (np.append(counts.data, 0.0), np.append(counts.indices, column), [*counts.indptr[:-1], counts.nnz + 1]),
        shape=counts.shape,
    )
    stored.sort_indices()
    fitted = TopicSearch(4).fit(stored, vocabulary=data.vocabulary)
    assert fitted._family.local.by_word.nnz == counts.nnz
    assert_close(fitted.search(WORDS[1]).center, search.search(WORDS[1]).center)
    assert stored.nnz == counts.nnz + 1


@pytest.mark.parametrize("fitted", [search, plain], ids=["damped", "plain"])
def test_a_search_from_a_folder_answers_as_before(fitted, tmp_path):
    fitted.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert loaded._options == fitted._options
    for name in ("n_components", "preset", "random_state"):
        assert getattr(loaded, name) == getattr(fitted, name)
    assert loaded.vocabulary_ == fitted.vocabulary_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakHintWarning)
        for hint in ({"words": WORDS[1]}, {"documents": MEMBERS[1]}, {"words": WORDS[1], "n_components": 2}):
            one, other = fitted.search(**hint), loaded.search(**hint)
            assert_close(one.probabilities, other.probabilities)
            assert_close(one.documents(20), other.documents(20))
            assert_close(one.top_words(20), other.top_words(20))
            assert_close(one.membership(data.counts), other.membership(data.counts))
    assert_close(loaded.transform(data.counts), fitted.transform(data.counts))


def test_numbers_of_numpy_survive_the_folder(tmp_path):
    options = {"n_components": np.int64(4), "alpha0": np.float32(0.5), "damping": np.True_, "metric": np.float64(0.25)}
    fitted = TopicSearch(**options).fit(data.counts)
    fitted.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert {name: loaded.get_params()[name] for name in options} == options
    one, other = (each.search(words=[data.labelled_word(1)]) for each in (fitted, loaded))
    assert_close(one.center, other.center)


def test_short_documents_stay_left_out_in_the_folder(tmp_path):
    counts = sp.csr_array(sp.vstack([sp.csr_array(np.eye(80)[:7]), data.counts]))
    with pytest.warns(match="7 of 1,507 documents"):
        fitted = TopicSearch(4).fit(counts)
    fitted.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert loaded.n_dropped_ == 7
    assert loaded.vocabulary_ is None
    with pytest.raises(SearchError, match="Row 3 is not a document of this fit"):
        loaded.search(documents=[3])
    assert_close(loaded.search(documents=[7]).documents(3), fitted.search(documents=[7]).documents(3))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingFolderError, match="Folder '.*nowhere' does not exist"):
        TopicSearch.load(tmp_path / "nowhere")


def test_a_folder_is_replaced_only_where_it_is_asked_for(tmp_path):
    path = tmp_path / "topics"
    search.save(path)
    with pytest.raises(FolderExistsError, match="already holds a topic index.*set overwrite"):
        plain.save(path)
    assert TopicSearch.load(path).damping
    plain.save(path, overwrite=True)
    assert not TopicSearch.load(path).damping


def test_the_preset_of_the_paper_makes_its_choices():
    paper = TopicSearch(4, preset="paper", alpha0=0.8).fit(data.counts, vocabulary=data.vocabulary)
    options = {"moments": "plugin", "weights": "uniform", "metric": 0.0, "damping": False}
    spelt = TopicSearch(4, alpha0=0.8, **options).fit(data.counts, vocabulary=data.vocabulary)
    found, wanted = paper.search(WORDS[1]), spelt.search(WORDS[1], choose="largest", refine=False)
    assert found._refined is None
    assert_close(found.center, wanted.center)
    assert_close(found.weight, wanted.weight)


def test_single_choices_override_the_preset(tmp_path):
    fitted = TopicSearch(4, preset="paper", metric=0.5).fit(data.counts)
    assert fitted._options == (0.01, "plugin", "uniform", 0.5, False)
    fitted.save(tmp_path / "topics")
    loaded = TopicSearch.load(tmp_path / "topics")
    assert (loaded.preset, loaded._options) == ("paper", fitted._options)


def test_an_unknown_preset_is_refused():
    with pytest.raises(SearchError, match="preset must be one of 'default', 'paper', got 'magic'"):
        TopicSearch(4, preset="magic").fit(data.counts)
