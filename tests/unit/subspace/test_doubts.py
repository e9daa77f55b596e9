"""Doubts about an answer: examples, directions that say nothing, and too few subspaces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import warns

from mixsearch import SubspaceSearch
from mixsearch.datasets import make_subspaces
from mixsearch.errors import DoubtfulExamplesWarning, WeakHintWarning, collect_warnings
from mixsearch.subspace.posterior import Gaussian

data = make_subspaces(6000, 30, 3, dim=2, deviation=0.3, random_state=0)
search = SubspaceSearch(3, dim=2).fit(data.X)
span, _ = np.linalg.qr(np.hstack(list(data.bases)))


def long_members(component, n):
    """Take members that are longer than most: one near zero is near every subspace."""
    own = data.X[data.labels == component]
    lengths = np.linalg.norm(own @ data.bases[component], axis=1)
    return own[lengths > np.quantile(lengths, 0.7)][:n]


def ask(fitted=search, **hint):
    with collect_warnings() as issued:
        found = fitted.search(**hint)
    assert [str(each) for each in issued] == [str(each) for each in found.doubts]
    return found


@pytest.mark.parametrize(("refine", "target"), [(False, 0), (True, 2)])
def test_members_of_one_subspace_raise_no_doubt(refine, target):
    found = ask(examples=long_members(target, 4), refine=refine)
    assert found.doubts == ()
    assert found.confidence > 0.95


@pytest.mark.parametrize("refine", [False, True])
def test_an_example_of_another_subspace_is_named(refine):
    examples = np.vstack([long_members(0, 2), long_members(1, 1), long_members(0, 4)[2:]])
    found = ask(examples=examples, refine=refine)
    assert [doubt.code for doubt in found.doubts] == ["examples_disagree"]
    assert isinstance(found.doubts[0], DoubtfulExamplesWarning)
    assert found.doubts[0].fields["rows"] == [2]
    assert found.confidence < 0.5


@pytest.mark.parametrize(("refine", "where"), [(False, "outside the span"), (True, "in the subspace")])
def test_an_example_far_from_all_members_is_like_none(refine, where):
    if where == "in the subspace":
        strange = data.bases[0] @ [30.0, 20.0]
    else:
        drawn = np.random.default_rng(0).standard_normal(30)
        strange = data.bases[0] @ [1.0, 1.0] + 3 * (drawn - span @ (span.T @ drawn))
    found = ask(examples=np.vstack([long_members(0, 3), strange]), refine=refine)
    assert found.doubts[0].code == "examples_atypical"
    assert found.doubts[0].fields["rows"] == [3]
    assert found.confidence < 0.01


def test_squares_of_members_have_their_degrees_of_freedom():
    rng = np.random.default_rng(1)
    basis = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    own = Gaussian(basis, np.array([2.2, 1.2]), 0.2, 10)
    Z = rng.normal(size=(4000, 2)) * np.sqrt([2.0, 1.0]) @ basis.T + np.sqrt(0.2) * rng.normal(size=(4000, 5))
    energy = 0.2 * np.mean(rng.normal(size=(4000, 10)) ** 2, axis=1)
    assert_allclose([np.mean(squares) for squares in own.squares(Z, energy)], [2, 3, 10], rtol=0.06)
    assert np.mean([own.looks_typical(Z[i : i + 4], energy[i : i + 4]) for i in range(0, 4000, 4)]) > 0.98
    assert not own.looks_typical(Z[:4], energy[:4] + np.array([0, 0, 5, 0]))


@pytest.mark.parametrize("refine", [False, True])
def test_a_direction_outside_all_subspaces_says_nothing(refine):
    drawn = np.random.default_rng(2).standard_normal(30)
    found = ask(hint=drawn - span @ (span.T @ drawn), refine=refine)
    assert "hint_uninformative" in [doubt.code for doubt in found.doubts]
    assert isinstance(found.doubts[0], WeakHintWarning)
    assert found.confidence < 0.5
    assert found.hint_in_signal < 0.05


def test_p_values_of_directions_outside_all_subspaces_are_uniform():
    rng, p_values = np.random.default_rng(3), []
    for seed in range(20):
        drawn = make_subspaces(1500, 20, 2, dim=2, deviation=0.4, random_state=seed)
        family = SubspaceSearch(2, dim=2).fit(drawn.X)._family
        free = np.linalg.svd(np.hstack(list(drawn.bases)))[0][:, 4:]
        p_values += [family.information_p_value(free @ rng.standard_normal(16)) for _ in range(20)]
    for level in (0.1, 0.5, 0.9):
        assert np.mean(np.array(p_values) < level) == pytest.approx(level, abs=0.08)


@pytest.mark.parametrize("refine", [False, True])
def test_too_few_subspaces_are_noticed_by_the_fit_and_by_the_answer(refine):
    four = make_subspaces(6000, 30, 4, dim=2, deviation=0.3, random_state=0)
    with warns("too_few_components", n_signal=8, n_components=3, dim=2, n_used=6) as caught:
        fitted = SubspaceSearch(3, dim=2).fit(four.X)
    assert caught[0].message.code == "too_few_components"
    found = ask(fitted, hint=four.bases[0] @ [1, 1], refine=refine)
    assert [doubt.code for doubt in found.doubts] == ["too_few_components"]
    assert found.confidence < 0.97


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_subspaces_of_noise_alone_are_never_sure(refine):
    X = np.random.default_rng(7).standard_normal((2000, 20))
    with warns("no_signal"):
        fitted = SubspaceSearch(2, dim=2).fit(X)
    found = ask(fitted, examples=X[:3], refine=refine)
    assert "no_signal" in [doubt.code for doubt in found.doubts]
    assert found.confidence == 0
