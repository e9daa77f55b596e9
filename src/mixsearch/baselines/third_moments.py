"""The third moment of a mixture in its frame, a tensor of shape (k, k, k): what tensor methods decompose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum
from mixsearch.gaussian import GaussianPartition, GaussianSearch
from mixsearch.topics import TopicPartition, TopicSearch


@dataclass(frozen=True, slots=True)
class ThirdMoment:
    """The third moment of a mixture, seen in the frame in which its second moment is the identity.

    Notes
    -----
    T = Σ αᵢ W'μᵢ⊗W'μᵢ⊗W'μᵢ = Σ αᵢ^(-1/2) uᵢ⊗uᵢ⊗uᵢ with orthonormal uᵢ = √αᵢW'μᵢ. Contracted with a hint in the frame it
    is the R that a search takes its eigenvectors from.
    """

    frame: Frame
    tensor: Array  # T, (k, k, k), symmetric
    mean: Array  # W'm, (k,)
    total: float = 1.0  # Σ αᵢ: α₀ for topics

    @property
    def n_components(self) -> int:
        """How many components the tensor can hold, k."""
        return len(self.tensor)


@singledispatch
def third_moment(search: Any) -> ThirdMoment:
    """The third moment of the samples that a search was fitted on, in the frame of that fit.

    Parameters
    ----------
    search : GaussianSearch or TopicSearch
        Fitted. Its options choose the moments: ``noise="paper"`` and ``moments="plugin"`` are those of the paper.

    Notes
    -----
    One pass over the n projected samples, n k³ multiplications; for topics another over the d words, d k³.
    """
    raise TypeError(f"Third moments are there for GaussianSearch and TopicSearch; found {type(search).__name__}.")


@third_moment.register
def _(search: GaussianSearch) -> ThirdMoment:
    """E[y⊗y⊗y], less the three ways in which the noise W'W pairs up two coordinates and leaves m~ in the third."""
    check_is_fitted(search)
    model = search.model_
    tensor = model.partitions.reduce(_third_powers).total / model.partitions.n_rows
    tensor -= symmetrize(np.multiply.outer(np.diag(model.frame.spread), model.noise_mean))
    return ThirdMoment(model.frame, tensor, model.mean)


@third_moment.register
def _(search: TopicSearch) -> ThirdMoment:
    """From three words of a document, different ones unless the search was fitted on the plug-in.

    Notes
    -----
    With counts c, c⊗c⊗c pairs words with themselves. That comes off for each two of the three places; where all three
    hold the same word it came off three times and was there once, so that two are given back. Then, with a₀ = α₀,
    T = a₀(a₀+1)(a₀+2)/2 E[x₁⊗x₂⊗x₃] - (I⊗m in every place + m⊗m⊗m)/2, since E[x₁x₂'] = (I + mm') / (a₀(a₀+1)) in the
    frame.
    """
    check_is_fitted(search)
    model, a0 = search.model_, search.model_.alpha0
    triples = model.partitions.reduce(_weighted_third_powers).total
    if model.distinct:
        W = model.whitener(slice(None))
        with_itself = model.own_crossed - 2 / 3 * model.own_triples[:, None] * W
        triples -= symmetrize(sum_cubes(W, with_itself, np.ones(len(W))))
    m = model.mean
    shared = symmetrize(np.multiply.outer(np.eye(len(m)), m)) + np.multiply.outer(np.outer(m, m), m)
    return ThirdMoment(model.frame, a0 * (a0 + 1) * (a0 + 2) / 2 * triples - shared / 2, m, total=a0)


def _third_powers(partition: GaussianPartition) -> ArraySum:
    """Σ y⊗y⊗y."""
    return ArraySum(sum_cubes(partition.projected, partition.projected, np.ones(len(partition.projected))))


def _weighted_third_powers(partition: TopicPartition) -> ArraySum:
    """Σ triple weight y⊗y⊗y."""
    return ArraySum(sum_cubes(partition.projected, partition.projected, partition.triple_weights))
