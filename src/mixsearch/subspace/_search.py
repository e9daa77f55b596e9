"""Search in mixtures of subspaces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.em import em_options, warn_not_refined
from mixsearch.core.estimator import SemiSupervised, warn_no_signal
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.second_moment import squared_distances
from mixsearch.core.separation import warn_if_weak
from mixsearch.core.validation import (
    AUTO,
    check_choice,
    check_n_components,
    check_n_features,
    check_n_samples,
    check_positive_int,
)
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import HintError, UnlikelyMixtureWarning, warn_user
from mixsearch.subspace._component import Subspace, SubspaceFamily
from mixsearch.subspace._extraction import extract_subspace
from mixsearch.subspace._moments import SubspaceModel, fit_subspace
from mixsearch.subspace._rank_selection import subspace_spectrum


class SubspaceSearch(SemiSupervised):
    """Find one subspace of a mixture from a point of it, or from a few.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of subspaces. "auto" counts the directions that stand out of the noise (`spectrum_`) and takes the
        nearest whole number of subspaces, one at least.
    dim : int, default=1
        r, the dimension of each. All of them together, k r, must stay below the number of features.
    noise : {"average", "paper"}, default="average"
        The noise level as the average of all noise eigenvalues; or as the largest of them, as in the paper.
    random_state : int, RandomState instance or None, default=0
        Of the eigen-solver's starting block, where there are many features. The same value gives the same answer.

    Attributes
    ----------
    n_components_ : int
        How many subspaces the fit holds.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    noise_variance_ : float
        The variance of the noise.
    component_ : Subspace
        The subspace of the known members, where `fit` was given labels.
    model_ : SubspaceModel
        The frame and the projected samples.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import SubspaceSearch
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(5000, 40, 3, dim=2, random_state=0)
    >>> search = SubspaceSearch(n_components=3, dim=2).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 0][:3])
    >>> truth = data.bases[0]
    >>> bool(np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2)
    True
    """

    def __init__(
        self, n_components: int | str = 2, *, dim: int = 1, noise: str = "average", random_state: Any = 0
    ) -> None:
        self.n_components = n_components
        self.dim = dim
        self.noise = noise
        self.random_state = random_state

    def _fit_model(self, X: Any) -> Partitions[SamplePartition]:
        samples = self._partitions(X)
        least = check_n_components(self.n_components)
        check_positive_int("dim", self.dim)
        check_choice("noise", self.noise, ("average", "paper"))
        limit = samples.shape[1] - 1
        check_n_features(
            samples.shape[1],
            least * self.dim,
            limit,
            "dimensions of all subspaces together",
            "one must be left to the noise",
        )
        check_n_samples(samples, least * self.dim + 1, f"{least} subspaces of dimension {self.dim}")
        self.dim_ = int(self.dim)
        k = self._number(samples, lambda: subspace_spectrum(samples, dim=self.dim_, seed=self._seed()))
        if self.n_components == AUTO:
            self._warn_of_spectrum()
        self.model_ = fit_subspace(samples, k * self.dim_, noise=self.noise, seed=self._seed())
        self.noise_variance_ = self.model_.noise
        return samples

    @property
    def n_components_(self) -> int:
        """How many subspaces the fit holds."""
        return int(self.model_.frame.n_components) // self.dim_

    def _warn_of_spectrum(self) -> None:
        """Say so where the directions that were counted do not make whole subspaces."""
        k, n_signal = self.spectrum_.n_components, self.spectrum_.n_signal
        warn_no_signal(self.spectrum_, "one subspace")
        if n_signal and n_signal != k * self.dim_:
            warn_user(
                UnlikelyMixtureWarning(
                    f"{n_signal} directions stand out of the noise, which make no whole number of subspaces of "
                    f"dim={self.dim_}; the fit went on with {k} of them. Check dim, or give a number for n_components."
                )
            )

    def _first_components(self, n_components: int) -> Any:
        return self.model_.take(n_components * self.dim_)

    def search(
        self,
        hint: Any = None,
        *,
        examples: Any = None,
        n_components: int | None = None,
        refine: bool | int = False,
        tol: float = 0.01,
    ) -> Subspace:
        """Find the subspace that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            One sample of the subspace, or any point in it.
        examples : array of shape (q, d), optional
            A few samples. With as many as the subspace has dimensions they fill it, and single it out far better.
        n_components : int, optional
            Use the span of the first j of the fitted subspaces only.
        refine : bool or int, default=False
            Sharpen the subspace by likelihood steps, so many at most where a number is given. They answer with the
            subspace that holds most of the hint, also where it does not stand out enough for the moments. The answer's
            `moment_estimate` is the one without. On images and the like, subtract the mean of all samples first and
            scale each to length 1.
        tol : float, default=0.01
            Stop where a step raises the log-likelihood of all samples together by less than this, in nats: estimates
            then move far less than their standard errors.
        """
        steps, model = em_options(refine, tol), self._model(n_components)
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            found = self._extract(self._checked(examples, reset=False), model, are_samples=True)
        else:
            point = hint_from_direction(hint, self.n_features_in_)[None, :]
            found = self._extract(point, model, are_samples=False)
        if steps is None:
            return found
        refined = found.family.refine(steps)
        if refined is None:
            warn_not_refined()
        return replace(found, refined=refined)

    def _search_examples(self, members: Samples) -> Subspace:
        return self._extract(members, self.model_, are_samples=True)

    def _extract(self, points: Samples, model: SubspaceModel, *, are_samples: bool) -> Subspace:
        inside = np.asarray(points @ model.frame.basis)
        if not np.linalg.norm(inside) > 1e-10 * np.sqrt(squared_distances(points, np.zeros(points.shape[1])).sum()):
            raise HintError("The hint is orthogonal to every subspace. Give a sample of the wanted one.")
        hinted = model.hinted(inside * np.sqrt(model.frame.values))
        first = extract_subspace(hinted, self.dim_)
        found = Subspace(SubspaceFamily(model, first, hinted.hint, are_samples, self._names()))
        warn_if_weak(found.separation)
        return found

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self.model_.frame.whiten(X), dtype=X.dtype)
