"""Refined answers: EM of the whole mixture, run once for all hints, and the component of it that a hint means."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Protocol, Self

import numpy as np
from scipy.special import ndtr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.check import check_answer
from mixsearch.core.component import Component
from mixsearch.core.estimator import BaseSearch
from mixsearch.core.extraction import Candidates, prefer
from mixsearch.core.family import F
from mixsearch.core.rows import Chunks
from mixsearch.core.validation import check_samples
from mixsearch.errors import SearchWarning
from mixsearch.mixture.check import check_fit, choose_component, hold_examples
from mixsearch.mixture.em import Fit, Model, P, fit_mixture, posterior, run_em
from mixsearch.mixture.errors import estimate_covariance


class MixtureModel(Model[P], Protocol[P]):
    """The likelihood of a family that reads rows itself, and has a name."""

    def read(self, chunk: Any) -> Any:
        """Return rows as the model takes them, from those of the fit."""

    @property
    def name(self) -> str:
        """The name of the model in warnings, such as "a regression with normal noise"."""


@dataclass(frozen=True)
class RefinedMixture(Generic[P]):
    """All components as EM fitted them."""

    model: MixtureModel[P]
    fit: Fit[P]
    centers: Array  # the parameters in the features of the fit, (k, d)
    p_values: Array  # of the test whether the samples of each component follow the model, (k,)
    order: Array  # the component of the mixture that each candidate is, (k,)
    outside: Any = None  # what a family needs for standard errors outside the signal space
    covariances: dict[int, Array] = field(default_factory=dict)  # of estimates, as far as somebody asked for them

    @property
    def params(self) -> P:
        """The parameters of all components."""
        return self.fit.params


# ---- The answer -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class MixtureComponent(Component):
    """A component of a mixture that EM can refine."""

    _refined: RefinedMixture[Any] | None = field(default=None, kw_only=True)
    _moment_candidates: Candidates | None = field(default=None, kw_only=True)  # before EM

    @property
    def _index(self) -> int:
        """The component of the refined mixture."""
        return int(self._refined.order[self._rank]) if self._refined else 0

    @cached_property
    def p_first(self) -> float:
        """The probability that the hint prefers this component on new samples too.

        From the errors of the answer or, after examples, of moments.
        """
        v = self._hint_in_features
        if self._refined is None or v is None or len(self.scores) == 1:
            return super().p_first
        other = self.alternatives[0]
        variances = [np.sum((v * each.stderr.center) ** 2) + each._hint_variance for each in (self, other)]
        return float(ndtr((self.center - other.center) @ v / np.sqrt(max(sum(variances), np.finfo(np.float64).tiny))))

    @property
    def _hint_in_features(self) -> Array | None:
        """The direction, (d,), whose products with refined centers are scores; None in a search by examples."""
        return None if self._hint is None else np.asarray(self._hint)

    @property
    def _hint_variance(self) -> float:
        """The variance of the score of a refined center that comes from the direction."""
        return 0.0

    @cached_property
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""
        return self._moment_center() if self._refined is None else self._refined.centers[self._index]

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return super().weight if self._refined is None else float(self._refined.params.weights[self._index])

    def _estimate_covariance(self) -> Array:
        """Estimate the covariance of the refined parameters, once for all answers from a mixture."""
        refined: Any = self._refined
        if self._index not in refined.covariances:
            rows = self._family.chunks.map(refined.model.read)
            refined.covariances[self._index] = estimate_covariance(refined.model, rows, refined.params, self._index)
        return np.asarray(refined.covariances[self._index])

    @property
    def moment_estimate(self) -> Self:
        """The estimate from moments alone, before EM."""
        candidates = self._moment_candidates or self._candidates
        return replace(self, _refined=None, _candidates=candidates, _moment_candidates=None, _rank=0)

    def _with_rank(self, rank: int) -> Self:
        return replace(self, _rank=rank, _warnings=())

    def membership(self, X: SamplesLike) -> Array:
        """Compute the probability that each sample belongs to this component.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples with the features of the fit.

        Returns
        -------
        array of shape (n,)

        Notes
        -----
        Before refinement, the other components are one Gaussian in the signal space, whose mean and covariance follow
        from the moments of all samples less those of this component.
        """
        samples = check_samples(X, len(self.center), self._feature_names)
        if len(self.scores) == 1:
            return np.ones(samples.shape[0])
        if self._refined is None:
            return self._moment_membership(samples)
        model = self._refined.model
        return posterior(model, model.read(self._family.read(samples)), self._refined.params)[:, self._index]

    @abstractmethod
    def _moment_membership(self, X: Samples) -> Array:
        """Compute memberships before refinement."""


def find_warnings(component: Any) -> list[SearchWarning]:
    """Find the reasons not to trust an answer."""
    refined = component._refined
    misfit = [] if refined is None else check_fit(float(refined.p_values[component._index]), refined.model.name)
    return [*check_answer(component), *misfit]


# ---- The search -----------------------------------------------------------------------------------------------------


class MixtureSearch(BaseSearch[F]):
    """A search whose refined answers come from EM of the whole mixture."""

    @abstractmethod
    def _start_em(self) -> tuple[MixtureModel[Any], Sequence[Any]]:
        """Return the likelihood of the family, and starts of EM, from moments."""

    @abstractmethod
    def _complete(self, model: Any, rows: Chunks[Any], fit: Fit[Any]) -> RefinedMixture[Any]:
        """Return a fitted mixture with its centers in all features, and the test of its fit."""

    def _get_mixture(self) -> RefinedMixture[Any]:
        """Return the whole mixture, which the first use fits. No hint enters."""
        mixture: RefinedMixture[Any] = self._share("mixture", self._fit_mixture)
        return mixture

    def _fit_mixture(self) -> RefinedMixture[Any]:
        """Fit the whole mixture."""
        model, starts = self._start_em()
        rows = self._read_rows(model)
        return self._complete(model, rows, fit_mixture(model, rows, starts))

    def _read_rows(self, model: MixtureModel[Any]) -> Chunks[Any]:
        """Return the samples of the fit as the model takes them."""
        return self._family.chunks.map(model.read)

    def _read(self, model: MixtureModel[Any], X: Samples) -> Any:
        """Return other samples as the model takes them."""
        family: Any = self._family
        return model.read(family.read(X))

    def _refine(self, component: Any, negative: Samples | None) -> Any:
        """Choose the component of the fitted mixture that the hint means, and hold examples that it contradicts."""
        mixture = self._get_mixture()
        if component._examples is not None:
            mixture = self._choose_by_examples(mixture, component._examples, negative)
        return order_by_hint(component, mixture, self._family.frame.whiten(mixture.centers).T)

    def _choose_by_examples(
        self, mixture: RefinedMixture[Any], positive: Samples, negative: Samples | None
    ) -> RefinedMixture[Any]:
        """Order the components by the likelihood of the examples, and hold examples that the mixture contradicts."""
        model, params = mixture.model, mixture.params
        chunks = [self._read(model, X) for X in (positive, negative) if X is not None]
        joint = [model.log_density(chunk, params) for chunk in chunks]
        order = np.argsort(-choose_component(joint[0], params.weights, *joint[1:]), kind="stable")
        held = hold_examples(chunks, joint, int(order[0]))
        if held is not None:
            rows = self._read_rows(model)
            mixture = self._complete(model, rows, run_em(model, rows, params, held))
        return replace(mixture, order=order)

    @available_if(lambda self: not self.__sklearn_tags__().target_tags.required)
    def score_samples(self, X: SamplesLike) -> Array:
        """Compute the log density of samples under the refined mixture, which the first call fits.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Samples.

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        mixture = self._get_mixture()
        rows = self._read(mixture.model, self._check_some(X))
        return np.asarray(np.logaddexp.reduce(mixture.model.log_density(rows, mixture.params), axis=1))


def order_by_hint(component: Any, mixture: RefinedMixture[Any], points: Array) -> Any:
    """Return a component refined to a mixture, whose centers in the frame are the columns of `points`, (k, k).

    Examples have ordered the components already; a direction orders them by their scores.
    """
    weights, scores = mixture.params.weights, points.T @ component._hinted.hint
    preference = prefer(scores, weights, component._choose)
    order = mixture.order if component._examples is not None else np.argsort(-preference, kind="stable")
    return replace(
        component,
        _refined=replace(mixture, order=order),
        _candidates=Candidates(points[:, order], weights[order], scores[order], preference[order]),
        _moment_candidates=component._candidates,
    )
