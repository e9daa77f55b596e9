import numpy as np
import pytest

from mixsearch import SearchError
from mixsearch.core.em import Steps, climb, steps_of


def follow(objectives):
    """A step that walks along a list of objectives, one state each."""
    return lambda state: (min(state + 1, len(objectives) - 1), objectives[state])


def test_steps_stop_where_they_gain_less_than_the_tolerance():
    climbed = climb(0, follow([0.0, 5.0, 5.5, 5.6, 9.0]), Steps(100, 0.2))
    assert climbed.state == 3
    assert climbed.objectives == (0.0, 5.0, 5.5, 5.6)
    assert climbed.n_steps == 3


def test_a_step_that_lowers_the_objective_is_undone():
    climbed = climb(0, follow([0.0, 5.0, 4.0, 9.0]), Steps(100, 0.0))
    assert climbed.state == 1
    assert climbed.objectives == (0.0, 5.0)


def test_a_step_into_nonsense_is_undone():
    assert climb(0, follow([0.0, 1.0, float("nan"), 2.0]), Steps(100, 0.0)).state == 1


@pytest.mark.parametrize("most", [1, 2])
def test_no_more_steps_are_taken_than_asked_for(most):
    assert climb(0, follow([0.0, 5.0, 9.0, 12.0]), Steps(most, 0.0)).state == most


def test_refine_is_a_switch_or_a_number_of_steps():
    assert steps_of(False, 0.01) is None
    assert steps_of(0, 0.01) is None
    assert steps_of(3, 0.5) == Steps(3, 0.5)
    assert steps_of(True, 0).most > 10


@pytest.mark.parametrize("refine", [-1, 2.5, "yes", None])
def test_refine_that_is_neither_is_named(refine):
    with pytest.raises(SearchError, match="refine must be True, False or a number of steps from 0; found"):
        steps_of(refine, 0.01)


@pytest.mark.parametrize("tol", [-0.1, float("nan"), "small"])
def test_a_tolerance_must_be_a_number_of_nats(tol):
    with pytest.raises(SearchError, match="tol must be a number of nats from 0; found"):
        steps_of(True, tol)


def test_switches_and_numbers_of_numpy_are_as_good():
    assert steps_of(np.True_, 0.01) == steps_of(True, 0.01)
    assert steps_of(np.False_, 0.01) is None
    assert steps_of(np.int64(3), np.float32(0.5)) == Steps(3, 0.5)
