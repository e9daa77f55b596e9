"""Planted communities come back, by the method that fits the links; and an answer that means nothing says so."""

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import average_precision_score
from sklearn.neighbors import kneighbors_graph
from tests.coded import raises, warns

from mixsearch import CommunitySearch
from mixsearch.community import count_communities, estimate_posterior, measure_closure
from mixsearch.datasets import make_communities
from mixsearch.graph.members import find_cut


@pytest.fixture(scope="module")
def planted():
    return make_communities(2000, 4, mean_degree=20, signal=4, weights=[0.1, 0.2, 0.3, 0.4], random_state=0)


@pytest.fixture(scope="module")
def search(planted):
    return CommunitySearch().fit(planted.adjacency)


@pytest.fixture(scope="module")
def points():
    """Nearest neighbours in four groups of points, which are no block model."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 60)
    near = kneighbors_graph(rng.normal(size=(240, 3)) + 3 * rng.normal(size=(4, 3))[labels], 8)
    return sp.csr_array(near.maximum(near.T)), labels


def accuracy(found, truth):
    return np.mean((found.membership > 0.5) == truth)


# ---- The block model -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("community", [0, 3])
def test_three_members_find_their_community(search, planted, community):
    truth = planted.labels == community
    found = search.search(examples=planted.known(community, 3))
    assert (found.method, search.n_components_, found.warnings) == ("block model", 4, ())
    assert "4 communities" in found.reason
    assert found.is_probability
    assert accuracy(found, truth) > 0.95
    assert abs(found.membership.sum() / truth.sum() - 1) < 0.1
    assert truth[found.members].mean() > 0.9
    assert len(found.check.ranks) == 3
    assert np.all(np.diff(found.membership[np.argsort(found.scores, kind="stable")]) >= 0)


def test_degrees_of_a_power_law_do_not_matter():
    data = make_communities(2000, 3, mean_degree=20, signal=4, degree_exponent=2.7, random_state=1)
    found = CommunitySearch().fit(data.adjacency).search(examples=data.known(1, 3))
    assert found.method == "block model"
    assert average_precision_score(data.labels == 1, found.scores) > 0.95


def test_moments_alone_find_the_communities(planted):
    """The start of the mean field: without the theorem's third moments it would be a guess."""
    posterior = estimate_posterior(planted.adjacency, 4)
    agreement = np.array(
        [[np.mean((posterior.argmax(axis=1) == a)[planted.labels == b]) for a in range(4)] for b in range(4)]
    )
    assert np.all(agreement.max(axis=1) > 0.75)
    assert len(set(agreement.argmax(axis=1))) == 4


def test_members_that_avoid_each_other_are_a_community_too():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=1500)
    chance = np.where(labels[:, None] == labels, 0.004, 0.02)
    upper = np.triu(rng.random((1500, 1500)) < chance, k=1)
    found = CommunitySearch(2).fit(sp.csr_array(upper + upper.T, dtype=float)).search(np.flatnonzero(labels == 0)[:3])
    assert accuracy(found, labels == 0) > 0.95


@pytest.mark.parametrize(("signal", "expected"), [(0.0, 1), (0.5, 1), (2.5, 5)])
def test_communities_count_beyond_the_detection_threshold(signal, expected):
    data = make_communities(3000, 5, mean_degree=15, signal=signal, random_state=0)
    assert count_communities(data.adjacency) == expected


def test_the_count_is_that_of_negative_eigenvalues_of_the_bethe_hessian():
    links = make_communities(300, 3, mean_degree=8, signal=2.5, random_state=1).adjacency
    adjacency = links.toarray()
    degrees = adjacency.sum(axis=1)
    r = np.sqrt(np.sum(degrees**2) / degrees.sum() - 1)
    bethe = [(r**2 - 1) * np.eye(300) - side * r * adjacency + np.diag(degrees) for side in (1, -1)]
    assert count_communities(links) == sum(np.count_nonzero(np.linalg.eigvalsh(each) < 0) for each in bethe)


def test_one_hub_hides_no_communities():
    data = make_communities(3000, 4, mean_degree=20, signal=4, degree_exponent=2.7, random_state=73)
    assert np.diff(data.adjacency.indptr).max() > 1000
    assert count_communities(data.adjacency) == 4


def test_weights_in_other_units_give_the_same_answer(planted):
    upper = sp.triu(planted.adjacency, k=1)
    upper.data = np.random.default_rng(1).gamma(4.0, size=upper.nnz)
    weighted = sp.csr_array(upper + upper.T)
    one, other = (CommunitySearch(4).fit(unit * weighted).search(planted.known(3, 3)) for unit in (1.0, 1000.0))
    assert accuracy(one, planted.labels == 3) > 0.9
    np.testing.assert_allclose(one.membership, other.membership, atol=1e-3)


def test_the_order_of_the_nodes_does_not_matter(search, planted):
    order = np.random.default_rng(0).permutation(2000)
    mixed = CommunitySearch().fit(planted.adjacency[order][:, order])
    found = mixed.search(examples=np.flatnonzero(np.isin(order, planted.known(1, 3))))
    np.testing.assert_allclose(found.membership, search.search(planted.known(1, 3)).membership[order], atol=0.05)


# ---- The choice of the method ----------------------------------------------------------------------------------------


def test_a_block_model_explains_the_links_of_nodes_with_a_common_neighbour(planted):
    linked, expected = measure_closure(planted.adjacency, np.eye(4)[planted.labels], 2000)
    # Each pair counts twice, and communities that are known exactly explain its links up to chance.
    assert abs(linked - expected) < 4 * np.sqrt(2 * expected)


@pytest.mark.parametrize("n_examples", [1, 2, 5])
def test_pagerank_finds_groups_of_near_points(points, n_examples):
    adjacency, labels = points
    search = CommunitySearch().fit(adjacency)
    for group in range(4):
        examples = np.flatnonzero(labels == group)[5 : 5 + n_examples]
        found = search.search(examples=examples)
        assert (found.method, found.is_probability) == ("pagerank", n_examples >= 3)
        assert "times as often" in found.reason
        others = np.setdiff1d(np.arange(240), examples)
        assert average_precision_score(labels[others] == group, found.scores[others]) > 0.8
        assert np.all(np.diff(found.membership[others][np.argsort(found.scores[others], kind="stable")]) >= 0)


def test_pagerank_is_used_where_nodes_with_a_common_neighbour_are_never_linked():
    """Rows and the values in their columns: a block model does not explain why no triangle is closed."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 60)
    values = sp.csr_array(
        rng.random((180, 45)) < np.where(labels[:, None] == np.arange(45) % 3, 0.3, 0.05), dtype=float
    )
    found = CommunitySearch().fit(sp.block_array([[None, values], [values.T, None]], format="csr")).search([0, 1, 2])
    assert found.method == "pagerank"
    assert average_precision_score(labels[3:] == 0, found.scores[3:180]) > 0.8


def test_the_cut_is_after_the_group(points):
    adjacency, labels = points
    for group in range(4):
        order = np.argsort(labels != group, kind="stable")
        assert find_cut(adjacency, order, np.array([10, 20, 50])) == 60


# ---- Examples and warnings -------------------------------------------------------------------------------------------


def test_examples_of_other_communities_are_taken_into_account(search, planted):
    found = search.search(examples=planted.known(1, 1), not_examples=planted.known(2, 2))
    assert accuracy(found, planted.labels == 1) > 0.95
    assert np.all(found.membership[planted.known(2, 2)] == 0)
    assert np.all(found.scores[planted.known(2, 2)] == 0)


def test_examples_of_two_communities_are_named(search, planted):
    mixed = [*planted.known(1, 4), *planted.known(3, 3)]
    with warns("examples_disagree") as caught:
        search.search(examples=mixed)
    assert caught[0].message.fields["n_disagreeing"] in (2, 3, 4)


def test_links_without_communities_are_told():
    data = make_communities(1500, 3, mean_degree=10, signal=0.5, random_state=0)
    search = CommunitySearch().fit(data.adjacency)
    assert (search.method_, search.n_components_) == ("pagerank", 1)
    assert "not show any communities" in search.search(examples=data.known(0, 3)).reason


def test_examples_without_links_are_refused():
    data = make_communities(600, 2, mean_degree=15, signal=4, random_state=0)
    search = CommunitySearch().fit(sp.block_diag([data.adjacency, sp.csr_array((2, 2))], format="csr"))
    with raises("examples_without_links"):
        search.search(examples=[600, 601])
    found = search.search(examples=[*data.known(0, 3), 600])
    assert accuracy(found, np.append(data.labels == 0, [True, False])) > 0.9


@pytest.mark.parametrize(
    ("examples", "not_examples", "code"),
    [([], None, "no_nodes_named"), ([1, 2], [2], "examples_contradict"), (["x"], None, "unknown_node")],
)
def test_wrong_examples_have_a_code(search, examples, not_examples, code):
    with raises(code):
        search.search(examples, not_examples)


@pytest.mark.parametrize("n_nodes", [2, 3, 12])
def test_tiny_graphs_have_an_answer(n_nodes):
    path, complete = networkx.path_graph(n_nodes), networkx.complete_graph(n_nodes)
    for graph in (path, complete):
        found = CommunitySearch().fit(graph).search(examples=0)
        assert np.isfinite(found.scores).all()
        assert 0 in found.members


def test_the_answer_as_a_frame_and_as_a_card(search, planted):
    found = search.search(examples=planted.known(0, 3))
    frame = found.to_frame()
    assert frame.columns == ["node", "score", "membership", "is_member"]
    assert frame["is_member"].sum() == len(found.members)
    assert found.reason in repr(found)


@pytest.mark.parametrize(
    ("n_components", "weight", "code"),
    [(31, 1, "too_few_samples"), (2, 1e160, "weights_not_positive"), (2, 1e-160, "weights_not_positive")],
)
def test_graphs_without_moments_are_refused(n_components, weight, code):
    with raises(code):
        CommunitySearch(n_components).fit(weight * (np.ones((30, 30)) - np.eye(30)))
