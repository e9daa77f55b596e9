"""Examples of one component, of several, and of none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from mixsearch.confidence import (
    PRIOR_OF_DISAGREEMENT,
    ExampleFit,
    ExampleNames,
    confidence_without_model,
    posterior_of_all,
)

WEIGHTS = np.array([0.2, 0.5, 0.3])
CENTERS = np.array([-1.0, 0.5, 4.0])


def joint(x):
    """Return log αᵢpᵢ(x) of three normal components, (q, 3)."""
    return np.log(WEIGHTS) + norm.logpdf(np.asarray(x)[:, None], CENTERS)


def brute_force(x):
    """Return the posterior by summing over all ways in which examples may be drawn."""
    densities = np.exp(joint(x))
    agreeing, total = np.zeros(3), 0.0
    for labels in np.ndindex(*(3,) * len(x)):
        product = float(np.prod(densities[np.arange(len(x)), labels]))
        if len(set(labels)) == 1:
            agreeing[labels[0]] = product / WEIGHTS[labels[0]] ** (len(x) - 1)
        else:
            total += product
    odds = np.append((1 - PRIOR_OF_DISAGREEMENT) * agreeing, PRIOR_OF_DISAGREEMENT * total)
    return odds[:-1] / odds.sum()


@pytest.mark.parametrize("x", [[0.3], [0.3, 0.4], [-1.0, 0.6, 0.1], [0.5, 4.2, 4.0, 3.0]])
def test_the_posterior_of_all_is_the_sum_over_all_draws(x):
    assert_allclose(posterior_of_all(joint(x), np.log(WEIGHTS)), brute_force(x), rtol=1e-6)


def test_without_a_model_examples_count_as_draws():
    shares = np.array([confidence_without_model(np.array([1.0] * m + [0.0] * (5 - m))) for m in range(6)])
    assert np.all(np.diff(shares) > 0)
    assert shares[0] < 0.05
    assert 0.75 < shares[5] < 0.85
    assert confidence_without_model(np.ones(1)) < 0.5 < confidence_without_model(np.ones(3))


def test_warnings_name_the_examples():
    p_values, best = np.array([0.5, 1e-9, 0.0, 0.5, 0.0]), np.array([0.5, 1e-9, 0.4, 0.5, 0.6])
    fit = ExampleFit(0.0, np.array([1.0, 1.0, 0.0, 1.0, 0.0]), p_values, best)
    atypical, other = fit.warnings()
    assert (atypical.code, atypical.fields["rows"]) == ("examples_atypical", [1])
    assert (other.code, other.fields["rows"]) == ("examples_disagree", [2, 4])
    assert fit.confidence == 0


def test_examples_with_names_are_called_by_them():
    fit = ExampleFit(0.0, np.array([1.0, 0.0, 0.0]), np.ones(3), np.ones(3))
    (warning,) = fit.warnings(ExampleNames("node", ["Valjean", "Javert", "{Cosette}"]))
    assert (warning.fields["rows"], warning.fields["names"]) == ([1, 2], ["Javert", "{Cosette}"])
    assert "Javert and {Cosette}" in str(warning)
