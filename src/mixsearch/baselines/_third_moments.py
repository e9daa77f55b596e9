"""The third moment of a mixture in its frame, a tensor of shape (k, k, k) for tensor methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.core.validation import check_choice
from mixsearch.data.chunks import ArraySum
from mixsearch.errors import ArgumentError
from mixsearch.gaussian import GaussianSearch
from mixsearch.topics import TopicSearch

NoiseTerm = Literal["whitened", "identity"]


@dataclass(frozen=True, slots=True)
class ThirdMoment:
    """The third moment of a mixture in the frame in which its second moment is the identity.

    Attributes
    ----------
    frame : Frame
        The frame of the search.
    tensor : array of shape (k, k, k)
        T, symmetric.
    mean : array of shape (k,)
        W'm.
    total : float
        Σ αᵢ: 1, or α₀ for topics.

    Notes
    -----
    T = Σ αᵢ W'μᵢ⊗W'μᵢ⊗W'μᵢ = Σ αᵢ^(-1/2) uᵢ⊗uᵢ⊗uᵢ with orthonormal uᵢ = √αᵢW'μᵢ. Contracted with a hint in the frame,
    it is the matrix R whose eigenvectors a search takes.
    """

    frame: Frame
    tensor: Array
    mean: Array
    total: float = 1.0

    @property
    def n_components(self) -> int:
        """The number of components k."""
        return len(self.tensor)


@singledispatch
def compute_third_moment(search: GaussianSearch | TopicSearch, *, noise_term: NoiseTerm = "whitened") -> ThirdMoment:
    """Compute the third moment of the samples of a fitted search, in its frame.

    Parameters
    ----------
    search : GaussianSearch or TopicSearch
        Fitted. Its options set the moments: ``preset="paper"`` and ``moments="plugin"`` are those of the paper.
    noise_term : {"whitened", "identity"}, default="whitened"
        What the noise adds in each pair of places and is subtracted, for Gaussians: W'W, the identity of the features
        in the frame; or the identity of the frame, as in the programs of the paper's authors, which is not what the
        noise adds and makes their tensor power method less accurate than it is.

    Returns
    -------
    ThirdMoment

    Notes
    -----
    One pass over the n projected samples takes n k³ multiplications; for topics another one over the d words, d k³.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> from mixsearch.baselines import compute_third_moment
    >>> data = make_gaussian_mixture(500, 10, 3, random_state=0)
    >>> compute_third_moment(GaussianSearch(3).fit(data.X)).tensor.shape
    (3, 3, 3)
    """
    raise TypeError(f"Third moments need a GaussianSearch or TopicSearch, got {type(search).__name__}.")


@compute_third_moment.register
def _(search: GaussianSearch, *, noise_term: NoiseTerm = "whitened") -> ThirdMoment:
    """Return E[y⊗y⊗y] minus the noise W'W in each pair of the three places, times m~ in the third."""
    check_choice("noise_term", noise_term, ("whitened", "identity"))
    check_is_fitted(search)
    model = search._family
    tensor = model.partitions.reduce(_sum_cubes).total / model.partitions.n_rows
    spread = model.frame.spread if noise_term == "whitened" else np.ones(model.n_components)
    tensor -= symmetrize(np.multiply.outer(np.diag(spread), model.noise_mean))
    return ThirdMoment(model.frame, tensor, model.mean)


@compute_third_moment.register
def _(search: TopicSearch, *, noise_term: NoiseTerm = "whitened") -> ThirdMoment:
    """Return the moment of three words of a document, different ones unless the search uses plug-in moments.

    Notes
    -----
    With counts c, c⊗c⊗c pairs words with themselves. This is subtracted for each two of the three places; if all three
    hold the same word it is subtracted three times but present once, so two are added back. Then, with a₀ = α₀,
    T = a₀(a₀+1)(a₀+2)/2 E[x₁⊗x₂⊗x₃] - (I⊗m in every place + m⊗m⊗m)/2, since E[x₁x₂'] = (I + mm') / (a₀(a₀+1)) in the
    frame.
    """
    check_choice("noise_term", noise_term, ("whitened", "identity"))
    if noise_term != "whitened":
        raise ArgumentError(
            "noise_term={noise_term!r} needs a GaussianSearch: topics have no noise term.",
            code="options_conflict",
            noise_term=noise_term,
        )
    check_is_fitted(search)
    model, a0 = search._family, search._family.alpha0
    triples = model.partitions.reduce(_sum_weighted_cubes).total
    if model.distinct:
        W = model.whitening_rows(slice(None))
        repeated = model.own_crossed - 2 / 3 * model.own_triples[:, None] * W
        triples -= symmetrize(sum_cubes(W, repeated, np.ones(len(W))))
    m = model.mean
    shared = symmetrize(np.multiply.outer(np.eye(len(m)), m)) + np.multiply.outer(np.outer(m, m), m)
    return ThirdMoment(model.frame, a0 * (a0 + 1) * (a0 + 2) / 2 * triples - shared / 2, m, total=a0)


def _sum_cubes(partition: Any) -> ArraySum:
    """Return Σ y⊗y⊗y."""
    return ArraySum(sum_cubes(partition.projected, partition.projected, np.ones(len(partition.projected))))


def _sum_weighted_cubes(partition: Any) -> ArraySum:
    """Return Σ triple weight y⊗y⊗y."""
    return ArraySum(sum_cubes(partition.projected, partition.projected, partition.triple_weights))
