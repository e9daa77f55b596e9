"""LDA topics: documents of words drawn from Σ θᵢμᵢ with θ Dirichlet(α₁..α_k), α₀ = Σ αᵢ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch.blocks import Product, RowBlocks, n_cores, one_blas_thread, sum_blocks
from mixsearch.errors import HintError
from mixsearch.linalg import count_above, frame_above, top_eigenpairs
from mixsearch.models.second_moment import change, second_moment_of_blocks, weighted_gram
from mixsearch.types import Array, Frame, Hinted, WordHint

# Vectors that one pass over the counts serves: more passes than with k + 10 of them, but less time in all.
BLOCK = 20
# Of the eigenvectors, as a part of each eigenvalue: rankings of documents are the same at a tenth of it.
TOLERANCE = 1e-2

Allocate = Callable[[tuple[int, int], Any], Array]


@dataclass(frozen=True, slots=True)
class TopicModel:
    """All that a search among topics needs: the counts by document and by word, and the frame."""

    frame: Frame
    alpha0: float
    mean: Array  # W'm, (k,)
    word_mean: Array  # E[x1], (d,): the corpus as one distribution over words
    by_document: sp.csr_array  # counts, (n, d)
    by_word: sp.csc_array  # the same, column by column: a word finds its documents
    lengths: Array  # (n,)
    pair_weights: Array  # ωᵢ / (l(l-1)), (n,); ωᵢ / l² for the plug-in
    triple_weights: Array  # ωᵢ / (l(l-1)(l-2)), (n,); ωᵢ / l³ for the plug-in
    distinct: bool
    projected: Array  # Y, (n, k): whitened counts W'c, not divided by the length
    own_pairs: Array  # Σ pair weight x c, (d,): what a word's pairs with itself add up to
    own_triples: Array  # Σ triple weight x c, (d,): the same for its triples with itself
    own_crossed: Array  # Σ triple weight x c y', (d, k): and for those with itself and one other word
    n_applications: int  # passes over the counts that the eigenvectors took

    def hinted(self, hint: WordHint, most_documents: int | None = None) -> Hinted:
        """The hinted moment of a hint over words. Only documents that hold one of its words are touched.

        Where they are more than `most_documents`, so many of them at even steps stand for all.
        """
        mass = self.alpha0 * float(self.word_mean[hint.columns] @ hint.values)
        return self._corrected(*self._contract(hint, most_documents), mass, self.project(hint))

    def hinted_in_frame(self, hint: Array) -> Hinted:
        """The hinted moment of a hint c given in the frame, which is that of the words v = Wc."""
        mass = float(self.mean @ hint)
        return self._corrected(*self._contract_in_frame(hint), mass, hint)

    def _contract(self, hint: WordHint, most_documents: int | None = None) -> tuple[Array, Array]:
        """W'E[⟨x3,v⟩x1x2']W, (k, k), and W'E[⟨x3,v⟩x1], (k,), over different words of a document.

        Notes
        -----
        A word is never counted with itself: with counts c, triples are
        ⟨c,v⟩cc' - (c*v)c' - c(c*v)' - ⟨c,v⟩diag(c) + 2diag(c*v), and pairs cc' - diag(c), * elementwise.
        """
        columns, values = hint.columns, hint.values
        told = thin_out(np.asarray(self.by_word[:, columns] @ values), most_documents)
        rows = np.flatnonzero(told)
        if not len(rows):
            raise HintError("No document tells anything of the hint: none holds its words, or their weights cancel.")
        Y, told = self.projected[rows], told[rows]
        by_triple = self.triple_weights[rows] * told
        triple = weighted_gram(Y, by_triple, n_threads=n_cores())
        pair = Y.T @ (self.pair_weights[rows] * told)
        if self.distinct:
            words = self.whitener(columns) * values[:, None]
            crossed = words.T @ self.own_crossed[columns]
            triple -= crossed + crossed.T + self.diagonal(self.by_document[rows].T @ by_triple)
            triple += 2 * (words * self.own_triples[columns, None]).T @ self.whitener(columns)
            pair -= words.T @ self.own_pairs[columns]
        return triple, pair

    def _contract_in_frame(self, hint: Array) -> tuple[Array, Array]:
        """The same for v = Wc, from the projected documents and three sums over the words."""
        told = self.triple_weights * (self.projected @ hint)
        triple = weighted_gram(self.projected, told, n_threads=n_cores())
        if self.distinct:
            W = self.whitener(slice(None))
            v = W @ hint
            crossed = (W * v[:, None]).T @ self.own_crossed
            triple -= crossed + crossed.T
            triple -= self.diagonal(self.own_crossed @ hint - 2 * v * self.own_triples)
        pair = (hint + (self.mean @ hint) * self.mean) / (self.alpha0 * (self.alpha0 + 1))
        return triple, pair

    def _corrected(self, triple: Array, pair: Array, mass: float, hint: Array) -> Hinted:
        """From W'E[⟨x3,v⟩x1x2']W, W'E[⟨x3,v⟩x1] and ⟨m,v⟩ to the hinted moment.

        Notes
        -----
        With T and q the first two, B = a₀(a₀+1)(a₀+2)/2 T - a₀(a₀+1)/2 (⟨m,v⟩ E[x1x2'] + q m' + m q') + ⟨m,v⟩ mm'. In
        the frame E[x1x2'] becomes (I + W'm m'W) / (a₀(a₀+1)), since A becomes the identity.
        """
        a0, m = self.alpha0, self.mean
        outer, crossed = np.outer(m, m), np.outer(pair, m)
        matrix = a0 * (a0 + 1) * (a0 + 2) / 2 * triple
        matrix -= a0 * (a0 + 1) / 2 * (crossed + crossed.T)
        matrix += mass * outer - mass / 2 * (np.eye(len(m)) + outer)
        return Hinted(matrix, m, hint)

    @property
    def says(self) -> Array:
        """ω, the weight of each document in all averages, (n,): they sum to one."""
        n_pairs = self.lengths * (self.lengths - 1) if self.distinct else self.lengths**2
        return np.asarray(self.pair_weights * n_pairs)

    def diagonal(self, weights: Array) -> Array:
        """W'diag(weights)W, (k, k)."""
        scaled = weights if self.frame.metric is None else weights * self.frame.metric**2
        held = np.flatnonzero(scaled)
        V, root = self.frame.basis, np.sqrt(self.frame.values)
        if 0 < 2 * len(held) < len(scaled):  # else picking rows costs more than it saves
            V, scaled = V[held], scaled[held]
        return np.asarray(weighted_gram(V, scaled, precision=V.dtype, n_threads=n_cores()) / np.outer(root, root))

    def whitener(self, words: Array | slice) -> Array:
        """Rows of W, (q, k)."""
        scale = 1.0 if self.frame.metric is None else self.frame.metric[words, None]
        return self.frame.basis[words] * scale / np.sqrt(self.frame.values)

    def project(self, hint: WordHint) -> Array:
        """The hint in the frame, (k,)."""
        plain = hint.values if self.frame.metric is None else hint.values / self.frame.metric[hint.columns]
        return np.asarray(np.sqrt(self.frame.values) * (plain @ self.frame.basis[hint.columns]))

    def take(self, n_components: int) -> TopicModel:
        """The same fit with fewer topics."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            projected=self.projected[:, :k],
            own_crossed=self.own_crossed[:, :k],
        )

    def within(self, basis: Array) -> TopicModel:
        """The same fit in the coordinates of some orthonormal directions of its frame, (k, q): W becomes W basis."""
        turned = self.frame.basis @ (basis / np.sqrt(self.frame.values)[:, None])
        return replace(
            self,
            frame=replace(self.frame, basis=turned, values=np.ones(basis.shape[1])),
            mean=self.mean @ basis,
            projected=self.projected @ basis,
            own_crossed=self.own_crossed @ basis,
        )


def thin_out(told: Array, most: int | None) -> Array:
    """What documents tell of a hint, (n,); where more of them than `most` tell anything, so many stand for all."""
    rows = np.flatnonzero(told)
    if most is None or len(rows) <= most:
        return told
    kept = rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
    thinned = np.zeros_like(told)
    thinned[kept] = told[kept] * (len(rows) / most)
    return thinned


def fit_topics(
    counts: RowBlocks,
    n_components: int,
    *,
    by_document: sp.csr_array,
    by_word: sp.csc_array,
    alpha0: float,
    distinct: bool,
    say: Callable[[Array], Array],
    metric: float,
    seed: int,
    allocate: Allocate = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> TopicModel:
    """Find the signal space of the topics and project the documents onto it, in passes over blocks of documents.

    Parameters
    ----------
    counts : RowBlocks of shape (n, d)
        Documents of at least three words (of any length for the plug-in).
    n_components : int
        k; fewer are fitted where A has fewer positive eigenvalues.
    by_document, by_word : sparse arrays of shape (n, d)
        The same counts, for the searches: in memory or mapped from files.
    alpha0 : float
        The sum of the Dirichlet parameters.
    distinct : bool
        Average over different words of a document; else the plug-in of the paper, which counts words with themselves.
    say : callable
        From the lengths of the documents to the weight of each in all averages, (n,). Any leaves the moments unbiased.
    metric : float
        Measure word w in units of its frequency to this power.
    seed : int
        Of the eigen-solver's starting block.
    allocate : callable
        (shape, dtype) -> an array to hold the projected documents; on disk, for instance.
    on_pass : callable, optional
        Told the number of passes over the counts after each.
    """
    lengths = np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.numbered()])
    shares = say(lengths) / say(lengths).sum()
    pair_weights = shares / (lengths * (lengths - 1) if distinct else lengths**2)
    triple_weights = pair_weights / (lengths - 2 if distinct else lengths)
    weights = np.column_stack([shares / lengths, pair_weights, triple_weights])
    word_mean, own_pairs, own_triples = sum_rows(counts, weights).T.copy()
    units = units_of(word_mean, metric)
    second = change(
        second_moment_of_blocks(counts, pair_weights),
        scale=alpha0 * (alpha0 + 1),
        metric=units,
        diagonal=units**2 * own_pairs if distinct else np.zeros_like(units),
        direction=alpha0 * units * word_mean,
    )
    # Real text has no gap in its spectrum to converge to: at this residual its rankings of documents stand still. Nor
    # has it equal eigenvalues, so that a narrow block does.
    with one_blas_thread:
        values, vectors, n_applications = top_eigenpairs(
            second,
            n_components,
            seed=seed,
            tolerance=TOLERANCE,
            block=BLOCK,
            n_threads=n_cores(),
            on_application=on_pass,
        )
    # Past the true rank the eigenvalues of A turn negative; at least the first one must not.
    k = max(count_above(values), 1)
    frame = replace(frame_above(values[:k], vectors[:, :k]), metric=units)
    projected = allocate((counts.shape[0], k), counts.dtype)
    own_crossed = _project_rows(counts, frame, triple_weights, projected)
    return TopicModel(
        frame=frame,
        alpha0=alpha0,
        mean=frame.whiten(alpha0 * word_mean),
        word_mean=word_mean,
        by_document=by_document,
        by_word=by_word,
        lengths=lengths,
        pair_weights=pair_weights,
        triple_weights=triple_weights,
        distinct=distinct,
        projected=projected,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=own_crossed,
        n_applications=n_applications,
    )


def sum_rows(counts: RowBlocks, weights: Array) -> Array:
    """X' weights, (d, q)."""

    def work(block: tuple[int, slice]) -> Product:
        number, rows = block
        return Product(np.asarray(counts.read(number).T @ weights[rows]))

    return np.asarray(sum_blocks(work, counts.numbered(), n_cores()).total)


def _project_rows(counts: RowBlocks, frame: Frame, weights: Array, projected: Array) -> Array:
    """Fill in the whitened counts Y, (n, k), and return Σ weight x c y', (d, k)."""
    V, units, roots = frame.basis, frame.metric, np.sqrt(frame.values)
    scaled = V if units is None else V * units[:, None].astype(V.dtype)
    whitener = np.ascontiguousarray(scaled / roots.astype(V.dtype))

    def work(block: tuple[int, slice]) -> Product:
        number, rows = block
        X = counts.read(number)
        projected[rows] = Y = X @ whitener
        return Product(np.asarray(X.T @ (Y * weights[rows, None].astype(Y.dtype))))

    return np.asarray(sum_blocks(work, counts.numbered(), n_cores()).total)


def units_of(word_mean: Array, metric: float) -> Array:
    """The scale of each word, p^(-metric), with words that never occur left alone."""
    return np.where(word_mean > 0, word_mean, 1.0) ** -metric
