"""Whether x is normal enough for moments of regressions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from mixsearch.core.doubts import MIN_P_VALUE
from mixsearch.core.frame import Frame
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import Option, UnlikelyMixtureWarning
from mixsearch.regression._partition import RegressionPartition

# Samples that suffice.
MAX_SAMPLES = 10_000
# Skewness and excess kurtosis that moments tolerate: their errors hardly grow up to there.
MAX_SKEWNESS, MAX_KURTOSIS = 0.15, 0.1


class NormalityCheck(NamedTuple):
    """The shape of x in the signal space."""

    p_value: float  # how often an x that moments tolerate would look as far from normal
    skewness: float  # the largest of all coordinates, in absolute value
    kurtosis: float  # the largest excess

    @property
    def is_normal(self) -> bool:
        """Whether moments apply."""
        return self.p_value >= MIN_P_VALUE

    def doubt(self) -> UnlikelyMixtureWarning:
        """Return the doubt that moments apply."""
        return UnlikelyMixtureWarning(
            "Moments need normal X, but in the directions of the coefficients it has a skewness of {skewness:.2g} and "
            "an excess kurtosis of {kurtosis:.2g}: the estimate may be far off. Search with {argument}=True.",
            code="not_normal",
            skewness=self.skewness,
            kurtosis=self.kurtosis,
            argument=Option("refine"),
        )


def check_normality(partitions: Partitions[RegressionPartition], frame: Frame) -> NormalityCheck:
    """Test the skewness and the kurtosis of standardized x in every coordinate of the frame.

    Parameters
    ----------
    partitions : Partitions
        Samples with their coordinates in the frame.
    frame : Frame

    Returns
    -------
    NormalityCheck
    """
    some = partitions.thin(-(-partitions.n_rows // MAX_SAMPLES)).map(_get_coordinates).collect().partition
    # One row per coordinate: means over few columns would be slow.
    U = np.ascontiguousarray(some.samples.T, dtype=np.float64) * np.sqrt(frame.values)[:, None]
    U -= U.mean(axis=1, keepdims=True)
    U /= np.maximum(U.std(axis=1, keepdims=True), np.finfo(float).tiny)
    n, squares = U.shape[1], U**2
    skewness, kurtosis = np.abs((squares * U).mean(axis=1)), np.abs((squares**2).mean(axis=1) - 3)
    beyond = np.concatenate([(skewness - MAX_SKEWNESS) / np.sqrt(6 / n), (kurtosis - MAX_KURTOSIS) / np.sqrt(24 / n)])
    p_value = min(1.0, len(beyond) * float(ndtr(-beyond.max(initial=-np.inf))))
    return NormalityCheck(p_value, float(skewness.max(initial=0.0)), float(kurtosis.max(initial=0.0)))


def _get_coordinates(partition: RegressionPartition) -> SamplePartition:
    return SamplePartition(partition.first, partition.projected)
