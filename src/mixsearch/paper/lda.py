"""Moments of latent Dirichlet allocation: section 3.2 of the paper, Theorems 9 and 10."""

import numpy as np

from mixsearch.paper.algorithms import Array


def moments(counts: Array, v: Array, alpha0: float, *, distinct: bool = False) -> tuple[Array, Array, Array]:
    """Estimate (m, A, B) of topics mu_i with Dirichlet parameters alpha_i.

    Parameters
    ----------
    counts : array of shape (n, d)
        How often each document contains each word. Every document has a word, or three with `distinct`.
    v : array of shape (d,)
        The hint, such as 1 for a word that is more frequent in the first topic than in any other, and 0 elsewhere.
    alpha0 : float
        The sum of the Dirichlet parameters.
    distinct : bool, default=False
        Take averages over pairs and triples of different words of a document. By default they are powers of its word
        frequencies, as in the paper.

    Returns
    -------
    m, A, B : arrays of shape (d,), (d, d) and (d, d)
        The moments (1), (2) and (3). Their weights alpha_i sum to `alpha0`.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.paper import algorithms, lda
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    >>> shares = rng.dirichlet([0.5, 1.0], size=20_000)
    >>> counts = rng.multinomial(20, shares @ topics)
    >>> v = np.array([1.0, 0.0, 0.0, 0.0])
    >>> m, A, B = lda.moments(counts, v, alpha0=1.5, distinct=True)
    >>> topic, weight = algorithms.whitening(A, B, m, 2)
    >>> bool(np.allclose(topic, topics[0], atol=0.02)), round(weight, 1)
    (True, 0.5)
    """
    n = len(counts)
    lengths = counts.sum(axis=1, keepdims=True)
    X = counts / lengths  # normalised word frequencies
    if distinct:
        # Corrected: the paper replaces expectations with averages of products of frequencies. These pair a word with
        # itself, and are off by a part of 1/length however many documents there are. With counts c of l words, pairs of
        # different words are (cc' - diag(c)) / (l (l-1)), and triples, with * elementwise,
        # (<c,v> cc' - (c*v)c' - c(c*v)' - <c,v> diag(c) + 2 diag(c*v)) / (l (l-1) (l-2)).
        by_pair = counts / (lengths * (lengths - 1)) / n
        by_triple = by_pair / (lengths - 2)
        scores = counts @ v
        pairs = by_pair.T @ counts - np.diag(by_pair.sum(axis=0))
        repeats = (by_triple * v).T @ counts
        diagonal = by_triple.T @ scores - 2 * v * by_triple.sum(axis=0)
        triples = (by_triple.T * scores) @ counts - repeats - repeats.T - np.diag(diagonal)
    else:
        # E[x_1 x_2'] and E[<x_3, v> x_1 x_2'], with x_1, x_2 and x_3 the indicators of three words
        pairs = X.T @ X / n
        triples = (X.T * (X @ v)) @ X / n
    # m = alpha_0 E[x_1]
    m = alpha0 * X.mean(axis=0)
    # A = alpha_0 (alpha_0+1) E[x_1 x_2'] - mm'
    A = alpha0 * (alpha0 + 1) * pairs - np.outer(m, m)
    # B = alpha_0 (alpha_0+1) (alpha_0+2) / 2 E[<x_3, v> x_1 x_2']
    #     - alpha_0 (alpha_0+1) / 2 (<m, v> E[x_1 x_2'] + E[<x_3, v> x_1 m'] + E[<x_3, v> m x_2']) + <m, v> mm'
    cross = np.outer(pairs @ v, m)
    B = alpha0 * (alpha0 + 1) * (alpha0 + 2) / 2 * triples
    B = B - alpha0 * (alpha0 + 1) / 2 * ((m @ v) * pairs + cross + cross.T) + (m @ v) * np.outer(m, m)
    return m, A, B
