"""Moments of a stochastic block model: each node is a sample, and its links are what was observed of it.

A node of community a links to node j with a mean of θ μₐ(j), where θ is its own propensity to link and μₐ sums to one.
Given its community, its links are independent. So two different neighbours of it are two independent draws from μₐ,
and three of them three: over all nodes, the numbers of common neighbours give A = Σ αₐμₐμₐ', and triples of neighbours
give B. A link with itself is no pair, so every power of one link has to come off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.community.spectrum import lanczos_eigenpairs
from mixsearch.core.eigen import orient
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import (
    Hinted,
    Replicates,
    blas_threads_for,
    rescale,
    second_moment,
    sum_cubes,
    symmetrize,
    weighted_gram,
)
from mixsearch.core.rows import Chunk, Chunks, SampleChunk, leave_one_out
from mixsearch.errors import SearchError

# Signs and order of the eigenvectors are certain long before their last digits, which the noise of any graph hides.
_TOL = 1e-4
# Fewer triples than this fraction of all products of three links are rounding: the node has one or two links.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CommunityChunk(Chunk):
    """Rows of an adjacency matrix with the weights that pairs and triples of their links have."""

    samples: Any  # x, (n, d), sparse
    weights: Any  # for single links, pairs and triples, (n, 3)
    projected: Any = None  # y = W'x, (n, k)


class _Totals(NamedTuple):
    """Sums over nodes, before there is a frame."""

    weight: float  # Σ f, with f the weight of a node
    linked: Array  # Σ ω₁x, (d,)
    squares: Array  # Σ ω₂x², (d,)


class CommunitySums(NamedTuple):
    """Sums over nodes in the frame, for one hint."""

    weight: float
    mean: Array  # Σ ω₁y, (k,)
    second: Array  # Σ ω₂ over pairs of links, (k, k)
    hinted: Array  # Σ ω₃⟨y, c⟩ over triples of links, (k, k)


class _ResidualSums(NamedTuple):
    weight: float
    image: Array  # Σ ω₂ over pairs of links, applied to W u, (d,)


@dataclass(frozen=True)
class CommunityFamily:
    """The fitted moments of a stochastic block model with degrees of any distribution."""

    frame: Frame
    mean: Array  # W'm, (k,)
    link_mean: Array  # m, (d,): how often a link leads to each node
    chunks: Chunks[CommunityChunk]
    n_hints: ClassVar[int] = 1

    @property
    def n_components(self) -> int:
        """The number of components of the fit."""
        return self.frame.n_components

    @property
    def whitener(self) -> Array:
        """W, (d, k)."""
        scaled = self.frame.basis / np.sqrt(self.frame.values)
        return np.asarray(scaled if self.frame.metric is None else scaled * self.frame.metric[:, None])

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame."""
        sums = self.chunks.sum(_sums, self.whitener, hint)
        return Hinted(sums.hinted / sums.weight, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q) -> (q, q, q)."""
        total = self.chunks.sum(_tensor_sum, self.whitener @ basis, basis)
        return np.asarray(total / self.chunks.sum(_weight_sum))

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all nodes but one group, for each group in turn."""
        each = leave_one_out(self.chunks, _sums_of_rows, self.whitener, hint)
        # Without its hub, a star has no triples left.
        weights = [max(sums.weight, np.finfo(np.float64).tiny) for sums in each]
        parts = [
            (sums.second / weight, sums.hinted / weight, sums.mean / weight)
            for sums, weight in zip(each, weights, strict=True)
        ]
        return Replicates(*(np.array(part) for part in zip(*parts, strict=True)))

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all nodes but one group, (d, B)."""
        each = leave_one_out(self.chunks, _residual_sums, self.whitener @ direction, direction)
        return np.column_stack([sums.image / sums.weight for sums in each])

    def take(self, n_components: int) -> CommunityFamily:
        """Return the same fit with the first components only."""
        k = n_components
        chunks = self.chunks.map(_take_coordinates, k)
        return replace(self, frame=self.frame.take(k), mean=self.mean[:k], chunks=chunks)

    def thin(self, step: int) -> CommunityFamily:
        """Return the same fit with every `step`-th node only."""
        return replace(self, chunks=self.chunks.thin(step))


def fit_community(chunks: Chunks[SampleChunk], n_components: int, *, seed: int) -> CommunityFamily:
    """Fit the moments of a stochastic block model to the rows of its adjacency matrix.

    Notes
    -----
    A node of degree l has l(l - 1)(l - 2) triples of links, each an unbiased view of its community. With a weight of
    f = l(l - 1)(l - 2) / (l + τ)² for the node, hubs count in proportion to their degree and nodes of few links for
    little. The same f serves single links, pairs and triples, so that all moments are of the same mixture. τ is the
    mean degree, which also regularises the metric: the operator is then the square of the regularised Laplacian of the
    graph, but for its diagonal.
    """
    strength = chunks.sum(_strength_sum)
    weighted = chunks.map(_weigh, float(strength.sum()) / chunks.n_rows).persist()
    totals = weighted.sum(_total_sums)
    if not totals.weight > 0:
        raise SearchError(
            "No node has three links or more, so that nothing is known about communities. Provide more links.",
            code="too_few_links",
        )
    if n_components > len(strength):
        raise SearchError(
            "{n_components} communities need as many nodes, but the graph has {n_nodes}.",
            code="too_many_components",
            n_components=n_components,
            n_nodes=len(strength),
        )
    metric = 1 / np.sqrt(strength + strength.mean())
    with blas_threads_for(weighted):
        matrix = rescale(
            second_moment(weighted, _pair_weights),
            scale=1 / totals.weight,
            metric=metric,
            diagonal=totals.squares * metric**2,
            direction=np.zeros(len(metric)),
        )
        values, vectors = lanczos_eigenpairs(matrix, n_components, which="LA", seed=seed, tol=_TOL)
    frame = replace(frame_from_eigenpairs(values, orient(vectors), name="matrix of common neighbours"), metric=metric)
    link_mean = totals.linked / totals.weight
    return CommunityFamily(frame, frame.whiten(link_mean), link_mean, weighted.map(_project, frame).persist())


def _strength_sum(chunk: SampleChunk) -> Any:
    return np.asarray(chunk.samples.sum(axis=0), dtype=np.float64)


def _weigh(chunk: SampleChunk, typical: float) -> CommunityChunk:
    """Weigh single links, pairs and triples of each node so that all of them have the same expectation."""
    x: Any = chunk.samples
    first, second, third = (np.asarray(power.sum(axis=1), dtype=np.float64) for power in (x, x.power(2), x.power(3)))
    # Sums over two and over three different links; for links of weight 1, l(l - 1) and l(l - 1)(l - 2).
    pairs, triples = first**2 - second, first**3 - 3 * first * second + 2 * third
    has_triples = triples > _ROUNDING * first**3
    per_triple = has_triples / np.maximum(first + typical, np.finfo(np.float64).tiny) ** 2
    per_pair, per_link = (
        per_triple * np.divide(triples, each, out=np.zeros_like(each), where=has_triples) for each in (pairs, first)
    )
    return CommunityChunk(chunk.first, x, np.column_stack([per_link, per_pair, per_triple]))


def _total_sums(chunk: CommunityChunk) -> _Totals:
    x, weights = chunk.samples, chunk.weights
    linked, squares = x.T @ weights[:, 0], x.power(2).T @ weights[:, 1]
    return _Totals(_weight_of(chunk, slice(None)), np.asarray(linked), np.asarray(squares))


def _weight_of(chunk: CommunityChunk, rows: Any) -> float:
    """Return the sum of the weights f of some nodes."""
    strengths = np.asarray(chunk.samples[rows].sum(axis=1), dtype=np.float64)
    return float(strengths @ chunk.weights[rows, 0])


def _pair_weights(chunk: CommunityChunk) -> Array:
    return np.asarray(chunk.weights[:, 1])


def _project(chunk: CommunityChunk, frame: Frame) -> CommunityChunk:
    return replace(chunk, projected=frame.whiten(chunk.samples))


def _take_coordinates(chunk: CommunityChunk, k: int) -> CommunityChunk:
    return replace(chunk, projected=chunk.projected[:, :k])


def _weight_sum(chunk: CommunityChunk) -> Any:
    return np.asarray(_weight_of(chunk, slice(None)))


def _sums(chunk: CommunityChunk, whitener: Array, hint: Array) -> CommunitySums:
    return _sums_of_rows(chunk, slice(None), whitener, hint)


def _sums_of_rows(chunk: CommunityChunk, rows: Any, whitener: Array, hint: Array) -> CommunitySums:
    """Sum over some nodes.

    Notes
    -----
    Over three different links, Σ ⟨x, v⟩xx' is ⟨y, c⟩yy' in the frame, less the three terms in which two of the links
    are the same, plus twice that in which all are: Σ xⱼ²⟨Wⱼ, c⟩Wⱼy' and its transpose, ⟨y, c⟩Σ xⱼ²WⱼWⱼ', and
    Σ xⱼ³⟨Wⱼ, c⟩WⱼWⱼ'. Summed over the nodes first, each is one product of arrays with a row for each feature.
    """
    x, y, weights = chunk.samples[rows], chunk.projected[rows], chunk.weights[rows]
    per_link, per_pair, per_triple = weights.T
    repeated = _repeated_links(x, y, per_triple)
    scores = whitener @ hint
    mixed = (whitener.T * scores) @ repeated.twice
    thrice = 2 * repeated.thrice * scores - repeated.twice @ hint
    return CommunitySums(
        weight=_weight_of(chunk, rows),
        mean=y.T @ per_link,
        second=weighted_gram(y, per_pair) - (whitener.T * (x.power(2).T @ per_pair)) @ whitener,
        hinted=weighted_gram(y, per_triple * (y @ hint)) - mixed - mixed.T + (whitener.T * thrice) @ whitener,
    )


class _Repeated(NamedTuple):
    """Sums over nodes of products in which one link occurs more than once."""

    twice: Array  # Σ ω₃x²y', (d, k)
    thrice: Array  # Σ ω₃x³, (d,)


def _repeated_links(x: Any, y: Array, per_triple: Array) -> _Repeated:
    return _Repeated(
        np.asarray(x.power(2).T @ (per_triple[:, None] * y)),
        np.asarray(x.power(3).T @ per_triple),
    )


def _tensor_sum(chunk: CommunityChunk, whitener: Array, basis: Array) -> Any:
    """Sum over triples of links in the coordinates of a basis, (q, q, q); `whitener` is in them already."""
    per_triple, y = chunk.weights[:, 2], chunk.projected @ basis
    repeated = _repeated_links(chunk.samples, y, per_triple)
    twice = sum_cubes(whitener, repeated.twice, np.ones(len(whitener)))
    thrice = sum_cubes(whitener, whitener, repeated.thrice)
    return sum_cubes(y, y, per_triple) - symmetrize(twice) + 2 * thrice


def _residual_sums(chunk: CommunityChunk, rows: Any, point: Array, direction: Array) -> _ResidualSums:
    x, per_pair = chunk.samples[rows], chunk.weights[rows, 1]
    image = x.T @ (per_pair * (chunk.projected[rows] @ direction))
    return _ResidualSums(_weight_of(chunk, rows), np.asarray(image - (x.power(2).T @ per_pair) * point))
