import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from mixsearch.graph.affinity import connect_neighbors, select_mixture, weigh_by_component


def test_weights_of_neighbours_fall_with_the_distance_to_the_last_one():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    affinity = connect_neighbors(X, 2).toarray()
    assert_allclose(affinity, affinity.T)
    assert_allclose(affinity[0, 2], np.exp(-1))  # the last neighbour of both
    assert_allclose(affinity[0, 1], np.exp(-1 / 9))  # from the first row; from the second it is 1 of 2
    assert affinity[0, 3] == 0


def test_edges_between_components_count_less():
    X = np.array([[0.0], [1.0], [2.0]])
    edges = connect_neighbors(X, 2)
    resp = np.array([[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]])
    weighed = weigh_by_component(edges, resp, 0.1).toarray()
    assert_allclose(weighed, edges.toarray() * (0.1 + resp @ resp.T))


def test_mixture_has_the_components_of_the_rows():
    X, label = make_blobs(400, 4, centers=3, random_state=0)
    mixture = select_mixture(X)
    assert mixture.n_components == 3
    assert adjusted_rand_score(label, mixture.predict(X)) > 0.98
