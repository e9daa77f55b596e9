"""How well a mixture predicts features that are held out, compared with samples that express each other."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions
from mixsearch.data.partitions import partition_in_memory
from mixsearch.errors import SearchError
from mixsearch.subspace._em import SubspaceMixture
from mixsearch.subspace._expression import Nodes, Ridge
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._fit import fit_subspace
from mixsearch.subspace._starts import best_mixture

# Every fifth sample is held out.
N_FOLDS = 5
# The mixture carries the answer unless its errors are larger by this many standard errors.
MIN_DEVIATIONS = 2.0
# Relative errors below this one are rounding.
ROUNDING = 1e-8


def predicts_worse(family: SubspaceFamily, nodes: Nodes, ridge: Ridge, options: EMOptions) -> bool:
    """Return whether a mixture predicts features of samples worse than other samples do.

    Parameters
    ----------
    family : SubspaceFamily
    nodes : Nodes
        Some of its samples.
    ridge : Ridge
        With which they express each other best.
    options : EMOptions

    Returns
    -------
    bool

    Notes
    -----
    Half of the features of a sample choose its subspace and its coordinates there, or its coefficients in a ridge
    regression on all other samples. Both predict the other half. The mixture is fitted without the samples on which
    it is compared.
    """
    held_out = np.arange(len(nodes.samples)) % N_FOLDS == N_FOLDS // 2
    train, is_test = nodes.take(~held_out), held_out & nodes.units.any(axis=1)
    try:
        fitted = fit_subspace(
            partition_in_memory(train.samples),
            family.n_components,
            dim=family.dim,
            paper=False,
            seed=0,
            origin=family.origin,
        )
        fitted = replace(fitted, has_own_dims=family.has_own_dims)
        mixture = best_mixture(fitted, train.express(ridge).walk, options)
    except SearchError:  # fewer directions stand out among fewer samples
        return True
    halves, test = nodes.halves, nodes.samples[is_test]
    predictors = [_Predictor.of(mixture, fitted.frame.basis, *order) for order in (halves, halves[::-1])]
    errors = sum(each.errors(test - family.center) for each in predictors)
    return _is_larger(errors / np.sum((test - nodes.origin) ** 2, axis=1), ridge.errors[is_test])


def _is_larger(of_mixture: Array, of_samples: Array) -> bool:
    """Return whether the errors of the mixture are larger by more than chance."""
    differences = np.maximum(of_mixture, ROUNDING) - np.maximum(of_samples, ROUNDING)
    if not len(differences):
        return False
    deviation = float(differences.std()) / np.sqrt(len(differences))
    return bool(differences.mean() > MIN_DEVIATIONS * deviation)


class _Predictor(NamedTuple):
    """A mixture that predicts some features from others."""

    known: Array  # features, (a,)
    unknown: Array  # (b,)
    bases: Array  # (k, d, r)
    mixture: SubspaceMixture

    @classmethod
    def of(cls, mixture: SubspaceMixture, span: Array, known: Array, unknown: Array) -> _Predictor:
        return cls(known, unknown, np.einsum("dp,kpr->kdr", span, mixture.bases), mixture)

    def errors(self, X: Array) -> Array:
        """Return the squared errors of samples, seen from the center of the mixture, (n,)."""
        logs, predictions = zip(*(self._condition(X, i) for i in range(len(self.bases))), strict=True)
        resp = softmax(np.array(logs), axis=0)
        predicted = np.einsum("kn,knb->nb", resp, np.array(predictions))
        return np.asarray(np.sum((X[:, self.unknown] - predicted) ** 2, axis=1))

    def _condition(self, X: Array, index: int) -> tuple[Array, Array]:
        """Return log αᵢpᵢ of the known features, (n,), up to a constant, and the mean of the others, (n, b).

        Notes
        -----
        Coordinates y given the known features x = Uy + noise have the precision M = diag(l)⁻¹ + U'U / s and the mean
        M⁻¹U'x / s, and x'Σ⁻¹x = |x|² / s - x'UM⁻¹U'x / s².
        """
        Y, U, V = X[:, self.known], self.bases[index][self.known], self.bases[index][self.unknown]
        noise = float(self.mixture.noise_variances[index])
        gains = np.sqrt(self.mixture.variances[index])  # may be zero: y is scaled to variance 1
        precision = np.eye(len(gains)) + (U * gains).T @ (U * gains) / noise
        scores = Y @ (U * gains) / noise
        means = np.linalg.solve(precision, scores.T).T
        squares = np.einsum("ij,ij->i", Y, Y) / noise - np.einsum("ij,ij->i", scores, means)
        volume = float(np.linalg.slogdet(precision)[1]) + len(self.known) * np.log(noise)
        logs = np.log(self.mixture.weights[index]) - 0.5 * (squares + volume)
        return np.asarray(logs), np.asarray(means @ (V * gains).T)
