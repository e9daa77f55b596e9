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
    replicates = _without_each_block(model, sharp)
    errors = np.zeros_like(sharp.center)
    errors[sharp.look.words] = jackknife(replicates.T)
    return StandardErrors(errors, float(jackknife(_weights(model, sharp))))


def _without_each_block(model: TopicModel, sharp: SharpTopic) -> Array:
    """The topic without each block of the documents looked at, (q, B)."""
    look = sharp.look
    counts, _ = held_words(model, look.rows)
    ratios, _ = ratios_to_expected(counts, look.topics, look.mixed)
    said = look.topics[:, :1].astype(np.float64) * (ratios.T @ spread_over_blocks(look.mixed[:, 0].astype(np.float64)))
    rest = said.sum(axis=1, keepdims=True) - said
    return np.asarray(rest / np.maximum(rest.sum(axis=0), np.finfo(np.float64).tiny))


def _weights(model: TopicModel, sharp: SharpTopic) -> Array:
    """The mean share of all documents but one block, (B,)."""
    says = spread_over_blocks(model.says)
    sizes, told = says.sum(axis=0), sharp.shares @ says
    return np.asarray((told.sum() - told) / (sizes.sum() - sizes))
