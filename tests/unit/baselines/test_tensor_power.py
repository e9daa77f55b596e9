"""Tensor power methods on exact tensors, and the tensors of samples against brute force and against the search."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.populations import draw_mixture, mixtures, whitener

from mixsearch import GaussianSearch, RegressionSearch, SearchError, TopicSearch
from mixsearch.baselines import (
    Components,
    ThirdMoment,
    compute_third_moment,
    fast_tensor_power,
    robust_power_iterations,
    tensor_power,
)
from mixsearch.datasets import make_gaussian_mixture, make_hint, make_topics
from mixsearch.errors import ArgumentError, HintError


def exact(mixture, total=1.0):
    """The population's third moment, from its centers and weights; weights add up to `total`."""
    frame = mixture.frame
    points = mixture.centers @ whitener(frame)
    tensor = np.einsum("i,ia,ib,ic->abc", mixture.weights, points, points, points)
    return ThirdMoment(frame, tensor, mixture.mean @ whitener(frame), total)


def in_order_of(found, centers):
    """Return which of the found centers is nearest to each true one."""
    distances = np.linalg.norm(found.centers[:, None] - centers, axis=2)
    return np.argmin(distances, axis=0)


def orthogonal_tensor(values, seed):
    basis = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))[0]
    return np.einsum("i,ai,bi,ci->abc", values, basis, basis, basis), basis


@pytest.mark.parametrize("normaliser", ["value", "mean"])
@given(mixture=mixtures)
def test_exact_tensors_give_all_components_exactly(normaliser, mixture):
    found = tensor_power(exact(mixture), n_init=5, normaliser=normaliser)
    order = in_order_of(found, mixture.centers)
    assert sorted(order) == list(range(len(mixture.weights)))
    assert_allclose(found.centers[order], mixture.centers, atol=1e-8)
    assert_allclose(found.weights[order], mixture.weights, atol=1e-8)


@given(mixture=mixtures)
def test_the_fast_method_finds_the_hinted_component_of_exact_tensors(mixture):
    found = fast_tensor_power(exact(mixture), mixture.hint)
    assert_allclose(found.center, mixture.centers[0], atol=1e-8)
    assert_allclose(found.weight, mixture.weights[0], atol=1e-8)


def test_weights_of_topics_are_shares_of_the_corpus():
    mixture = draw_mixture(3, 4, 9)
    third = exact(mixture, total=0.25)
    assert_allclose(np.sort(tensor_power(third).weights), np.sort(4 * mixture.weights), atol=1e-8)
    assert_allclose(fast_tensor_power(third, mixture.hint).weight, 4 * mixture.weights[0], atol=1e-8)


def test_the_component_of_a_hint_is_the_one_that_scores_highest():
    mixture = draw_mixture(5, 6, 10)
    found = tensor_power(exact(mixture))
    assert_allclose(found.find_component(mixture.hint).center, mixture.centers[0], atol=1e-8)
    assert_allclose(found.find_component(mixture.hint).weight, mixture.weights[0], atol=1e-8)
    worst = mixture.centers[np.argmin(mixture.scores)]
    assert_allclose(found.find_component(-mixture.hint).center, worst, atol=1e-8)


def test_the_fast_method_goes_where_the_score_is_furthest_from_zero():
    """Power steps ignore the sign of the hint; a search does not."""
    mixture = draw_mixture(5, 6, 10)
    found = fast_tensor_power(exact(mixture), -mixture.hint)
    assert_allclose(found.center, mixture.centers[0], atol=1e-8)


def test_negative_eigenvalues_turn_their_vectors_round():
    tensor, basis = orthogonal_tensor(np.array([3.0, -2.0, 1.0]), seed=0)
    values, vectors = robust_power_iterations(tensor, 20, 30, np.random.default_rng(0))
    order = np.argsort(-values)
    assert_allclose(values[order], [3, 2, 1], atol=1e-10)
    assert_allclose(vectors[:, order], basis * [1, -1, 1], atol=1e-10)


def test_the_strongest_pairs_come_first_and_can_be_had_alone():
    tensor, basis = orthogonal_tensor(np.array([1.0, 4.0, 2.0, 3.0]), seed=1)
    values, vectors = robust_power_iterations(tensor, 50, 30, np.random.default_rng(1), n_components=2)
    assert_allclose(values, [4, 3], atol=1e-10)
    assert_allclose(vectors, basis[:, [1, 3]], atol=1e-10)


def test_errors_of_the_pairs_stay_in_proportion_to_the_noise_of_the_tensor():
    """Theorem 5.1: |λ - λ^| < 5 ε and |u - u^| < 8 ε / λ, with ε the norm of the noise."""
    values = np.linspace(1, 2, 6)
    tensor, basis = orthogonal_tensor(values, seed=2)
    raw = np.random.default_rng(2).normal(size=tensor.shape)
    noise = sum(raw.transpose(order) for order in permutations(range(3))) / 6
    epsilon = 0.02
    noise *= epsilon / np.linalg.norm(noise.reshape(6, -1), 2)  # no less than the tensor's own norm
    found, vectors = robust_power_iterations(tensor + noise, 60, 30, np.random.default_rng(2))
    order = np.argmax(vectors.T @ basis, axis=0)
    assert sorted(order) == list(range(6))
    assert np.all(np.abs(found[order] - values) < 5 * epsilon)
    assert np.all(np.linalg.norm(vectors[:, order] - basis, axis=0) < 8 * epsilon / values)
    assert np.abs(found[order] - values).max() > 1e-6


def test_many_starting_points_in_blocks_end_where_few_do(monkeypatch):
    tensor, _ = orthogonal_tensor(np.array([1.0, 2.0, 3.0]), seed=4)
    whole = robust_power_iterations(tensor, 40, 30, np.random.default_rng(0))
    monkeypatch.setattr("mixsearch.baselines._power_iterations.CHUNK_PRODUCTS", 7 * 9)
    in_blocks = robust_power_iterations(tensor, 40, 30, np.random.default_rng(0))
    assert_allclose(in_blocks.values, whole.values, atol=1e-10)
    assert_allclose(in_blocks.vectors, whole.vectors, atol=1e-10)


def test_a_tensor_with_nothing_left_has_no_components():
    third = exact(draw_mixture(0, 3, 5))
    empty = ThirdMoment(third.frame, np.zeros((3, 3, 3)), third.mean)
    found = tensor_power(empty)
    assert not found.weights.any()
    assert not found.centers.any()


@pytest.mark.parametrize("noise", ["default", "paper"])
def test_the_tensor_of_gaussians_contracted_with_a_hint_is_what_the_search_makes_of_it(noise):
    data = make_gaussian_mixture(300, 12, 4, deviation=1.0, random_state=0)
    search = GaussianSearch(4, preset=noise).fit(data.X)
    c = np.random.default_rng(0).normal(size=4)
    assert_allclose(compute_third_moment(search).tensor @ c, search._family.hinted(c).matrix, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("noise", ["default", "paper"])
def test_the_tensor_of_gaussians_is_that_of_the_samples_less_the_noise(noise):
    data = make_gaussian_mixture(40, 6, 3, deviation=1.0, random_state=1)
    model = (search := GaussianSearch(3, preset=noise).fit(data.X))._family
    if noise == "paper":  # seen from zero
        lifted, noise_part = data.X, np.eye(6)
        W = model.frame.basis / np.sqrt(model.frame.values)
    else:  # seen from the mean, with the constant 1 as one more feature that has no noise
        lifted = np.column_stack([np.ones(40), data.X - data.X.mean(axis=0)])
        noise_part = np.diag([0.0, *np.ones(6)])
        W = np.vstack([np.eye(3)[0], model.frame.basis / np.sqrt(model.frame.values)])
    leaning = (model.partitions.partition.energy @ lifted) / 40
    raw = np.einsum("ia,ib,ic->abc", lifted, lifted, lifted) / 40
    for places in ("ab,c->abc", "ac,b->abc", "bc,a->abc"):
        raw -= np.einsum(places, noise_part, leaning)
    expected = np.einsum("abc,ai,bj,ck->ijk", raw, W, W, W)
    assert_allclose(compute_third_moment(search).tensor, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("moments", ["distinct", "plugin"])
def test_the_tensor_of_topics_contracted_with_a_hint_is_what_the_search_makes_of_it(moments):
    data = make_topics(200, 30, 3, mean_length=20, random_state=0)
    search = TopicSearch(3, alpha0=0.6, moments=moments, damping=False).fit(data.counts)
    c = np.random.default_rng(0).normal(size=3)
    assert_allclose(compute_third_moment(search).tensor @ c, search._family.hinted(c).matrix, rtol=1e-9, atol=1e-9)


def triples_by_brute_force(text, n_words, distinct):
    """The average of e⊗e⊗e over three positions of a document: different ones, or any."""
    positions = range(len(text))
    chosen = list(permutations(positions, 3)) if distinct else list(np.ndindex(*[len(text)] * 3))
    total = np.zeros((n_words,) * 3)
    for places in chosen:
        total[tuple(text[place] for place in places)] += 1
    return total / len(chosen)


@pytest.mark.parametrize("distinct", [True, False], ids=["distinct words", "plug-in"])
@given(seed=st.integers(0, 999))
def test_the_tensor_of_topics_is_the_average_over_triples_of_positions(distinct, seed):
    rng, n_words, a0 = np.random.default_rng(seed), 5, 0.7
    texts = [rng.integers(0, n_words, size=rng.integers(3, 7)).tolist() for _ in range(12)]
    counts = np.array([np.bincount(text, minlength=n_words) for text in texts], dtype=float)
    moments = "distinct" if distinct else "plugin"
    search = TopicSearch(1, alpha0=a0, moments=moments, weights="uniform", damping=False).fit(sp.csr_array(counts))
    triples = np.mean([triples_by_brute_force(text, n_words, distinct) for text in texts], axis=0)
    pairs = triples.sum(axis=2)  # the third position is anywhere else
    m = a0 * pairs.sum(axis=1)
    raw = a0 * (a0 + 1) * (a0 + 2) / 2 * triples + np.einsum("a,b,c->abc", m, m, m)
    for places in ("ab,c->abc", "ac,b->abc", "bc,a->abc"):
        raw -= a0 * (a0 + 1) / 2 * np.einsum(places, pairs, m)
    W = search._family.whitening_rows(slice(None))
    expected = np.einsum("abc,ai,bj,ck->ijk", raw, W, W, W)
    assert_allclose(compute_third_moment(search).tensor, expected, rtol=1e-8, atol=1e-8 * np.abs(W).max() ** 3)


def test_sums_of_products_do_not_depend_on_the_blocks(monkeypatch):
    search = GaussianSearch(3).fit(make_gaussian_mixture(100, 8, 3, random_state=0).X)
    whole = compute_third_moment(search).tensor
    monkeypatch.setattr("mixsearch.core.tensor.CACHED_PRODUCTS", 7 * 9)
    assert_allclose(compute_third_moment(search).tensor, whole, atol=1e-10)


@pytest.mark.parametrize("noise", ["default", "paper"])
def test_gaussians_are_all_found_about_as_well_as_by_their_labels(noise):
    data = make_gaussian_mixture(4000, 40, 5, deviation=0.5, random_state=0)
    third = compute_third_moment(GaussianSearch(5, preset=noise).fit(data.X))
    found = tensor_power(third)
    means = np.array([data.X[data.labels == i].mean(axis=0) for i in range(5)])
    for i, center in enumerate(data.centers):
        oracle = np.linalg.norm(means[i] - center)
        v = make_hint(data.centers, i)
        assert np.linalg.norm(found.find_component(v).center - center) < 3 * oracle
        assert np.linalg.norm(fast_tensor_power(third, v).center - center) < 3 * oracle
    assert_allclose(found.weights.sum(), 1, atol=0.05)


def test_seen_from_the_mean_the_eigenvalue_and_the_mean_tell_the_same_weight():
    data = make_gaussian_mixture(200, 20, 4, deviation=2.0, random_state=0)
    v = make_hint(data.centers, 1)
    for noise, agree in (("default", True), ("paper", False)):
        third = compute_third_moment(GaussianSearch(4, preset=noise).fit(data.X))
        by_value, by_mean = (fast_tensor_power(third, v, normaliser=each).weight for each in ("value", "mean"))
        assert np.isclose(by_value, by_mean, rtol=1e-8) == agree


def test_topics_are_all_found_from_documents_of_the_model():
    data = make_topics(3000, 100, 4, mean_length=100, random_state=0)
    search = TopicSearch(4, alpha0=float(data.alpha.sum()), damping=False).fit(data.counts)
    third = compute_third_moment(search)
    found = tensor_power(third)
    for i, topic in enumerate(data.topics):
        v = np.eye(100)[data.labelled_word(i)]
        for each in (found.find_component(v), fast_tensor_power(third, v)):
            assert np.linalg.norm(each.center - topic) < 0.15 * np.linalg.norm(topic)
            assert_allclose(each.weight, data.alpha[i] / data.alpha.sum(), atol=0.05)


def test_the_same_random_state_gives_the_same_components():
    third = compute_third_moment(GaussianSearch(4).fit(make_gaussian_mixture(500, 20, 4, random_state=0).X))
    one, other = tensor_power(third, random_state=7), tensor_power(third, random_state=7)
    assert np.array_equal(one.centers, other.centers)


def test_a_model_without_a_third_moment_is_named():
    with pytest.raises(TypeError, match="GaussianSearch or TopicSearch, got RegressionSearch"):
        compute_third_moment(RegressionSearch())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_init": 0}, "n_init must be a positive integer, got 0"),
        ({"max_iter": 1.5}, "max_iter must be a positive integer, got 1.5"),
        ({"normaliser": "norm"}, "normaliser must be one of 'value', 'mean', got 'norm'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(SearchError, match=message):
        tensor_power(exact(draw_mixture(0, 2, 4)), **options)


def test_more_pairs_than_the_tensor_has_room_for_are_refused():
    with pytest.raises(SearchError, match=r"shape \(3, 3, 3\) has at most 3 components, but 4 were requested"):
        robust_power_iterations(np.zeros((3, 3, 3)), 1, 1, np.random.default_rng(0), n_components=4)


def test_hints_that_tell_nothing_are_refused():
    mixture = draw_mixture(0, 2, 4)
    third = exact(mixture)
    beside = np.linalg.svd(mixture.centers)[2][-1]
    with pytest.raises(HintError, match="orthogonal to every direction"):
        fast_tensor_power(third, beside)
    with pytest.raises(HintError, match="The hint is zero"):
        fast_tensor_power(third, np.zeros(4))
    with pytest.raises(HintError, match=r"shape \(3,\)"):
        Components(mixture.centers, mixture.weights).find_component(np.ones(3))


def test_the_identity_as_noise_term_is_what_the_authors_subtract_and_costs_accuracy():
    data = make_gaussian_mixture(6000, 100, 5, deviation=0.5, random_state=0)
    search = GaussianSearch(5, preset="paper").fit(data.X)
    family, third = search._family, compute_third_moment(search, noise_term="identity")
    raw = np.einsum("ia,ib,ic->abc", *[family.partitions.partition.projected] * 3) / len(data.X)
    m, eye = family.noise_mean, np.eye(5)
    noise = np.einsum("ab,c->abc", eye, m) + np.einsum("ac,b->abc", eye, m) + np.einsum("bc,a->abc", eye, m)
    assert_allclose(third.tensor, raw - noise, atol=1e-10)
    errors = [
        np.linalg.norm(found.centers[in_order_of(found, data.centers)] - data.centers)
        for found in map(tensor_power, (compute_third_moment(search), third))
    ]
    assert errors[1] > 1.2 * errors[0]


def test_a_noise_term_is_checked():
    topics = TopicSearch(2).fit(make_topics(200, 30, 2, random_state=0).counts)
    with pytest.raises(ArgumentError, match="noise_term='identity' needs a GaussianSearch"):
        compute_third_moment(topics, noise_term="identity")
    gaussians = GaussianSearch(2).fit(make_gaussian_mixture(200, 10, 2, random_state=0).X)
    with pytest.raises(ArgumentError, match="noise_term must be one of"):
        compute_third_moment(gaussians, noise_term="none")
