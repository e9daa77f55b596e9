import pytest
from tests.coded import raises

from mixsearch.core.em import EMOptions, em_options, run_em


def follow(objectives):
    """Return a step of EM that goes through a list of objectives, one per state."""
    return lambda state: (min(state + 1, len(objectives) - 1), objectives[state])


def test_steps_stop_where_they_gain_less_than_the_tolerance():
    result = run_em(0, follow([0.0, 5.0, 5.5, 5.6, 9.0]), EMOptions(100, 0.2))
    assert result.state == 3
    assert result.objectives == (0.0, 5.0, 5.5, 5.6)
    assert result.n_iter == 3


def test_a_step_that_lowers_the_objective_is_undone():
    result = run_em(0, follow([0.0, 5.0, 4.0, 9.0]), EMOptions(100, 0.0))
    assert result.state == 1
    assert result.objectives == (0.0, 5.0)


def test_a_step_into_nonsense_is_undone():
    assert run_em(0, follow([0.0, 1.0, float("nan"), 2.0]), EMOptions(100, 0.0)).state == 1


@pytest.mark.parametrize("max_iter", [1, 2])
def test_no_more_steps_are_taken_than_asked_for(max_iter):
    assert run_em(0, follow([0.0, 5.0, 9.0, 12.0]), EMOptions(max_iter, 0.0)).state == max_iter


def test_refine_is_a_switch_and_the_limit_stands_beside_it():
    assert em_options(False, 0.01, None) is None
    assert em_options(False, 0.01, 3) is None
    assert em_options(True, 0.5, 3) == EMOptions(3, 0.5)
    assert em_options(True, 0, None).max_iter > 10


@pytest.mark.parametrize("refine", [0, 3, "yes"])
def test_refine_that_is_no_switch_is_named(refine):
    with raises("bad_argument", argument="refine", limit="max_iter"):
        em_options(refine, 0.01, None)


@pytest.mark.parametrize("max_iter", [0, 2.5])
def test_a_limit_is_a_positive_integer(max_iter):
    with raises("bad_argument", argument="max_iter"):
        em_options(True, 0.01, max_iter)


@pytest.mark.parametrize("tol", [-0.1, float("nan")])
def test_a_tolerance_must_be_a_number_of_nats(tol):
    with raises("bad_argument", argument="tol"):
        em_options(True, tol, None)
