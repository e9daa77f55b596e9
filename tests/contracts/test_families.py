"""Every family keeps the contract of `mixsearch.core.family`, and the checks catch one that does not."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.core.moments import Hinted
from mixsearch.datasets import (
    make_gaussian_mixture,
    make_mixed_regression,
    make_topics,
)
from mixsearch.gaussian import GaussianFamily, fit_gaussian
from mixsearch.lda import fit_lda, read_counts, weight_documents
from mixsearch.regression import fit_regression
from mixsearch.testing import check_family
from mixsearch.testing.family import ExactSamples


def gaussian_fit(chunks):
    return fit_gaussian(chunks, 3, paper=False, seed=0)


def exact_gaussians():
    """Points around each center whose first three moments are those of N(μ, σ²I), weighted by repetition."""
    d, deviation, times = 5, 0.7, [1, 2, 3]
    centers = np.random.default_rng(1).standard_normal((3, d)) * 2
    around = deviation * np.sqrt(d) * np.vstack([np.eye(d), -np.eye(d)])
    X = np.vstack([np.tile(center + around, (n, 1)) for center, n in zip(centers, times, strict=True)])
    hint = np.linalg.pinv(centers)[:, 0]
    return ExactSamples(X, centers[0], 1 / 6, hint)


def gaussian_case():
    X = make_gaussian_mixture(4000, 10, 3, random_state=0).X
    return {"fit": gaussian_fit, "X": X, "exact": exact_gaussians()}


def change_designs(family, other):
    coefficients = other.design.whitener @ other.frame.unwhiten(np.eye(other.frame.n_components))
    return family.frame.whiten((family.design.unwhitener @ coefficients).T).T


def regression_case(paper):
    data = make_mixed_regression(40000, 4, 3, random_state=0)

    def fit(chunks):
        return fit_regression(chunks, 3, paper=paper, seed=0)

    return {"fit": fit, "X": data.X, "y": data.y, "change_frame": change_designs}


def lda_case(distinct):
    data = make_topics(4000, 60, 3, mean_length=60, random_state=0)

    def fit(chunks):
        documents = weight_documents(read_counts(chunks), distinct=distinct, by_length=distinct)
        return fit_lda(documents, 3, alpha0=float(data.alpha.sum()), distinct=distinct, metric=0.25 * distinct, seed=0)

    return {"fit": fit, "X": sp.csr_array(data.counts).astype(np.float64)}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(gaussian_case, id="gaussian"),
        pytest.param(lambda: regression_case(paper=False), id="regression"),
        pytest.param(lambda: regression_case(paper=True), id="regression-paper"),
        pytest.param(lambda: lda_case(distinct=True), id="lda"),
        pytest.param(lambda: lda_case(distinct=False), id="lda-plugin"),
    ],
)
def test_the_family_keeps_the_contract(case):
    check_family(**case())


@dataclass(frozen=True)
class Wrapped:
    """A family that delegates everything to another one, except what a subclass breaks."""

    inner: GaussianFamily

    def __getattr__(self, name):
        return getattr(self.inner, name)


class WrongHint(Wrapped):
    def hinted(self, hint):
        hinted = self.inner.hinted(hint)
        return Hinted(hinted.matrix + 1e-3, hinted.mean, hinted.hint)


class WrongReplicates(Wrapped):
    def leave_one_out(self, hint):
        replicates = self.inner.leave_one_out(hint)
        return replicates._replace(second=np.flip(replicates.second, axis=0))


class WrongResiduals(Wrapped):
    def residual_replicates(self, direction):
        return self.inner.residual_replicates(direction) + 1.0


@pytest.mark.parametrize(
    ("broken", "claim"),
    [
        (WrongHint, "linear in the hint"),
        (WrongReplicates, "differs from that of a refit"),
        (WrongResiduals, "residuals of all groups together vanish"),
    ],
)
def test_a_broken_family_is_caught(broken, claim):
    X = make_gaussian_mixture(2000, 8, 3, random_state=0).X
    with pytest.raises(AssertionError, match=claim):
        check_family(lambda chunks: broken(gaussian_fit(chunks)), X)


def test_a_family_that_depends_on_the_order_of_rows_is_caught():
    X = make_gaussian_mixture(2000, 8, 3, random_state=0).X

    def fit(chunks):
        first = chunks.chunk.samples[:1000]
        return replace(gaussian_fit(chunks), noise_mean=gaussian_fit(chunks).frame.whiten(first).mean(axis=0))

    with pytest.raises(AssertionError, match="in another order"):
        check_family(fit, X)


def test_an_object_that_lacks_a_member_is_not_a_family():
    class Fit:
        frame = mean = chunks = n_components = hinted = leave_one_out = None

    with pytest.raises(AssertionError, match="Fit lacks members of .*Family: residual_replicates"):
        check_family(lambda chunks: Fit(), np.zeros((10, 2)))


GUIDE = Path(__file__).parents[2] / "docs" / "adding-a-family.md"


def test_the_guide_adds_families_that_find_their_components(capsys):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(blocks)
    namespace: dict[str, object] = {"__name__": "guide"}
    exec(compile(code, str(GUIDE), "exec"), namespace)
    assert re.fullmatch(r"largest error \d\.\d\d, weight \d\.\d\d ± \d\.\d\d\n", capsys.readouterr().out)
    for name, truth in (("found", namespace["rates"]), ("found_view", namespace["means"])):
        found = namespace[name]
        assert np.all(np.abs(found.center - truth[1]) < 4 * found.stderr.center)
        assert abs(found.weight - 0.3) < 4 * found.stderr.weight
        assert found.stderr.weight < 0.05
        assert found.separation > 1.5
    assert len(code.splitlines()) < 240
