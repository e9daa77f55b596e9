"""Search in mixtures of subspaces."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.doubts import add_doubts, check_information, check_lead, lower_trust
from mixsearch.core.em import EMOptions, EMResult, em_options, not_refined
from mixsearch.core.estimator import MixtureCache, RandomState, SemiSupervised, warn_no_signal
from mixsearch.core.extraction import Extraction
from mixsearch.core.family import Preset
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.noise_edge import SignalCheck
from mixsearch.core.outliers import MIN_MEMBERS, find_outliers
from mixsearch.core.rank_selection import Spectrum, spherical_spectrum
from mixsearch.core.second_moment import MeasuredPartition, MeasuredSamples
from mixsearch.core.separation import check_separation
from mixsearch.core.validation import (
    AUTO,
    check_choice,
    check_n_components,
    check_n_features,
    check_n_samples,
    check_positive_int,
    reject_unknown_arguments,
)
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import ArgumentError, CenteredWarning, HintError, Option, WeakHintWarning, warn_user
from mixsearch.subspace.candidates import Outside, SubspaceCandidates
from mixsearch.subspace.component import Subspace
from mixsearch.subspace.em import SubspaceMixture
from mixsearch.subspace.family import SubspaceFamily, fit_subspace
from mixsearch.subspace.refinement import WalkedMembers
from mixsearch.subspace.shared import SharedFit, choose_shape, share_fit
from mixsearch.subspace.span_check import fit_doubts, no_whole_subspaces, span_doubts

# Examples may be near zero, where all subspaces meet: only with less confidence than this is their lead doubted.
MIN_EXAMPLE_CONFIDENCE = 0.8
# Samples of subspaces through zero have a mean this far from it in fewer than one of a million fits.
MIN_P_VALUE = 1e-6
# Far samples are members of a subspace that contains all but this share of their squared length, relative to the share
# that a random subspace leaves.
MAX_OUTSIDE = 0.2


class SubspaceSearch(SemiSupervised[SubspaceFamily]):
    """Find one subspace of a mixture from one or a few of its points.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of subspaces. "auto" counts the directions that stand out from the noise (`spectrum_`) and takes
        the nearest whole number of subspaces, at least one.
    dim : int or "auto", default=1
        r, the dimension of each. All of them together, k r, must stay below the number of features. "auto" chooses the
        dimension of each refined subspace, up to 8, by the Bayesian information criterion.
    center : bool or "auto", default="auto"
        Whether subspaces contain the mean of all samples rather than zero. "auto" chooses the mean if it differs
        significantly from zero, and warns: in the model the coordinates have mean zero. True is not allowed with
        ``preset="paper"``.
    self_expression : bool or "auto", default="auto"
        Whether memberships come from samples that express each other instead of the mixture, after a refined search
        with examples. "auto" chooses this if samples predict held-out features better than the mixture does, as with
        images. At most 2,000 evenly spaced samples express all others.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: the largest noise eigenvalue is the noise level, subspaces contain zero,
        outliers are kept and nothing is refined. By default the noise level is the average of all noise eigenvalues.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of subspaces of the fit.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``.
    dim_ : int
        The dimension of the subspaces, or the largest of them with ``dim="auto"``.
    noise_variance_ : float
        The variance of the noise.
    center_ : array of shape (d,)
        The point that all subspaces contain: zero, or the mean of all samples but outliers.
    outliers_ : array of int
        Rows of X that lie far from all others and were left out of the fit; not with ``preset="paper"``. Up to 1% of
        the samples may lie anywhere. Those that are close to each other, or in a subspace with others, are kept.
    component_ : Subspace
        The subspace of the known members, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch import SubspaceSearch
    >>> from mixsearch.datasets import make_subspaces
    >>> data = make_subspaces(5000, 40, 3, dim=2, random_state=0)
    >>> search = SubspaceSearch(n_components=3, dim=2).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 0][:3])
    >>> truth = data.bases[0]
    >>> bool(np.linalg.norm(found.basis @ found.basis.T - truth @ truth.T, 2) < 0.2)
    True
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        dim: int | Literal["auto"] = 1,
        center: bool | Literal["auto"] = "auto",
        self_expression: bool | Literal["auto"] = "auto",
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.dim = dim
        self.center = center
        self.self_expression = self_expression
        self.preset = preset
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Partitions[SamplePartition]:
        partitions = self._check_partitions(X)
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        dim = self._check_dim(is_paper=is_paper)
        check_n_features(partitions.n_features, minimum * dim + 1, f"{minimum} subspaces of dimension {dim} and noise")
        check_n_samples(partitions, minimum * dim + 1, f"{minimum} subspaces of dimension {dim}")
        self._check_center(is_paper=is_paper)
        check_choice("self_expression", self.self_expression, (True, False, AUTO))
        self._shared: MixtureCache[SharedFit] = MixtureCache()
        samples, origin = (partitions, None) if is_paper else self._place(partitions, dim)
        self.center_ = np.zeros(partitions.n_features) if origin is None else origin
        k = self._choose_n_components(
            samples, lambda: subspace_spectrum(samples, dim=dim, seed=self._draw_seed(), center=self.center_)
        )
        if self.dim == AUTO:
            known, n_signal = (None, self.spectrum_.n_signal) if self.n_components == AUTO else (k, 0)
            k, dim = choose_shape(samples, known, n_signal, origin, self._draw_seed())
        self.dim_ = dim
        family = fit_subspace(samples, k, dim=dim, paper=is_paper, seed=self._draw_seed(), origin=origin)
        self._family = replace(family, has_own_dims=self.dim == AUTO)
        if self.n_components == AUTO:
            check = SignalCheck(self.spectrum_.held_out, self.spectrum_.n_signal, is_sought=True)
            self._family = self._family if is_paper else replace(self._family, check=check)
            self._check_spectrum(dim)
        else:
            for doubt in fit_doubts(self._family):
                warn_user(doubt)
        self.noise_variance_ = self._family.noise_variance
        return partitions

    def _check_dim(self, *, is_paper: bool) -> int:
        """Return the dimension, or the least one if it is to be found."""
        if self.dim == AUTO and not is_paper:
            return 1
        check_positive_int("dim", self.dim)
        return int(self.dim)

    def _check_center(self, *, is_paper: bool) -> None:
        check_choice("center", self.center, (True, False, AUTO))
        if is_paper and self.center is True:
            raise ArgumentError(
                "{argument}=True does not apply with {preset}='paper': the paper's subspaces contain zero. Subtract "
                "the mean from X beforehand, or use the default preset.",
                code="not_for_paper",
                argument=Option("center"),
                preset=Option("preset"),
            )

    def _place(
        self, partitions: Partitions[SamplePartition], dim: int
    ) -> tuple[Partitions[SamplePartition], Array | None]:
        """Return the samples without outliers, and the point that all subspaces contain, None for zero."""
        found = find_outliers(partitions, partial(find_subspace_members, dim=dim))
        self.outliers_ = found.rows
        if len(found.rows):
            warn_user(found.warning())
        if self.center != AUTO:
            return found.samples, found.measured.mean if self.center else None
        p_value = off_origin_p_value(found.measured)
        if p_value >= MIN_P_VALUE:
            return found.samples, None
        warn_user(centered_warning(p_value))
        return found.samples, found.measured.mean

    def _check_spectrum(self, dim: int) -> None:
        """Warn if the directions that were counted do not make whole subspaces."""
        k, n_signal = self.spectrum_.n_components, self.spectrum_.n_signal
        warn_no_signal(self.spectrum_, "one subspace")
        if self.dim != AUTO and n_signal and n_signal != k * dim:
            warn_user(no_whole_subspaces(n_signal, dim, k))

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: SamplesLike | None = None,
        n_components: int | None = None,
        refine: bool | None = None,
        tol: float = 0.01,
        max_iter: int | None = None,
        **extraction: Any,
    ) -> Subspace:
        """Find the subspace that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A direction in the subspace. If subspaces contain zero (`center_`), that is any point in it; a sample off
            the origin belongs in `examples`.
        examples : array of shape (q, d), optional
            A few samples. If there are as many as the subspace has dimensions, they span it and are a far better hint.
        n_components : int, optional
            Use the span of the first j of the fitted subspaces only.
        refine : bool, optional
            Refine the estimate by EM, which returns the subspace that contains most of the hint even if moments do not
            identify it. The answer's `moment_estimate` is the one before. By default True, unless ``preset="paper"``.
        tol : float, default=0.01
            Stop EM when an iteration raises the total log-likelihood by less than this, in nats. Estimates then change
            by far less than their standard errors.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **extraction
            Only the defaults ``method="whitening"`` and ``choose="largest"``: Algorithm 3 reads a whole subspace off
            the top eigenvectors, so cancellation, shares and normalisers do not apply.

        Returns
        -------
        Subspace
        """
        self._check_extraction(extraction)
        options = self._em_options(refine, tol, max_iter)
        family = self._select_family(n_components)
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            return self._find_members(self._check_rows(examples, reset=False), family, options)
        v = hint_from_direction(hint, self.n_features_in_)
        found = self._extract((family.center + v)[None, :], family, v)
        found = check_information(found, family.information_p_value(v))
        if options is None:
            return self._check(found)
        shared = self._share(family, options, self_expression=False).mixture if family.has_own_dims else None
        return self._check(self._refine(found, options, shared))

    def _find_members(self, examples: Samples, family: SubspaceFamily, options: EMOptions | None) -> Subspace:
        found = self._extract(examples, family)
        if options is None or self._is_paper():
            return self._check(found if options is None else self._refine(found, options))
        shared = self._share(family, options, self.self_expression)
        if shared.expression is None:
            return self._check(self._refine(found, options, shared.mixture))
        walked = WalkedMembers.from_examples(shared.expression, examples, found.weight)
        return self._check(replace(found, _walked=walked.with_span(family)))

    def _share(self, family: SubspaceFamily, options: EMOptions, self_expression: bool | Literal["auto"]) -> SharedFit:
        """Return what all searches share, computed by the first of them."""
        key = (family.n_components, options, self_expression)
        return self._shared.get(key, lambda: share_fit(family, options, self_expression))

    def _refine(self, found: Subspace, options: EMOptions, shared: EMResult[SubspaceMixture] | None = None) -> Subspace:
        refined = found._candidates.refine(options, shared)
        return add_doubts(found, [not_refined()]) if refined is None else replace(found, _refined=refined)

    def _check(self, found: Subspace) -> Subspace:
        """Return an answer with its doubts."""
        trusted = found._span_trust()
        found = lower_trust(found, trusted)
        doubts = found._example_doubts() or ([] if found._walked else _lead_doubts(found))
        return add_doubts(found, [*span_doubts(found._family, trusted), *doubts])

    def _check_extraction(self, extraction: dict[str, Any]) -> None:
        allowed = {"method": "whitening", "choose": "largest"}
        known = list(Extraction.__dataclass_fields__)
        reject_unknown_arguments(self.search, [name for name in extraction if name not in known], known)
        for name, value in extraction.items():
            if value != allowed.get(name):
                raise ArgumentError(
                    "{argument}={value!r} does not apply to subspaces: Algorithm 3 reads a whole subspace off the top "
                    "eigenvectors of the whitened moment.",
                    code="not_for_subspaces",
                    argument=Option(name),
                    value=value,
                )

    def _search_examples(self, members: Samples) -> Subspace:
        return self._find_members(members, self._family, self._em_options())

    def _em_options(self, refine: Any = None, tol: Any = 0.01, max_iter: Any = None) -> EMOptions | None:
        return em_options(refine, tol, max_iter, needs_refinement=not self._is_paper())

    def _extract(self, points: Samples, family: SubspaceFamily, direction: Array | None = None) -> Subspace:
        """Find the subspace of some samples, or of one point that lies in a direction from the center."""
        Y, energies = family.locate(points)
        inside = float(np.sum(family.frame.values * Y**2))
        total = inside + family.n_noise * float(energies.sum())
        if not inside > 1e-20 * total:
            raise HintError(
                "The hint is orthogonal to every subspace. Give a sample of the wanted one.", code="hint_orthogonal"
            )
        hinted = family.hinted(family.frame.values * Y)
        find = SubspaceCandidates.from_printed_algorithm if self._is_paper() else SubspaceCandidates.from_hint
        beyond = None if direction is None else family.frame.residual(direction[:, None])[:, 0]
        candidates = find(family, hinted, Outside(energies, beyond))
        return Subspace(candidates, _feature_names=self._get_feature_names(), _hint_in_signal=inside / total)

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self._family.locate(X)[0], dtype=X.dtype)


def _lead_doubts(found: Subspace) -> list[WeakHintWarning]:
    """Return the doubt that the hint does not single out one subspace, if there is one."""
    if found._candidates.is_clear:
        return []
    if found._candidates.outside.are_samples:
        return check_lead(found, min_confidence=MIN_EXAMPLE_CONFIDENCE)
    is_known = any(isinstance(doubt, WeakHintWarning) for doubt in found.doubts)
    # Projections are simulated with the subspaces as they are: a tie may look certain.
    return check_lead(found) or ([] if is_known else check_separation(found.separation))


def off_origin_p_value(measured: MeasuredSamples) -> float:
    """Return how often samples of subspaces through zero have a mean as far from it, at most.

    Notes
    -----
    n |mean|² is a sum of squares of normal variables, whose variances sum to the trace of the covariance. Far out no
    such sum is more likely than a single square with all of the variance.
    """
    variance = float(measured.partitions.reduce(_sum_squares).total) / measured.partitions.n_rows
    energy = float(measured.mean @ measured.mean) * measured.partitions.n_rows
    return float(chi2.sf(energy / variance, 1)) if variance > 0 else 1.0


def _sum_squares(partition: MeasuredPartition) -> ArraySum:
    return ArraySum(float(np.sum(partition.squares)))


def centered_warning(p_value: float) -> CenteredWarning:
    """Return the warning that samples are taken relative to their mean."""
    return CenteredWarning(
        "The samples lie off the origin, so subspaces are taken through their mean. If they contain zero, set "
        "{argument} to False.",
        p_value=p_value,
        argument=Option("center"),
    )


def find_subspace_members(samples: Array, dim: int) -> Array:
    """Return which far samples lie in a subspace with enough others to be its members, (n,)."""
    n, d = samples.shape
    is_member, min_members = np.zeros(n, dtype=bool), 2 * dim + MIN_MEMBERS
    limit = MAX_OUTSIDE * (1 - dim / d)
    units = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    while np.sum(~is_member) >= min_members:
        rest = units[~is_member]
        basis = np.linalg.svd(rest, full_matrices=False)[2][:dim]
        inside = 1 - np.sum((rest @ basis.T) ** 2, axis=1) < limit
        if inside.sum() < min_members:
            break
        is_member[np.flatnonzero(~is_member)[inside]] = True
    return is_member


def subspace_spectrum(
    partitions: Partitions[SamplePartition], *, dim: int, seed: int, center: Array | None = None
) -> Spectrum:
    """Count the subspaces: the signal directions over the dimension of each, rounded, and at least one."""
    d = partitions.n_features
    origin = np.zeros(d) if center is None else center
    return spherical_spectrum(partitions, origin, lambda n: max(min(round(n / dim), (d - 1) // dim), 1), seed)
