"""Whether a fit leaves out a part of a hint: too few topics were fitted."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.doubts import add_doubts, lower_trust
from mixsearch.core.frame import Frame
from mixsearch.errors import Option, UnlikelyMixtureWarning
from mixsearch.topics._component import Topic
from mixsearch.topics._hint import WordHint

# A topic whose hint has a larger share in directions that were left out is further off than noise would bring it. On
# 60 corpora of 2,000 documents the right ones had up to .03, and the wrong ones .02 or more.
MAX_SHARE = 0.025


def check_words(found: Topic, hint: WordHint) -> Topic:
    """Return an answer to words, with the doubt that topics are missing if there is one."""
    left_out = found._family.left_out
    if left_out is None:
        return found
    return _check(found, found._family.project(hint), left_out.rows(hint.columns).project_hint(hint.values), left_out)


def check_documents(found: Topic, frequencies: Array) -> Topic:
    """Return an answer to documents of these mean word frequencies, (d,), with that doubt if there is one."""
    left_out = found._family.left_out
    if left_out is None:
        return found
    return _check(found, found._frame.whiten(frequencies), left_out.whiten(frequencies), left_out)


def _check(found: Topic, inside: Array, outside: Array, left_out: Frame) -> Topic:
    """Compare what a hint has in the frame, (k,), and in the directions that were left out, (m,)."""
    share = float(np.sum(outside**2) / (np.sum(inside**2) + np.sum(outside**2)))
    if not share > MAX_SHARE:
        return found
    doubt = UnlikelyMixtureWarning(
        "There are more topics than {n_components}: {percent:.0f}% of the hint is in directions that stand out from "
        "the noise but were not fitted, so the topic found may be a mixture of several. Fit more of them ({argument}).",
        code="too_few_components",
        argument=Option("n_components"),
        n_components=found._family.n_components,
        n_left_out=left_out.n_components,
        percent=100 * share,
    )
    return lower_trust(add_doubts(found, [doubt]), MAX_SHARE / share)
