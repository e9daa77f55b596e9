"""Cancellation in the frame of a search: the paper's Algorithm 2 inside the signal space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.paper.algorithms import cancellation


def cancel(found: Any, threshold: float | None = None) -> Array:
    """Return the center that cancellation finds where a search has found a component by whitening, (d,).

    As in the paper's experiments, the weight comes from (Av, B); `threshold` is that of `cancellation`.
    """
    frame, hinted, candidates = found._frame, found._hinted, found._candidates
    root = np.sqrt(frame.values)
    A, B = np.diag(frame.values), hinted.matrix * np.outer(root, root)
    center, _ = cancellation(A, B, root * hinted.mean, len(root), threshold=threshold, v=hinted.hint / root)
    points = np.column_stack([center / root, candidates.points[:, 1:]])
    answer: Any = replace(found, _candidates=replace(candidates, points=points))
    return np.asarray(answer.center)
