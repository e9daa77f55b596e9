"""Moments of a mixture of spherical Gaussians: section 3.1 of the paper, Theorems 7 and 8."""

from typing import Literal

import numpy as np

from mixsearch.paper.algorithms import Array, largest_eigenpairs


def moments(X: Array, v: Array, k: int, *, noise: Literal["next", "smallest"] = "next") -> tuple[Array, Array, Array]:
    """Estimate (m, A, B) of a mixture of Gaussians N(mu_i, sigma_i^2 I).

    Parameters
    ----------
    X : array of shape (n, d)
        The samples.
    v : array of shape (d,)
        The hint, with <mu_1, v> > <mu_i, v> for all others, such as the mean of a few samples of the first component.
    k : int
        The number of components, below d.
    noise : {"next", "smallest"}, default="next"
        The eigenvalue of the covariance that is the noise level: the (k+1)-th, as in section 3.1, or the smallest, as
        in Theorem 7 and in the authors' programs. Both are equal in the population; on samples one is too large and
        the other too small.

    Returns
    -------
    m, A, B : arrays of shape (d,), (d, d) and (d, d)
        The moments (1), (2) and (3).

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper import algorithms, gaussian
    >>> rng = np.random.default_rng(0)
    >>> centers = np.array([[3.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]])
    >>> labels = rng.choice(2, p=[0.3, 0.7], size=20_000)
    >>> X = centers[labels] + rng.normal(size=(20_000, 4))
    >>> m, A, B = gaussian.moments(X, X[labels == 0][:5].mean(axis=0), 2)
    >>> center, weight = algorithms.whitening(A, B, m, 2)
    >>> bool(np.allclose(center, centers[0], atol=0.1)), round(weight, 1)
    (True, 0.3)
    """
    n, d = X.shape
    # m = E[x]
    m = X.mean(axis=0)
    # sigma^2 is the (k+1)th-largest eigenvalue of E[(x - m)(x - m)'], and u a corresponding eigenvector
    centered = X - m
    values, vectors = largest_eigenpairs(centered.T @ centered / n, k + 1 if noise == "next" else d)
    variance, u = values[-1], vectors[:, -1]
    # m~ = E[x (u'(x - m))^2], which is sum_i alpha_i sigma_i^2 mu_i (Theorem 7)
    weighted_mean = X.T @ (centered @ u) ** 2 / n
    # A = E[xx'] - sigma^2 I
    A = X.T @ X / n - variance * np.eye(d)
    # B = E[<x, v> xx'] - m~ v' - v m~' - <m~, v> I
    third = (X.T * (X @ v)) @ X / n
    cross = np.outer(weighted_mean, v)
    B = third - cross - cross.T - (weighted_mean @ v) * np.eye(d)
    return m, A, B
