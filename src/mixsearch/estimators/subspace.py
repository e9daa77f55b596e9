"""Search in mixtures of subspaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch.display import Card, plain_number, separation_in_words
from mixsearch.errors import HintError
from mixsearch.estimators.base import SemiSupervised, require_choice, require_room, require_samples, require_whole
from mixsearch.estimators.posterior import check_samples, log_normal, posterior, within_unit
from mixsearch.extraction import SubspaceCandidate, extract_subspace, warn_if_weak
from mixsearch.hints import hint_from_direction, require_one
from mixsearch.models import SubspaceModel, fit_subspace
from mixsearch.types import Array, Samples


@dataclass(frozen=True, repr=False, eq=False)
class Subspace:
    """One subspace of a mixture.

    Attributes
    ----------
    basis : array of shape (d, r)
        Orthonormal columns that span it, in the order of their weight.
    weight : float
        Its share of the mixture.
    separation : float
        The gap after the r-th eigenvalue. Near 1, the hint does not single out a subspace.
    scores : array of shape (k r,)
        All eigenvalues of the whitened hinted moment.
    share : float
        The part of the hint that the subspace accounts for.
    alternatives : tuple of Subspace
        The other subspaces, likeliest first, each found from what this one leaves of the hint.
    """

    model: SubspaceModel
    candidate: SubspaceCandidate
    found_before: Array | None = None  # directions of likelier subspaces, (k r, q)

    @cached_property
    def _image(self) -> tuple[Array, Array]:
        vectors, lengths, _ = np.linalg.svd(self.model.frame.unwhiten(self.candidate.directions), full_matrices=False)
        return vectors, lengths

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        return self._image[0]

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture: VD^(1/2)G = √α U, so |.|²/r = α."""
        return float(np.mean(self._image[1] ** 2))

    @property
    def separation(self) -> float:
        """The gap after the r-th eigenvalue."""
        return self.candidate.separation

    @property
    def scores(self) -> Array:
        """Eigenvalues of the whitened hinted moment, falling."""
        return self.candidate.scores

    @property
    def share(self) -> float:
        """The part of the hint that the subspace accounts for."""
        return self.candidate.share

    @cached_property
    def alternatives(self) -> tuple[Subspace, ...]:
        """The other subspaces, likeliest first."""
        after = self._next()
        return () if after is None else (after, *after.alternatives)

    def _next(self) -> Subspace | None:
        """The runner-up: the likeliest direction that is left is a point of it, and so a hint."""
        mine, r = self.candidate.directions, self.candidate.directions.shape[1]
        before = mine if self.found_before is None else np.hstack([self.found_before, mine])
        point = self.candidate.next_direction
        if point is None or before.shape[1] + r > len(point):
            return None
        hinted = self.model.hinted((self.model.frame.values * point)[None, :])
        return Subspace(self.model, extract_subspace(hinted, r, before), before)

    def score_samples(self, X: Any) -> Array:
        """The probability that each sample belongs to this subspace, (n,).

        Notes
        -----
        In the signal space, the density of noise plus this subspace against that of noise plus the rest of A.
        """
        frame, weight = self.model.frame, within_unit(self.weight)
        Y = frame.whiten(check_samples(X, frame.basis.shape[0]))
        floor = max(self.model.noise, 1e-9 * float(frame.values[0]))
        noise = floor * np.diag(1 / frame.values)
        own = self.candidate.directions @ self.candidate.directions.T
        rest = (np.eye(len(own)) - own) / (1 - weight) + noise
        return posterior(weight, log_normal(Y, own / weight + noise), log_normal(Y, rest))

    def _card(self) -> Card:
        d, r = self.basis.shape
        return Card(
            title=f"Subspace of dimension {r} in {d:,} features",
            facts=[
                ("weight", plain_number(self.weight)),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
            ],
            bars=[
                (f"direction {i + 1}{'' if i < r else ' (outside)'}", float(score))
                for i, score in enumerate(self.scores[: r + 3])
            ],
            bars_title="what the hint makes of each direction",
        )

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()


class SubspaceSearch(SemiSupervised):
    """Find one subspace of a mixture from a point of it, or from a few.

    Parameters
    ----------
    n_components : int, default=2
        k, the number of subspaces.
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

    def __init__(self, n_components: int = 2, *, dim: int = 1, noise: str = "average", random_state: Any = 0) -> None:
        self.n_components = n_components
        self.dim = dim
        self.noise = noise
        self.random_state = random_state

    def _fit_model(self, X: Any) -> Samples:
        samples = self._checked(X, reset=True)
        require_whole("n_components", self.n_components)
        require_whole("dim", self.dim)
        require_choice("noise", self.noise, ("average", "paper"))
        columns = self.n_components * self.dim
        limit = samples.shape[1] - 1
        require_room(
            samples,
            columns,
            limit,
            "dimensions for all subspaces together, since one must be left to the noise",
        )
        require_samples(samples, columns + 1, f"{self.n_components} subspaces of dimension {self.dim}")
        self.model_ = fit_subspace(samples, columns, noise=self.noise, seed=self._seed())
        self.noise_variance_ = self.model_.noise
        return samples

    @property
    def n_components_(self) -> int:
        """How many subspaces the fit holds."""
        return int(self.model_.frame.n_components) // self.dim

    def _first_components(self, n_components: int) -> Any:
        return self.model_.take(n_components * self.dim)

    def search(self, hint: Any = None, *, examples: Any = None, n_components: int | None = None) -> Subspace:
        """Find the subspace that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            One sample of the subspace, or any point in it.
        examples : array of shape (q, d), optional
            A few samples. With as many as the subspace has dimensions they fill it, and single it out far better.
        n_components : int, optional
            Use the span of the first j of the fitted subspaces only.
        """
        model = self._model(n_components)
        if require_one({"hint": hint, "examples": examples}) == "examples":
            points = self._checked(examples, reset=False)
        else:
            points = hint_from_direction(hint, self.n_features_in_)[None, :]
        hints = np.asarray(points @ model.frame.basis) * np.sqrt(model.frame.values)
        if not hints.any():
            raise HintError("The hint is orthogonal to every subspace. Give a sample of the wanted one.")
        found = Subspace(model, extract_subspace(model.hinted(hints), self.dim))
        warn_if_weak(found.separation)
        return found

    def _search_examples(self, members: Samples) -> Subspace:
        return self.search(examples=members)

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self.model_.frame.whiten(X), dtype=X.dtype)
