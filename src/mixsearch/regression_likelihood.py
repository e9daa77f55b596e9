"""The likelihood of mixtures of linear regressions, and EM of all of them, from moments or from random lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.stats import chi2

from mixsearch._typing import Array, Samples
from mixsearch.core.extraction import Candidates, all_components
from mixsearch.core.frame import project
from mixsearch.core.moments import centered_sums, weighted_sums
from mixsearch.core.rows import Chunk, Chunks
from mixsearch.mixture.check import test_rows
from mixsearch.mixture.em import EMOptions, Fit, Held, fit_mixture, posterior, run_em
from mixsearch.mixture.tuning import TUNING
from mixsearch.regression_moments import RegressionChunk, RegressionFamily, check_moments

# A component starts EM with at least these fractions of an even weight and of the variance of y.
MIN_START_WEIGHT, START_NOISE = 0.2, 0.05
# Noise variances stay above these fractions of the average one and of the variance of y: a line through few samples
# has almost none.
MIN_VARIANCE, MIN_NOISE = 0.01, 1e-8
# With more features, EM runs in spans of slopes, on this many samples first.
MAX_FEATURES, SPAN_SAMPLES = 20, 20_000
# Coordinates of x that squared residuals are compared with.
MAX_TESTED = 8
# An example whose squared residual, relative to the noise, exceeds this in every component is an outlier.
MAX_SQUARE = 50.0
# BIC compares up to this many regressions.
MAX_COUNTED = 5
# Relative ridge of least squares, for columns that depend on each other in a component.
RIDGE = 1e-12

# ---- Likelihood -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureChunk(Chunk):
    """Samples as EM sees them."""

    features: Any  # 1 if there are intercepts, standardized x and the response, (n, q + 1), dense or sparse


class RegressionParameters(NamedTuple):
    """A mixture of regressions."""

    weights: Array  # (k,)
    coefficients: Array  # of all features but the response, (k, q)
    variances: Array  # of the noise, (k,)
    centers: Array | None = None  # of x, (k, r), in a joint model
    factors: Array | None = None  # F, (k, r, r): FF' inverts the covariance of x


@dataclass(frozen=True)
class RegressionModel:
    """The likelihood of y given x, or of x and y together if every component has its own Gaussian of x."""

    min_variance: float  # of the noise
    is_joint: bool = False
    n_dims: ClassVar[int] = 1

    def log_density(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute log αᵢ + log N(y; ⟨x, βᵢ⟩, σᵢ²), (n, k)."""
        constants = np.log(params.weights) - 0.5 * np.log(2 * np.pi * params.variances)
        logs = constants - 0.5 * self.squares(chunk, params)
        return np.asarray(logs + self._log_features(chunk, params) if self.is_joint else logs)

    def _log_features(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute log N(x; mᵢ, Sᵢ), (n, k), up to a constant, or (n, 1) with N(0, I) for a start without them."""
        Z = chunk.features[:, 1:-1]
        if params.centers is None or params.factors is None:
            return np.asarray(-0.5 * np.sum(Z**2, axis=1, keepdims=True))
        scaled = [(Z - center) @ factor for center, factor in zip(params.centers, params.factors, strict=True)]
        log_scales = np.log(np.einsum("kii->ki", params.factors)).sum(axis=1)
        return np.asarray(log_scales - 0.5 * np.stack([np.sum(U**2, axis=1) for U in scaled], axis=1))

    def squares(self, chunk: FeatureChunk, params: RegressionParameters) -> Array:
        """Compute (y - ⟨x, βᵢ⟩)² / σᵢ², (n, k)."""
        return np.asarray(compute_residuals(chunk, params) ** 2 / params.variances)

    def statistics(self, chunk: FeatureChunk, resp: Array) -> Array:
        """Sum 1 and the products of all features, weighted by responsibilities, (k, 1 + (q + 1)²)."""
        features = to_dense(chunk.features)
        scaled = (features * np.sqrt(column)[:, None] for column in resp.T)  # BLAS takes half the time for X'X
        return np.column_stack([resp.sum(axis=0), np.stack([(X.T @ X).ravel() for X in scaled])])

    def m_step(self, statistics: Array, weights: Array) -> RegressionParameters:
        """Compute weighted least squares."""
        gram = unpack_gram(statistics)
        sizes, squares, products = statistics[:, 0], gram[:, :-1, :-1], gram[:, :-1, -1]
        tiny, q = np.finfo(np.float64).tiny, squares.shape[1]
        ridge = RIDGE * np.trace(squares, axis1=1, axis2=2) / q + np.sqrt(tiny)
        coefficients = np.linalg.solve(squares + ridge[:, None, None] * np.eye(q), products[:, :, None])[:, :, 0]
        explained = np.sum(coefficients * (2 * products - np.einsum("kij,kj->ki", squares, coefficients)), axis=1)
        variances = np.maximum((gram[:, -1, -1] - explained) / np.maximum(sizes, tiny), self.min_variance)
        variances = np.maximum(variances, MIN_VARIANCE * (weights @ variances))
        params = RegressionParameters(np.maximum(weights, tiny), coefficients, variances)
        return self._add_gaussians(params, gram, sizes) if self.is_joint else params

    def _add_gaussians(self, params: RegressionParameters, gram: Array, sizes: Array) -> RegressionParameters:
        """Add the mean and covariance of x in every component, shrunk towards the average by r + 2 samples."""
        squares, r = gram[:, 1:-1, 1:-1], gram.shape[1] - 2
        sizes = np.maximum(sizes, np.finfo(np.float64).tiny)[:, None, None]
        centers = gram[:, 0, 1:-1] / sizes[:, :, 0]
        covariances = squares / sizes - np.einsum("ki,kj->kij", centers, centers)
        average = np.sum(sizes * covariances, axis=0) / sizes.sum() + MIN_VARIANCE * np.eye(r)
        covariances = (sizes * covariances + (r + 2) * average) / (sizes + r + 2)
        factors = np.linalg.inv(np.linalg.cholesky(covariances)).swapaxes(1, 2)
        return params._replace(centers=centers, factors=factors)

    def random_start(
        self, chunk: FeatureChunk, params: RegressionParameters, rng: np.random.Generator
    ) -> RegressionParameters:
        """Draw lines through a few samples each, which the lines before do not explain."""
        features, k = to_dense(chunk.features), len(params.weights)
        if self.is_joint and rng.random() < 0.5:  # or samples near each of k samples
            scaled = features / np.sqrt(features.var(axis=0) + self.min_variance)
            middles = scaled[rng.choice(len(scaled), size=k, replace=False)]
            nearest = np.argmin([np.sum((scaled - middle) ** 2, axis=1) for middle in middles], axis=0)
            return self.m_step(self.statistics(chunk, np.eye(k)[nearest]), np.eye(k)[nearest].mean(axis=0))
        (n, size), noise = features.shape, START_NOISE * float(np.var(features[:, -1]))
        lines, unexplained = [], np.full(n, np.inf)
        for _ in range(k):
            odds = np.minimum(unexplained, noise) + 1e-9 * noise  # bounded: an outlier must not be in every draw
            rows = rng.choice(n, size=min(size + 1, n), replace=False, p=odds / odds.sum())
            lines.append(np.linalg.lstsq(features[rows, :-1], features[rows, -1], rcond=1e-9)[0])
            unexplained = np.minimum(unexplained, (features[:, -1] - features[:, :-1] @ lines[-1]) ** 2)
        return RegressionParameters(np.full(k, 1 / k), np.array(lines), np.full(k, noise))

    def scores(self, chunk: FeatureChunk, params: RegressionParameters, component: int) -> Array:
        """Compute the scores by coefficients and by log σ², (n, q + 1)."""
        residuals, variance = compute_residuals(chunk, params)[:, component], params.variances[component]
        by_coefficients = to_dense(chunk.features)[:, :-1] * (residuals / variance)[:, None]
        return np.column_stack([by_coefficients, 0.5 * (residuals**2 / variance - 1)])

    def information(self, statistics: Array, params: RegressionParameters, component: int) -> Array:
        """Compute the information of known members about coefficients and log σ², (q + 1, q + 1)."""
        information: Array = unpack_gram(statistics[[component]])[0] / params.variances[component]
        information[-1], information[:, -1] = 0, 0
        information[-1, -1] = statistics[component, 0] / 2
        return information


def to_dense(features: Any) -> Array:
    """Return features as an array."""
    return features if isinstance(features, np.ndarray) else np.asarray(features.toarray())


def compute_residuals(chunk: FeatureChunk, params: RegressionParameters) -> Array:
    """Compute y - ⟨x, βᵢ⟩, (n, k); one row per component in memory, since sums over few columns are slow."""
    signed = np.column_stack([-params.coefficients, np.ones(len(params.weights))])
    return np.asarray(signed @ chunk.features.T).T


def unpack_gram(statistics: Array) -> Array:
    """Return the weighted products of all features, (k, q + 1, q + 1)."""
    size = int(np.sqrt(statistics.shape[1] - 1))
    return np.array(statistics[:, 1:].reshape(len(statistics), size, size))


# ---- EM of all components -------------------------------------------------------------------------------------------


class RefinedMixture(NamedTuple):
    """All components as EM fitted them."""

    model: RegressionModel
    fit: Fit[RegressionParameters]
    order: Array  # the component of the mixture that each candidate is, (k,)
    p_values: Array  # of the test whether the samples of each component follow the model, (k,)


def regressions_from_moments(family: RegressionFamily, candidates: Candidates) -> RegressionParameters:
    """Compute all candidates as regressions: the value at the mean of x, and the slopes in the signal space.

    Notes
    -----
    ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level. Without intercepts, it is the value at the mean of x of a regression
    through zero. ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ gives the noise variance.
    """
    slopes = np.sqrt(family.frame.values)[:, None] * candidates.points
    levels = candidates.points.T @ family.intercepts
    if not family.fit_intercept:
        coefficients = family.design.to_coefficients(family.frame.basis @ slopes)
        levels = family.design.center @ coefficients - family.offset
    explained = np.sum(slopes**2, axis=0)
    noise = candidates.points.T @ family.energies - explained - levels**2
    variances = np.maximum(noise, 1e-3 * explained)
    return RegressionParameters(candidates.weights, np.column_stack([levels, slopes.T]), variances)


def make_features(family: RegressionFamily, X: Samples, y: Array, basis: Array | None = None) -> Any:
    """Return the features of samples, (n, q + 1): 1 if there are intercepts, standardized x, and the response.

    With a basis, (r, q), x is projected onto it.
    """
    design, offset = family.design, family.offset
    if not family.fit_intercept:  # regressions through zero need an x that is not centered
        design, offset = replace(design, center=np.zeros_like(design.center)), 0.0
    Z = design.standardize(X) if basis is None else project(X, design.to_coefficients(basis), design.center)
    t = (y - offset)[:, None]
    columns: list[Any] = [np.ones_like(t), Z, t] if family.fit_intercept else [Z, t]
    return sp.csr_array(sp.hstack(columns)) if sp.issparse(Z) else np.hstack(columns)


def make_rows(family: RegressionFamily, basis: Array | None = None) -> Chunks[FeatureChunk]:
    """Return the samples of the fit as EM sees them."""
    fitted = family.without_samples

    def convert(chunk: RegressionChunk) -> FeatureChunk:
        features = make_features(fitted, chunk.samples, chunk.responses + fitted.offset, basis)
        return FeatureChunk(chunk.first, features)

    return family.chunks.map(convert).persist()


def multiply_slopes(params: RegressionParameters, matrix: Array) -> RegressionParameters:
    """Map slopes to another basis of x, and leave levels, if there are any, alone."""
    levels, slopes = np.split(params.coefficients, [params.coefficients.shape[1] - len(matrix)], axis=1)
    return params._replace(coefficients=np.hstack([levels, slopes @ matrix]))


def fit_in_spans(
    family: RegressionFamily,
    model: RegressionModel,
    start: RegressionParameters,
    options: EMOptions,
    held: tuple[Array, Array] | None = None,
) -> Fit[RegressionParameters]:
    """Run EM for many features: in the span of all slopes and of the gradients by them, again and again.

    A span contains the slopes before, so no iteration lowers the likelihood. x is standardized: outside the span the
    information is one k x k matrix for all directions if x is normal, and the gradients span the Newton step. `held`
    has the examples, with y as the last column, and the components that each may belong to.
    """
    params, tol, previous, r = start, 1.0, 0.0, family.design.n_coordinates
    history: list[float] = []
    for _ in range(options.max_iter):
        directions = np.vstack([params.coefficients[:, -r:], compute_gradient(family, model, params)])
        lengths = np.linalg.norm(directions, axis=1, keepdims=True)
        basis = scipy.linalg.orth((directions / np.where(lengths > 0, lengths, 1.0)).T)
        rows, inside = make_rows(family, basis), None
        if held is not None:
            features = make_features(family, held[0][:, :-1], held[0][:, -1], basis)
            inside = Held(FeatureChunk(0, features), held[1])
        rough = options._replace(tol=max(options.tol, tol))  # the next span gains more than the last nats here
        fit = run_em(model, rows, multiply_slopes(params, basis), rough, inside)
        params, history = multiply_slopes(fit.params, basis.T), [*history, *fit.log_likelihoods]
        gain = fit.log_likelihood - fit.log_likelihoods[0]
        if gain < options.tol or gain**2 < options.tol * previous:  # gains fall at least as fast from span to span
            break
        tol, previous = tol / 10, gain
    return Fit(params, tuple(history))


def compute_gradient(family: RegressionFamily, model: RegressionModel, params: RegressionParameters) -> Array:
    """Compute the gradient of the log-likelihood by all slopes, (k, r)."""
    r, k = family.design.n_coordinates, len(params.weights)
    slopes, levels = params.coefficients[:, -r:].T, params.coefficients[:, :-r]
    inside = params._replace(coefficients=np.hstack([levels, np.eye(k)]))

    fitted = family.without_samples

    def sum_chunk(chunk: RegressionChunk) -> Any:
        piece = FeatureChunk(0, make_features(fitted, chunk.samples, chunk.responses + fitted.offset, slopes))
        scores = posterior(model, piece, inside) * compute_residuals(piece, inside) / params.variances
        return weighted_sums(chunk.samples, scores)

    center = family.design.center * family.fit_intercept
    sums = centered_sums(center, family.chunks.sum(sum_chunk))
    return family.design.standardize_sums(sums).T


def start_from_moments(family: RegressionFamily) -> RegressionParameters:
    """Compute all components as the third moment shows them, none with too little weight or noise."""
    candidates = all_components(family.tensor(np.eye(family.frame.n_components)), family.mean)
    weights, coefficients, variances = regressions_from_moments(family, candidates)[:3]
    weights = np.maximum(weights, MIN_START_WEIGHT / len(weights))
    # No component can explain more than all of y.
    excess = np.sqrt(np.sum(coefficients[:, 1:] ** 2, axis=1) * weights / family.power)
    coefficients[:, 1:] /= np.maximum(excess, 1.0)[:, None]
    coefficients = coefficients if family.fit_intercept else coefficients[:, 1:]
    variances = np.clip(variances, START_NOISE * family.power, family.power)
    return RegressionParameters(weights / weights.sum(), coefficients, variances)


def fit_all_components(family: RegressionFamily, options: EMOptions, *, joint: bool = False) -> RefinedMixture:
    """Fit the whole mixture by EM. No hint enters, so one fit serves every search.

    Starts are drawn at random too if moments are unreliable, or samples are few: then the likelihood has many maxima.
    """
    model, n = RegressionModel(MIN_NOISE * family.power, joint), family.chunks.n_rows
    restart = joint or not (family.has_moments and n > TUNING.min_subset and check_moments(family) is None)
    basis, is_wide = family.frame.basis, family.design.n_coordinates > MAX_FEATURES
    subset = family.thin(SPAN_SAMPLES) if is_wide else family
    rows = make_rows(subset, basis) if is_wide else make_rows(family)
    start = draw_start(model, rows, family.n_components)
    if family.has_moments:
        start = start_from_moments(family)
        start = start if is_wide else multiply_slopes(start, basis.T)
    rough = options._replace(tol=max(options.tol, 1.0)) if is_wide else options
    fit = fit_mixture(model, rows, [start], rough, restart=restart)
    if is_wide:
        fit = fit_in_spans(subset, model, multiply_slopes(fit.params, basis.T), rough)
        fit = fit_in_spans(family, model, fit.params, options)
    return complete_mixture(family, model, fit)


def draw_start(model: RegressionModel, rows: Chunks[FeatureChunk], n_components: int) -> RegressionParameters:
    """Draw a start of EM."""
    subset = rows.thin(max(rows.n_rows // TUNING.min_subset, 1)).collect().chunk
    empty = RegressionParameters(np.zeros(n_components), np.zeros((n_components, 0)), np.zeros(n_components))
    return model.random_start(subset, empty, np.random.default_rng(1))


def complete_mixture(
    family: RegressionFamily, model: RegressionModel, fit: Fit[RegressionParameters]
) -> RefinedMixture:
    """Test whether samples follow a fitted mixture."""
    rows = make_rows(family.thin(TUNING.min_subset)).collect()
    of_spread = test_spread(model, family, rows.chunk, fit.params)
    p_values = np.minimum(2 * np.minimum(test_rows(model, rows, fit.params), of_spread), 1.0)
    p_values[fit.params.variances <= 2 * model.min_variance] = 1.0  # no noise, whose distribution could be wrong
    return RefinedMixture(model, fit, np.arange(len(p_values)), p_values)


def test_spread(
    model: RegressionModel, family: RegressionFamily, chunk: FeatureChunk, params: RegressionParameters
) -> Array:
    """Test whether squared residuals of a component depend on x, as those of two lines in one do: p-values, (k,).

    White's test: products of coordinates of x, centered over members, are uncorrelated with squared residuals,
    weighted by responsibilities, however much the component overlaps with others.
    """
    Z = to_dense(chunk.features)[:, int(family.fit_intercept) : -1]
    Z = Z if Z.shape[1] <= MAX_TESTED else Z @ family.frame.basis[:, :MAX_TESTED]
    one, other = np.triu_indices(Z.shape[1])
    products, resp, p_values = Z[:, one] * Z[:, other], posterior(model, chunk, params), []
    for weights, squares in zip(resp.T, model.squares(chunk, params).T, strict=True):
        centered = products - weights @ products / max(float(weights.sum()), 1.0)
        scores = centered * (weights * (squares - 1))[:, None]
        total, covariance = scores.sum(axis=0), scores.T @ scores
        statistic = total @ np.linalg.pinv(covariance, rcond=1e-9, hermitian=True) @ total
        p_values.append(chi2.sf(statistic, len(total)))
    return np.array(p_values)


def find_near(family: RegressionFamily, mixture: RefinedMixture, examples: Array) -> Array:
    """Find the examples, (q, d + 1), that are not outliers: some component is near, (q,)."""
    chunk = FeatureChunk(0, make_features(family, examples[:, :-1], examples[:, -1]))
    return np.asarray(mixture.model.squares(chunk, mixture.fit.params).min(axis=1) < MAX_SQUARE)


def fit_with_examples(
    family: RegressionFamily, mixture: RefinedMixture, examples: Array, held: Held, options: EMOptions
) -> RefinedMixture:
    """Fit the mixture again with examples, (q, d + 1), held in their component, also from the line of the examples."""
    params, component = mixture.fit.params, int(mixture.order[0])
    if family.design.n_coordinates > MAX_FEATURES:
        fit = fit_in_spans(family, mixture.model, params, options, (examples, held.allowed))
        return complete_mixture(family, mixture.model, fit)
    is_member = held.allowed[:, component]
    features, coefficients = held.chunk.features[is_member], params.coefficients.copy()
    # Least squares; what the examples do not determine stays as in the mixture.
    residuals = features[:, -1] - features[:, :-1] @ coefficients[component]
    coefficients[component] += np.linalg.lstsq(features[:, :-1], residuals, rcond=1e-2)[0]
    starts = [params, params._replace(coefficients=coefficients)]
    return complete_mixture(family, mixture.model, fit_mixture(mixture.model, make_rows(family), starts, options, held))


def count_regressions(family: RegressionFamily) -> int:
    """Choose the number of regressions by BIC, on a subset of the samples."""
    is_wide = family.design.n_coordinates > MAX_FEATURES
    rows = make_rows(family.thin(TUNING.min_subset), family.frame.basis if is_wide else None).collect()
    model, values = RegressionModel(MIN_NOISE * family.power), [-np.inf]
    for k in range(1, MAX_COUNTED + 1):
        fit = fit_mixture(model, rows, [draw_start(model, rows, k)], EMOptions(), restart=True)
        n_parameters = k * (fit.params.coefficients.shape[1] + 2) - 1
        values.append(fit.log_likelihood - 0.5 * n_parameters * np.log(rows.n_rows))
        if values[-1] < values[-2]:
            break
    return int(np.argmax(values))
