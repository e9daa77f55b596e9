"""Reduce images of many channels to the three with the most signal."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from mixsearch._typing import Array

# Covariances are computed on about this many pixels.
MAX_SAMPLES = 200_000
# Values beyond these quantiles become black or white.
QUANTILES = (0.005, 0.995)
# Added to the covariance of the noise, relative to that of the signal: channels without noise have a limit too.
MIN_NOISE = 1e-4
# The first component goes to green, on which brightness depends most, then red and blue.
ORDER = (1, 0, 2)
_ROWS_PER_CHUNK = 256


def reduce_channels(channels: Array, visible: Array | None = None) -> Array:
    """Return the three combinations of channels that vary most between regions and least between neighbors.

    Parameters
    ----------
    channels : array of shape (h, w, c)
    visible : array of bool of shape (h, w), optional
        Which pixels count.

    Returns
    -------
    array of float32 of shape (h, w, 3)
        From 0 to 1; with two channels the last one is 0.

    Notes
    -----
    The minimum noise fraction transform (Green et al., 1988): generalized eigenvectors of the covariance of pixels and
    that of differences of neighbors. It does not depend on the units of the channels.
    """
    height, width, n_channels = channels.shape
    step = max(int(np.sqrt(height * width / MAX_SAMPLES)), 1)
    left, right = channels[::step, :-1:step], channels[::step, 1::step]
    counted = np.ones((height, width), dtype=bool) if visible is None else visible
    both = counted[::step, :-1:step] & counted[::step, 1::step]
    sample = channels[::step, ::step][counted[::step, ::step]].astype(float)
    if not len(sample):
        sample = channels[counted].astype(float)
    means, scales = sample.mean(axis=0), sample.std(axis=0)
    scales[scales == 0] = 1
    signal = _covariance((sample - means) / scales)
    noise = _covariance((right[both].astype(float) - left[both]) / scales)
    _, vectors = eigh(signal, noise + MIN_NOISE * np.eye(n_channels))
    vectors = vectors[:, ::-1][:, :3]
    projected = (sample - means) / scales @ vectors
    low, high = np.quantile(projected, QUANTILES, axis=0)
    reduced = np.zeros((height, width, 3), dtype=np.float32)
    for start in range(0, height, _ROWS_PER_CHUNK):
        rows = slice(start, start + _ROWS_PER_CHUNK)
        values = ((channels[rows] - means) / scales @ vectors - low) / np.maximum(high - low, np.finfo(float).tiny)
        reduced[rows][..., ORDER[: vectors.shape[1]]] = np.clip(values, 0, 1)
    return reduced


def _covariance(rows: Array) -> Array:
    return np.asarray(rows.T @ rows / max(len(rows), 1))
