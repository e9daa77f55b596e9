"""One Gaussian of a mixture, spherical or of any shape."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.component import VectorComponent, format_interval
from mixsearch.core.doubts import MIN_P_VALUE, check_lead, trust
from mixsearch.core.example_fit import ExampleFit, confidence_without_model, posterior_of_all
from mixsearch.core.extraction import prefer
from mixsearch.core.jackknife import StandardErrors, draw_estimates, interval_of_lead, jackknife, probability_of_first
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.partitions import DetachedPartitions
from mixsearch.display import Card, plain_chance, plain_number
from mixsearch.errors import Option, SearchWarning, UnlikelyMixtureWarning
from mixsearch.gaussian.family import GaussianFamily
from mixsearch.gaussian.jackknife import bootstrap_errors, refined_gaussian_errors
from mixsearch.gaussian.mixture import SphericalMixture, responsibilities, signal_center, signal_features
from mixsearch.gaussian.refinement import RefinedGaussian
from mixsearch.gaussian.shaped_fit import ShapedFit
from mixsearch.gaussian.shapes import ShapedMixture
from mixsearch.gaussian.subset import MIN_MEMBERS, SubsetFit
from mixsearch.gaussian.units import units_differ

# What is left of the confidence of an answer to a direction if samples do not follow the model.
MISFIT_FACTOR = 0.8
# A component to which no example belongs with more than this probability is not theirs.
MIN_EXAMPLE_MEMBERSHIP = 0.01
# Below this support the number of components is doubted, and weights differ by more than this many standard errors.
MIN_SUPPORT, MAX_DEVIATIONS = 0.9, 4.0
# Examples may be near the edge of a component: only with less confidence than this is the lead of their scores doubted.
MIN_EXAMPLE_CONFIDENCE = 0.8


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(VectorComponent):
    """One Gaussian of a mixture.

    Attributes
    ----------
    covariance : array of shape (d, d)
        Its shape, in the units of the samples.
    noise_variance : float
        Its variance σ² in every direction; the average variance of a feature if it is not spherical.
    hint_in_signal : float
        The fraction of the hint's squared length that lies in the signal space, where centers differ: about k / d
        for a random direction.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> found = GaussianSearch(n_components=4).fit(data.X).search(examples=data.X[data.labels == 2][:3], refine=True)
    >>> bool(abs(found.weight - (data.labels == 2).mean()) < 3 * found.stderr.weight)
    True
    >>> members = found.membership(data.X) > 0.5
    >>> bool((members == (data.labels == 2)).mean() > 0.9)
    True
    """

    _hint_in_signal: float = field(default=1.0, kw_only=True)

    @property
    @abstractmethod
    def covariance(self) -> Array:
        """The covariance of the component, (d, d)."""

    @property
    @abstractmethod
    def noise_variance(self) -> float:
        """The variance of the component, on average over features."""

    @property
    def hint_in_signal(self) -> float:
        """The fraction of the hint's squared length that lies in the signal space."""
        return self._hint_in_signal

    def membership(self, X: SamplesLike) -> Array:
        """Return the probability that each sample belongs to this component.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Samples with the features of the fit, in their original units.

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Before refinement of a spherical component, compared in the signal space with one Gaussian for the rest of the
        mixture, whose mean and covariance follow from the moments of all samples minus those of this component;
        otherwise with all other components.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center))
            return rows
        samples = check_samples(X, len(self.center), self._feature_names)
        return np.asarray(self._membership(samples), dtype=np.float64)

    @abstractmethod
    def _membership(self, X: Samples) -> Array:
        """Return the probability of checked samples."""

    def _card(self) -> Card:
        card = replace(super()._card(), title=f"{GaussianComponent.__name__}, one of {len(self.scores)}")
        card.facts.insert(1, ("noise variance", plain_number(self.noise_variance)))
        return card


def no_example_belongs() -> UnlikelyMixtureWarning:
    """Return the doubt that the examples are members at all."""
    return UnlikelyMixtureWarning(
        "None of the examples belongs to the component found: the model does not suit the samples. Fit fewer "
        "components ({argument}), leave out features that hardly vary, or use `mixsearch.find`, which needs no model.",
        code="no_example_belongs",
        argument=Option("n_components"),
    )


def no_members(weight: float, n_samples: int) -> UnlikelyMixtureWarning:
    """Return the doubt that the component found has samples."""
    return UnlikelyMixtureWarning(
        "The component found has a weight of {weight:.2g}, less than one of the {n_samples:,} samples: no sample "
        "belongs to it. Fit fewer components ({argument}), or look at `alternatives`.",
        code="no_members",
        weight=weight,
        n_samples=n_samples,
        argument=Option("n_components"),
    )


@dataclass(frozen=True, repr=False, eq=False)
class SphericalComponent(SampleComponent, GaussianComponent):
    """One spherical Gaussian, as moments find it or after EM in the signal space."""

    _family: GaussianFamily = field(kw_only=True)
    _subset: SubsetFit = field(kw_only=True)
    _refined: RefinedGaussian | None = field(default=None, kw_only=True)
    _hint: Array | None = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Samples | None = field(default=None, kw_only=True)  # (q, d), of a search by examples

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means: that it comes first on new samples too.

        For examples, times the probability that they belong to this component and to no other. If samples do not follow
        the model, no such probability is known: then it is what the share of members among the examples shows.
        """
        suits, fit = trust(self._subset.p_value), self._example_fit
        if fit is None or self._examples is None:
            return self._support * self._hint_confidence * (suits + (1 - suits) * MISFIT_FACTOR)
        by_model, memberships = fit.confidence, self.membership(self._examples)
        if self._refined is None:
            # EM chooses the component by the examples themselves, moments by their mean: they may not even be members.
            by_model *= self._hint_confidence * min(1.0, 2 * float(memberships.mean()))
        return self._support * (suits * by_model + (1 - suits) * confidence_without_model(memberships))

    def _hint_shifts(self) -> Array | None:
        return None if self._hint is None else self._family.hint_shifts(self._hint)

    @cached_property
    def _mixture(self) -> SphericalMixture:
        """All components, this one first: refined, or as a subset of the samples shows them."""
        if self._refined is None:
            return self._subset.mixture.with_first(self._subset_index)
        return self._refined.mixture.take(self._subset.mixture.centers.shape[1])

    @cached_property
    def _subset_index(self) -> int:
        """The index of this component in the mixture of the subset."""
        if self._refined is not None:
            return self._subset.mixture.nearest_gaussian(self._mixture.centers[0], float(self._mixture.variances[0]))
        # Moments know the variance of a single component too roughly.
        return self._subset.mixture.nearest_center(signal_center(self._subset.family, self._point))

    @property
    def _fit_p_value(self) -> float:
        """The p-value of the test whether the samples of this component follow a spherical Gaussian."""
        return float(self._subset.p_values[self._subset_index])

    @cached_property
    def _example_fit(self) -> ExampleFit | None:
        """The agreement of the examples with this component, if it was searched by examples."""
        if self._examples is None:
            return None
        mixture, Z = self._mixture, signal_features(self._subset.family, self._examples)
        return ExampleFit(
            agreement=float(posterior_of_all((mixture.log_densities() @ Z).T, np.log(mixture.weights))[0]),
            posterior=responsibilities(mixture, Z)[0],
            p_values=self._subset.typical[self._subset_index].p_values(mixture.squared_distances(0, Z)),
            best_p_values=self._subset.best_p_values(Z),
        )

    @cached_property
    def _support(self) -> float:
        """The factor of the confidence that comes from the number of components: 1 if it suits the samples.

        Notes
        -----
        Moments of too few components mix those that are not there, and a direction may mean one of these. EM merges
        some and leaves others alone: a refined component that stands for several is not spherical. Of too many
        components some are noise, and EM may split one: its weight is then another one than among those that stand out
        from the noise.
        """
        check, n_used = self._family.check, self._family.n_components - 1
        if not self._has_members:
            return 0.0
        if check is None:
            return 1.0
        if check.n_signal > n_used:
            return check.share_of(n_used) if self._refined is None or self._examples is None else 1.0
        if check.n_signal == 0:
            return 0.0 if n_used or check.is_sought else 1.0
        if self._subset.family.n_components > n_used:
            return 1.0
        return self._share_in_signal() if self._refined is None else self._share_of_split()

    def _share_in_signal(self) -> float:
        """Return the share of the squared distance from the mean in directions that stand out from the noise."""
        own = signal_center(self._family, self._point) ** 2
        inside = own[: self._subset.family.n_components - 1]
        return float(inside.sum() / max(float(own.sum()), np.finfo(np.float64).tiny))

    def _share_of_split(self) -> float:
        """Return the ratio of the weight and that among fewer components, if it is more than chance."""
        known = float(self._subset.mixture.weights[self._subset_index])
        low, high = sorted([known, self.weight])
        chance = MAX_DEVIATIONS * np.sqrt(known * (1 - known) / self._subset.n_samples)
        return low / high if high - low > chance else 1.0

    @property
    def _has_members(self) -> bool:
        return self.weight * self._family.partitions.n_rows > MIN_MEMBERS

    def _find_doubts(self) -> list[SearchWarning]:
        """Return every reason not to trust the answer that is not known yet."""
        doubts: list[SearchWarning] = []
        if self._example_fit is None:
            doubts += check_lead(self)
        else:
            doubts += self._example_fit.doubts()
            if self._refined is None and not doubts:
                doubts += check_lead(self, min_confidence=MIN_EXAMPLE_CONFIDENCE)
            if self._examples is not None and self.membership(self._examples).max() < MIN_EXAMPLE_MEMBERSHIP:
                doubts.append(no_example_belongs())
        if self._family.unit_ratio is not None:
            doubts.append(units_differ(self._family.unit_ratio))
        else:
            doubts += [_misfit(self._fit_p_value)] if self._fit_p_value < MIN_P_VALUE else []
            doubts += self._family.doubts if self._support < MIN_SUPPORT else []
        if not self._has_members:
            doubts.append(no_members(self.weight, self._family.partitions.n_rows))
        return doubts

    def _refined_errors(self, refined: RefinedGaussian) -> StandardErrors:
        if self._subset.p_value < MIN_P_VALUE and not self._family.is_paper:
            return bootstrap_errors(self._family, refined)
        return refined_gaussian_errors(self._family, refined)

    @property
    def noise_variance(self) -> float:
        """The variance σ² of this component in every direction.

        Notes
        -----
        m~ = Σ αᵢσᵢ²μᵢ, so ⟨u₁, W'm~⟩ = √α₁σ₁², with u₁ = √α₁W'μ₁. An estimate that noise makes negative, or larger than
        all noise there is, is replaced by the average variance.
        """
        if self._refined is not None:
            return self._refined.noise_variance
        own = float(self._point @ self._family.noise_mean)
        limit = self._family.noise_variance / self.weight
        return own if 0 < own <= limit else self._family.positive_noise

    @property
    def covariance(self) -> Array:
        """The covariance of the component, (d, d): σ² in every direction."""
        return np.asarray(self.noise_variance * np.eye(len(self.center)))

    def _membership(self, X: Samples) -> Array:
        if len(self.scores) == 1:
            return np.ones(X.shape[0])  # there is no rest
        if self._refined is None:
            return self._moment_membership(self._frame.whiten(X))
        return np.asarray(responsibilities(self._refined.mixture, signal_features(self._family, X))[0])

    def _moment_membership(self, Y: Array) -> Array:
        free = self._frame.spread > 0  # the constant coordinate carries no information
        noise, point = np.diag(self._frame.spread[free]), self._point[free]
        weight = clip_weight(self.weight)
        rest_mean = (self._family.mean[free] - weight * point) / (1 - weight)
        total = np.eye(len(point)) + self._family.positive_noise * noise
        own = np.outer(point, point) + self.noise_variance * noise
        rest = (total - weight * own) / (1 - weight) - np.outer(rest_mean, rest_mean)
        return posterior(
            weight,
            log_normal(Y[:, free] - point, self.noise_variance * noise),
            log_normal(Y[:, free] - rest_mean, rest, floor=0.5 * self._family.positive_noise * noise),
        )


def _misfit(p_value: float) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The samples of this component do not look like a spherical Gaussian (p-value {p_value:.1g}): its weight, "
        "memberships and standard errors are rough. Fit components of any shape ({shape}='auto') first. Otherwise fit "
        "more components ({argument}), or scale the features ({scale}=True).",
        code="not_spherical",
        p_value=p_value,
        argument=Option("n_components"),
        scale=Option("scale"),
        shape=Option("covariance"),
    )


@dataclass(frozen=True, repr=False, eq=False)
class ShapedComponent(GaussianComponent):
    """One Gaussian of a mixture of any shape. Its candidates are the components of that mixture."""

    _fit: ShapedFit = field(kw_only=True)
    _start: ShapedFit = field(kw_only=True)  # from part of the samples, before EM of all of them
    _order: Array = field(kw_only=True)  # the index in the mixture of every candidate, (k,)
    _choose: str = field(kw_only=True)
    _hint: Array | None = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Array | None = field(default=None, kw_only=True)  # (q, d), in the units of the fit
    _held: ShapedMixture | None = field(default=None, kw_only=True)  # with the examples held in their component

    @property
    def _index(self) -> int:
        """The index of this component in its mixture."""
        return int(self._order[self._rank])

    @property
    def _mixture(self) -> ShapedMixture:
        return self._fit.mixture if self._held is None else self._held

    @cached_property
    def center(self) -> Array:
        """The component's parameter μ, (d,)."""
        return self._fit.units.restore(self._mixture.centers[self._index])

    @property
    def weight(self) -> float:
        """The component's share of the mixture."""
        return float(self._mixture.weights[self._index])

    @cached_property
    def covariance(self) -> Array:
        """The covariance of the component, (d, d)."""
        scale = self._fit.units.scale
        return np.asarray(self._mixture.covariance(self._index) * np.outer(scale, scale))

    @property
    def noise_variance(self) -> float:
        """The average variance of a feature within the component."""
        return float(np.trace(self.covariance)) / len(self.center)

    @property
    def moment_estimate(self) -> Self:
        """The estimate before EM of all samples: from part of them, where components were split along moments."""
        start = self._start
        points, weights = start.frame.whiten(start.centers[self._order]).T, start.mixture.weights[self._order]
        candidates = replace(self._candidates, points=points, weights=weights)
        return replace(self, _fit=start, _frame=start.frame, _candidates=candidates, _held=None)

    def _with_rank(self, rank: int) -> Self:
        return replace(self, _rank=rank, _held=None, _doubts=())

    def _membership(self, X: Samples) -> Array:
        resp, _ = self._mixture.posterior(self._fit.units.standardize(X))
        return np.asarray(resp[:, self._index])

    @cached_property
    def stderr(self) -> StandardErrors:
        """Standard errors of `center` and `weight`; a 95% interval is 1.96 of them to each side."""
        replicates = self._fit.replicates
        center = jackknife(replicates.centers[:, self._index]) * self._fit.units.scale
        return StandardErrors(center, float(jackknife(replicates.weights[:, self._index])))

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means.

        For a direction, that it comes first on new samples too. For examples, that they belong to this component and to
        no other. If samples do not follow the model, no such probability is known: then it is what the share of members
        among the examples shows.
        """
        if not self._has_members:
            return 0.0
        suits = trust(self._fit.p_value)
        if self._examples is None:
            return self._hint_confidence * (suits + (1 - suits) * MISFIT_FACTOR)
        memberships = self._fit.mixture.posterior(self._examples)[0][:, self._index]
        return suits * self._example_fit.confidence + (1 - suits) * confidence_without_model(memberships)

    @property
    def _hint_confidence(self) -> float:
        return probability_of_first(self._preferences, self._rank)

    @property
    def separation_interval(self) -> tuple[float, float]:
        """A 95% interval of `separation`, from the noise of the scores."""
        return interval_of_lead(self._preferences, self._rank)

    @cached_property
    def _preferences(self) -> Array:
        """The scores of the components on simulated samples, (n, k)."""
        fit, v = self._fit, self._score_direction
        origin = 0.0 if self._examples is None else fit.mean
        scores = (fit.units.restore(fit.replicates.centers[:, self._order]) - origin) @ v
        replicates = prefer(scores, fit.replicates.weights[:, self._order], self._choose)
        return draw_estimates(self._candidates.preference, replicates)

    @property
    def _score_direction(self) -> Array:
        return discriminant(self._fit, self._example_rows) if self._hint is None else self._hint

    @property
    def _example_rows(self) -> Array:
        return np.empty((0, len(self.center))) if self._examples is None else self._examples

    @cached_property
    def _example_fit(self) -> ExampleFit:
        """The agreement of the examples with this component, before any of them is held in it."""
        mixture, Z, typical = self._fit.mixture, self._example_rows, self._fit.typical
        log_weights = np.log(mixture.weights)
        squares = mixture.squared_distances(Z)
        p_values = np.column_stack([each.p_values(squares[:, i]) for i, each in enumerate(typical)])
        return ExampleFit(
            agreement=float(posterior_of_all(mixture.log_densities(Z) + log_weights, log_weights)[self._index]),
            posterior=mixture.posterior(Z)[0][:, self._index],
            p_values=p_values[:, self._index],
            best_p_values=p_values.max(axis=1),
        )

    @property
    def _has_members(self) -> bool:
        return self.weight * self._fit.partitions.n_rows > MIN_MEMBERS

    def _find_doubts(self) -> list[SearchWarning]:
        """Return every reason not to trust the answer."""
        doubts: list[SearchWarning] = []
        if self._examples is None:
            doubts += check_lead(self)
        else:
            doubts += self._example_fit.doubts()
            if self._mixture.posterior(self._examples)[0][:, self._index].max() < MIN_EXAMPLE_MEMBERSHIP:
                doubts.append(no_example_belongs())
        p_value = float(self._fit.p_values[self._index])
        if p_value < MIN_P_VALUE:
            doubts.append(_shape_misfit(p_value, self._mixture.shape))
        if not self._has_members:
            doubts.append(no_members(self.weight, self._fit.partitions.n_rows))
        return doubts

    def _trust_facts(self) -> list[tuple[str, str]]:
        if isinstance(self._fit.partitions, DetachedPartitions):
            return super()._trust_facts()
        return [
            ("confidence", plain_chance(self.confidence)),
            ("separation", format_interval(self.separation, self.separation_interval)),
        ]


def discriminant(fit: ShapedFit, examples: Array) -> Array:
    """Return the direction, (d,), that separates examples best from all samples, by the average covariance within."""
    mixture = fit.mixture
    away = examples.mean(axis=0) - mixture.weights @ mixture.centers
    return np.asarray(np.linalg.solve(mixture.average_covariance, away) / fit.units.scale)


def _shape_misfit(p_value: float, shape: str) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "The samples of this component do not look like a Gaussian with a {shape} covariance (p-value {p_value:.1g}): "
        "its weight, memberships and standard errors are rough. Fit more components ({argument}) or another shape "
        "({other}), or use `mixsearch.find`, which needs no model.",
        code="not_gaussian",
        shape=shape,
        p_value=p_value,
        argument=Option("n_components"),
        other=Option("covariance"),
    )
