"""Replicates of a mixture of any shape, compared with EM without each group, run to convergence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.split_samples import jackknife_slices
from tests.unit.gaussian.shaped import draw

from mixsearch.core.jackknife import jackknife
from mixsearch.data.partitions import partition_in_memory
from mixsearch.gaussian.shaped_fit import replicate_mixture
from mixsearch.table.shapes import SHAPES, m_step, min_variance
from mixsearch.gaussian.units import Units

N = 800


def run_em(X, resp, shape, n_iter=40):
    """Run a fixed number of EM iterations: shrunk covariances may lower the likelihood slightly."""
    for _ in range(n_iter):
        mixture = m_step(X, resp, shape)
        resp, _ = mixture.posterior(X)
    return mixture, resp


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_replicates_are_those_of_em_without_each_group(shape):
    data = draw(shape, n=N, overlap=2.0)
    X = data.X - data.X.mean(axis=0)
    mixture, resp = run_em(X, np.eye(3)[data.labels], shape)
    units = Units(np.zeros(4), np.ones(4), np.ones(4))
    found = replicate_mixture(partition_in_memory(X), mixture, units, min_variance(X), X)
    groups = jackknife_slices(N)
    refits = [run_em(np.delete(X, rows, axis=0), np.delete(resp, rows, axis=0), shape)[0] for rows in groups]
    assert_allclose(jackknife(found.centers), jackknife(np.array([each.centers for each in refits])), rtol=0.1)
    assert_allclose(jackknife(found.weights), jackknife(np.array([each.weights for each in refits])), rtol=0.1)
