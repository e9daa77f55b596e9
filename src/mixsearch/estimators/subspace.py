"""Search in mixtures of subspaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixsearch.display import Card, plain_number, separation_in_words
from mixsearch.errors import HintError
from mixsearch.estimators.base import SemiSupervised, require_choice, require_room, require_samples, require_whole
from mixsearch.estimators.posterior import log_normal, posterior, within_unit
from mixsearch.estimators.samples import check_samples
from mixsearch.extraction import SubspaceCandidate, extract_subspace, warn_if_weak
from mixsearch.hints import hint_from_direction, require_one
from mixsearch.models import SubspaceModel, fit_subspace
from mixsearch.models.second_moment import squared_distances
from mixsearch.types import Array, Samples


@dataclass(frozen=True, eq=False)
class SubspaceFamily:
    """All subspaces of a mixture, as one hint shows them; those after the first are found when asked for."""

    model: SubspaceModel
    first: SubspaceCandidate
    hint: Array  # in the frame, (k r, q)
    feature_names: Sequence[str] | None = None  # where the fit saw a data frame

    def share(self, directions: Array) -> float:
        """The part of the hint that a subspace accounts for: |G'c|² / |c|²."""
        return float(np.sum((directions.T @ self.hint) ** 2) / np.sum(self.hint**2))

    @cached_property
    def members(self) -> list[Array]:
        """The directions of all subspaces, each found from a point that the ones before it leave."""
        r = self.first.directions.shape[1]
        members, point = [self.first.directions], self.first.next_direction
        while point is not None and (len(members) + 1) * r <= len(point):
            # The likeliest direction outside is a point of the next subspace, and so a hint for it.
            hinted = self.model.hinted((self.model.frame.values * point)[None, :])
            found = extract_subspace(hinted, r, np.hstack(members))
            members.append(found.directions)
            point = found.next_direction
        return members


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

    family: SubspaceFamily
    rank: int = 0

    @property
    def model(self) -> SubspaceModel:
        """The mixture that the subspace was found in."""
        return self.family.model

    @property
    def directions(self) -> Array:
        """√α W'U up to a rotation, (k r, r): the subspace in the frame."""
        return self.family.members[self.rank] if self.rank else self.family.first.directions

    @cached_property
    def _image(self) -> tuple[Array, Array]:
        vectors, lengths, _ = np.linalg.svd(self.model.frame.unwhiten(self.directions), full_matrices=False)
        return vectors, lengths

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span the subspace, (d, r)."""
        return self._image[0]

    @property
    def weight(self) -> float:
        """The subspace's share of the mixture.

        Notes
        -----
        VD^(1/2)G = √α U where coordinates have variance 1. Where it is c², that is c√α U, and the trace of A is r c².
        """
        return float(np.sum(self._image[1] ** 2) / self.model.frame.values.sum())

    @property
    def separation(self) -> float:
        """The gap after the r-th eigenvalue; for an alternative, its share over that of the subspace found."""
        first = self.family.first
        return self.share / self.family.share(first.directions) if self.rank else first.separation

    @property
    def scores(self) -> Array:
        """Eigenvalues of the whitened hinted moment, falling."""
        return self.family.first.scores

    @property
    def share(self) -> float:
        """The part of the hint that the subspace accounts for."""
        return self.family.share(self.directions)

    @property
    def alternatives(self) -> tuple[Subspace, ...]:
        """The other subspaces, likeliest first."""
        ranks = range(len(self.family.members))
        return tuple(Subspace(self.family, rank) for rank in ranks if rank != self.rank)

    def score_samples(self, X: Any) -> Array:
        """The probability that each sample belongs to this subspace, (n,).

        Notes
        -----
        In the signal space, the density of noise plus this subspace against that of noise plus the rest of A.
        """
        frame, weight = self.model.frame, within_unit(self.weight)
        Y = frame.whiten(check_samples(X, frame.basis.shape[0], self.family.feature_names))
        floor = max(self.model.noise, 1e-9 * float(frame.values[0]))
        noise = floor * np.diag(1 / frame.values)
        if self.weight >= 1 or len(self.scores) == self.directions.shape[1]:
            return np.ones(len(Y))  # there is no rest
        own = self.directions @ self.directions.T
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
            samples.shape[1],
            columns,
            limit,
            "dimensions of all subspaces together",
            "one must be left to the noise",
        )
        require_samples(samples, columns + 1, f"{self.n_components} subspaces of dimension {self.dim}")
        self.dim_ = int(self.dim)
        self.model_ = fit_subspace(samples, columns, noise=self.noise, seed=self._seed())
        self.noise_variance_ = self.model_.noise
        return samples

    @property
    def n_components_(self) -> int:
        """How many subspaces the fit holds."""
        return int(self.model_.frame.n_components) // self.dim_

    def _first_components(self, n_components: int) -> Any:
        return self.model_.take(n_components * self.dim_)

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
        return self._extract(points, model)

    def _search_examples(self, members: Samples) -> Subspace:
        return self._extract(members, self.model_)

    def _extract(self, points: Samples, model: SubspaceModel) -> Subspace:
        inside = np.asarray(points @ model.frame.basis)
        if not np.linalg.norm(inside) > 1e-10 * np.sqrt(squared_distances(points, np.zeros(points.shape[1])).sum()):
            raise HintError("The hint is orthogonal to every subspace. Give a sample of the wanted one.")
        hinted = model.hinted(inside * np.sqrt(model.frame.values))
        found = Subspace(SubspaceFamily(model, extract_subspace(hinted, self.dim_), hinted.hint, self._names()))
        warn_if_weak(found.separation)
        return found

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self.model_.frame.whiten(X), dtype=X.dtype)
