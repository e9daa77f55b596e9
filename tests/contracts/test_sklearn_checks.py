"""Every estimator keeps scikit-learn's contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mixsearch import GaussianSearch, LdaSearch, RegressionSearch, SubspaceSearch, TopicSearch


@pytest.mark.filterwarnings("ignore")  # the checks pass labels and targets without a meaning for these models
@parametrize_with_checks(
    [
        GaussianSearch(n_components=2),
        LdaSearch(),
        TopicSearch(n_components=2),
        RegressionSearch(),
        RegressionSearch(n_components=1),
        RegressionSearch(n_components=1, preset="paper"),
        SubspaceSearch(),
        GaussianSearch(n_components="auto"),
        GaussianSearch(covariance="full"),
        GaussianSearch(n_components=2, covariance="full"),
        RegressionSearch(n_components="auto"),
        SubspaceSearch(n_components=1, self_expression=True),
    ]
)
def test_estimator_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)
