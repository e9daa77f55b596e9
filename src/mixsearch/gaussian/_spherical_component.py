"""One spherical Gaussian of a mixture, found by moments."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.doubts import MIN_P_VALUE, check_lead, trust
from mixsearch.core.example_fit import ExampleFit, confidence_without_model, posterior_of_all
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.errors import Option, SearchWarning, UnlikelyMixtureWarning
from mixsearch.gaussian._bootstrap import bootstrap_errors
from mixsearch.gaussian._component import (
    MIN_EXAMPLE_MEMBERSHIP,
    MISFIT_FACTOR,
    GaussianComponent,
    no_example_belongs,
    no_members,
)
from mixsearch.gaussian._family import GaussianFamily
from mixsearch.gaussian._jackknife import refined_gaussian_errors
from mixsearch.gaussian._mixture import SphericalMixture, responsibilities, signal_center, signal_features
from mixsearch.gaussian._refinement import RefinedGaussian
from mixsearch.gaussian._subset import MIN_MEMBERS, SubsetFit
from mixsearch.gaussian._units import units_differ

# Below this support the number of components is doubted, and weights differ by more than this many standard errors.
MIN_SUPPORT, MAX_DEVIATIONS = 0.9, 4.0
# Examples may be near the edge of a component: only with less confidence than this is the lead of their scores doubted.
MIN_EXAMPLE_CONFIDENCE = 0.8


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
