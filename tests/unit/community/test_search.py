"""One community from a few of its members."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.coded import raises, warns

from mixsearch import CommunitySearch
from mixsearch.datasets import make_communities
from mixsearch.errors import DoubtfulExamplesWarning, HintIgnoredWarning, SearchError, UnlikelyMixtureWarning


@pytest.fixture(scope="module")
def planted():
    return make_communities(2000, 4, mean_degree=20, signal=4, weights=[0.1, 0.2, 0.3, 0.4], random_state=0)


@pytest.fixture(scope="module")
def search(planted):
    return CommunitySearch(4).fit(planted.adjacency)


def accuracy(found, planted, community):
    return np.mean((found.membership > 0.5) == (planted.labels == community))


@pytest.mark.parametrize("community", [0, 3])
def test_three_members_find_their_community(search, planted, community):
    found = search.search(examples=planted.known(community, 3))
    assert accuracy(found, planted, community) > 0.95
    assert found.confidence > 0.95
    assert not found.warnings
    truth = np.sum(planted.labels == community)
    # Four standard errors.
    assert abs(found.n_members - truth) < 4 * found.stderr.weight * 2000
    assert found.n_members == pytest.approx(2000 * found.weight)
    assert found.center.sum() == pytest.approx(1)
    assert found.inside > 1.5


def test_weights_of_nodes_are_a_hint_as_well(search, planted):
    noisy = np.random.default_rng(0).normal(size=2000) + (planted.labels == 1)
    assert accuracy(search.search(noisy), planted, 1) > 0.9


def test_moments_alone_come_close(search, planted):
    found = search.search(examples=planted.known(2, 3), refine=False)
    assert accuracy(found, planted, 2) > 0.9
    assert np.isfinite(found.stderr.center).all()
    refined = search.search(examples=planted.known(2, 3))
    np.testing.assert_allclose(refined.moment_estimate.center, found.center)
    assert len(refined.alternatives) == 3


def test_members_that_avoid_each_other_are_a_community_too():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=1500)
    chance = np.where(labels[:, None] == labels, 0.004, 0.02)
    upper = np.triu(rng.random((1500, 1500)) < chance, k=1)
    fitted = CommunitySearch(2).fit(sp.csr_array(upper + upper.T, dtype=float))
    with warns("avoiding_members"):
        found = fitted.search(examples=np.flatnonzero(labels == 0)[:3])
    assert [warning.code for warning in found.warnings] == ["avoiding_members"]
    assert 0.4 < found.confidence <= 0.5
    assert np.mean((found.membership > 0.5) == (labels == 0)) > 0.95
    assert found.inside < 0.7


def test_below_the_threshold_the_answer_is_that_nobody_can_tell():
    data = make_communities(1500, 3, mean_degree=10, signal=0.5, random_state=0)
    fitted = CommunitySearch(3).fit(data.adjacency)
    with warns("undetectable") as caught:
        found = fitted.search(examples=data.known(0, 3))
    assert [each.message.code for each in caught] == ["undetectable"]
    assert found.confidence == 0
    assert not found.is_detectable
    np.testing.assert_allclose(found.membership, 1 / 3)
    assert found.n_members_interval == (0, 1500)


@pytest.mark.parametrize("n_components", ["auto", 1])
def test_a_complete_graph_is_no_community_unless_it_is_asked_to_be_one(n_components):
    fitted = CommunitySearch(n_components).fit(np.ones((12, 12)) - np.eye(12))
    if n_components == 1:
        np.testing.assert_allclose(fitted.search(examples=[0]).membership, 1)
        return
    with warns("undetectable"):
        found = fitted.search(examples=[0, 1])
    assert (fitted.n_components_, found.confidence, found.n_members_interval) == (1, 0, (0, 12))
    np.testing.assert_allclose(found.membership, 0.5)


def test_members_of_two_communities_are_warned_about(search, planted):
    mixed = [*planted.known(1, 4), *planted.known(3, 4)]
    with pytest.warns(DoubtfulExamplesWarning):
        found = search.search(examples=mixed)
    assert found.confidence < 0.05


@pytest.mark.parametrize(("k", "code"), [(2, "too_few_components"), (8, "too_many_components")])
def test_another_number_than_the_links_show_is_warned_about(planted, k, code):
    with pytest.warns(UnlikelyMixtureWarning) as caught:
        CommunitySearch(k).fit(planted.adjacency)
    assert [each.message.code for each in caught] == [code]


def test_weights_in_other_units_give_the_same_answer(planted):
    rng = np.random.default_rng(1)
    upper = sp.triu(planted.adjacency, k=1)
    upper.data = rng.gamma(4.0, size=upper.nnz)
    weighted = sp.csr_array(upper + upper.T)
    one, other = (
        CommunitySearch(4).fit(scale * weighted).search(examples=planted.known(3, 3)) for scale in (1.0, 1000.0)
    )
    assert accuracy(one, planted, 3) > 0.9
    np.testing.assert_allclose(one.membership, other.membership, atol=1e-3)


def test_labels_find_the_community_at_once(planted):
    y = np.full(2000, -1)
    y[planted.known(2, 3)] = 1
    assert accuracy(CommunitySearch(4).fit(planted.adjacency, y).component_, planted, 2) > 0.95
    with pytest.warns(HintIgnoredWarning):
        unlabelled = CommunitySearch(4).fit(planted.adjacency, np.full(2000, -1))
    assert not hasattr(unlabelled, "component_")
    with raises("other_length", n_labels=3, n_nodes=2000):
        CommunitySearch(4).fit(planted.adjacency, [1, 1, -1])


def test_parts_without_links_between_them_are_communities():
    parts = [make_communities(150, 1, mean_degree=12, signal=0, random_state=seed).adjacency for seed in range(2)]
    found = CommunitySearch(2).fit(sp.block_diag(parts, format="csr")).search(examples=[0, 1, 2])
    assert np.all((found.membership > 0.5)[np.diff(sp.block_diag(parts, format="csr").indptr) > 0][:140])
    assert not np.any(found.membership[150:] > 0.5)


def test_nodes_without_links_are_no_hint():
    data = make_communities(600, 2, mean_degree=15, signal=4, random_state=0)
    lonely = sp.csr_array(sp.block_diag([data.adjacency, sp.csr_array((2, 2))], format="csr"))
    fitted = CommunitySearch(2).fit(lonely)
    with pytest.raises(SearchError) as caught:
        fitted.search(examples=[600, 601])
    assert caught.value.code == "examples_without_links"


def test_the_order_of_the_nodes_does_not_matter(planted):
    order = np.random.default_rng(0).permutation(2000)
    mixed = CommunitySearch(4).fit(planted.adjacency[order][:, order])
    found = mixed.search(examples=np.flatnonzero(np.isin(order, planted.known(1, 3))))
    original = CommunitySearch(4).fit(planted.adjacency).search(examples=planted.known(1, 3))
    np.testing.assert_allclose(found.membership, original.membership[order], atol=0.02)


@pytest.mark.slow
def test_intervals_hold_the_number_of_members():
    errors = []
    for seed in range(12):
        data = make_communities(1500, 3, mean_degree=15, signal=3, random_state=seed)
        search = CommunitySearch(3).fit(data.adjacency)
        for community in range(3):
            found = search.search(examples=data.known(community, 5))
            errors.append((found.weight - np.mean(data.labels == community)) / found.stderr.weight)
    # Of 36 standardised errors, which hang together by threes.
    assert 0.6 < np.std(errors) < 1.7
    assert np.mean(np.abs(errors) < 1.96) > 0.8
