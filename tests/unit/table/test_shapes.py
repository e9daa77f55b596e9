import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from mixsearch.table.shapes import CHUNK_ROWS, MIN_PRIOR, MIN_VARIANCE, SHAPES, m_step

WEIGHTS = np.array([0.5, 0.3, 0.2])


def draw(shape, *, n=900, d=4, seed=0):
    """Three overlapping Gaussians with covariances of one shape, and their responsibilities from a rough start."""
    rng = np.random.default_rng(seed)
    factors = {
        "spherical": [s * np.eye(d) for s in (1.0, 0.5, 2.0)],
        "diagonal": [np.diag(rng.uniform(0.3, 2.0, d)) for _ in range(3)],
        "tied": [rng.normal(size=(d, d))] * 3,
        "low-rank": [np.diag([4.0, *[0.5] * (d - 1)]) @ np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(3)],
        "full": [rng.normal(size=(d, d)) for _ in range(3)],
    }[shape]
    centers = 3 * rng.normal(size=(3, d))
    labels = rng.choice(3, size=n, p=WEIGHTS)
    noise = rng.normal(size=(n, d))
    X = np.stack([centers[i] + z @ factors[i] for i, z in zip(labels, noise, strict=True)])
    resp = np.full((n, 3), 0.1)
    resp[np.arange(n), labels] = 0.8
    return X, resp


def weighted_moments(X, resp):
    """Sizes, means and covariances, one sample at a time."""
    sizes, centers, covariances = [], [], []
    for weights in resp.T:
        size = sum(weights)
        center = sum(w * x for w, x in zip(weights, X, strict=True)) / size
        covariance = sum(w * np.outer(x - center, x - center) for w, x in zip(weights, X, strict=True)) / size
        sizes.append(size)
        centers.append(center)
        covariances.append(covariance)
    return np.array(sizes), np.array(centers), np.array(covariances)


def shrink(sizes, moments, average, prior):
    return np.stack([(n * each + prior * average) / (n + prior) for n, each in zip(sizes, moments, strict=True)])


@pytest.mark.parametrize("shape", SHAPES)
def test_log_densities_and_posterior_are_those_of_normal_distributions(shape):
    X, resp = draw(shape)
    mixture = m_step(X, resp, shape)
    expected = np.column_stack(
        [
            multivariate_normal(center, covariance).logpdf(X)
            for center, covariance in zip(mixture.centers, mixture.covariances, strict=True)
        ]
    )
    assert_allclose(mixture.log_densities(X), expected, rtol=1e-8, atol=1e-8)
    posterior, totals = mixture.posterior(X)
    joint = expected + np.log(mixture.weights)
    assert_allclose(totals, logsumexp(joint, axis=1), rtol=1e-8, atol=1e-8)
    assert_allclose(posterior, np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), atol=1e-8)
    assert_allclose(posterior.sum(axis=1), 1)


def test_chunks_of_samples_change_no_density():
    X, resp = draw("full", n=2 * CHUNK_ROWS + 7)
    mixture = m_step(X, resp, "full")
    some = [0, CHUNK_ROWS - 1, CHUNK_ROWS, 2 * CHUNK_ROWS, len(X) - 1]
    assert_allclose(mixture.log_densities(X)[some], mixture.log_densities(X[some]))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_m_step_has_the_weighted_moments_of_the_samples(shape):
    X, resp = draw(shape, n=60)
    sizes, centers, covariances = weighted_moments(X, resp)
    mixture = m_step(X, resp, shape)
    assert_allclose(mixture.weights, sizes / len(X))
    assert_allclose(mixture.centers, centers)
    d = X.shape[1]
    average = sum(n * each for n, each in zip(sizes, covariances, strict=True)) / len(X)
    least = MIN_VARIANCE * np.mean(X**2) * np.eye(d)
    if shape in ("spherical", "diagonal"):
        variances = shrink(sizes, [np.diag(each) for each in covariances], np.diag(average), MIN_PRIOR)
        if shape == "spherical":
            variances = np.repeat(variances.mean(axis=1, keepdims=True), d, axis=1)
        expected = np.stack([np.diag(row) for row in variances])
    elif shape == "tied":
        expected = np.stack([average + least] * 3)
    else:
        expected = shrink(sizes, covariances, average + least, d + MIN_PRIOR)
    if shape == "low-rank":
        # The volume of the short axes is shared by them; the sum of the variances stays.
        assert_allclose(np.trace(mixture.covariances, axis1=1, axis2=2), np.trace(expected, axis1=1, axis2=2))
        for found, full in zip(mixture.covariances, expected, strict=True):
            values, axes = np.linalg.eigh(full)
            assert_allclose(found @ axes[:, -1], values[-1] * axes[:, -1], atol=1e-8)
    else:
        assert_allclose(mixture.covariances, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    ("shape", "of_covariances"),
    [
        ("spherical", 3),  # one variance each
        ("diagonal", 3 * 4),
        ("tied", 10),  # 4 variances and 6 covariances
        ("full", 3 * 10),
        ("low-rank", 3 * (3 + 1 + 1)),  # a direction in 4 dimensions, its variance, the variance of all others
    ],
)
def test_parameters_are_counted(shape, of_covariances):
    X, resp = draw(shape, n=20_000)  # so many that no component borrows an axis of another one
    assert m_step(X, np.round(resp), shape).n_parameters == 3 * 4 + 2 + of_covariances


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "spherical"])
def test_a_direction_without_variance_rewards_no_split(shape):
    """Columns of indicators sum to a constant: the likelihood of that direction is the same for any split."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=(400, 2)), np.zeros(400)])
    halves = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(float)
    gains = []
    for data in (X, X[:, :2]):
        one = m_step(data, np.ones((400, 1)), shape).posterior(data)[1].sum()
        gains.append(m_step(data, halves, shape).posterior(data)[1].sum() - one)
    assert gains[0] - gains[1] < 10
