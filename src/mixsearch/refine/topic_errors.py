"""How far a topic after the closer look would move without some of its documents."""

from __future__ import annotations

import numpy as np

from mixsearch.blocks import spread_over_blocks
from mixsearch.models import TopicModel
from mixsearch.refine.topics import SharpTopic, held_words, ratios_to_expected
from mixsearch.types import Array, StandardErrors
from mixsearch.uncertainty import jackknife


def sharp_errors(model: TopicModel, sharp: SharpTopic) -> StandardErrors:
    """Standard errors of a topic after the closer look, from blocks of the documents that it looked at.

    Notes
    -----
    Which documents are near the hint, and which of their words are the topic's, is taken as known: without a block the
    words expected of the topic are those of the other documents. The weight is the mean share of all documents. Both
    leave out what was learned from the same documents and are on the small side.
    """
    said = _said_by_block(model, sharp)
    rest = said.sum(axis=1, keepdims=True) - said
    errors = np.zeros_like(sharp.center)
    errors[sharp.look.words] = jackknife((rest / np.maximum(rest.sum(axis=0), np.finfo(np.float64).tiny)).T)
    return StandardErrors(one_word_at_least(errors, float(said.sum())), float(jackknife(_weights(model, sharp))))


def one_word_at_least(errors: Array, n_words: float) -> Array:
    """Standard errors of the probabilities of words, (d,), in a topic of which so many words were seen.

    A word that is missing there may be so by chance: blocks without it cannot tell, but what is seen once in n words or
    not at all has a probability that is known to 1/n at best.
    """
    return np.maximum(errors, 1 / max(n_words, 1.0))


def _said_by_block(model: TopicModel, sharp: SharpTopic) -> Array:
    """Words expected of the topic in each block of the documents looked at, (q, B)."""
    look = sharp.look
    counts, _ = held_words(model, look.rows)
    ratios, _ = ratios_to_expected(counts, look.topics, look.mixed)
    shares = spread_over_blocks(look.mixed[:, 0].astype(np.float64))
    return np.asarray(look.topics[:, :1].astype(np.float64) * (ratios.T @ shares))


def _weights(model: TopicModel, sharp: SharpTopic) -> Array:
    """The mean share of all documents but one block, (B,)."""
    says = spread_over_blocks(model.says)
    sizes, told = says.sum(axis=0), sharp.shares @ says
    return np.asarray((told.sum() - told) / (sizes.sum() - sizes))
