import math
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score
from tests.coded import raises

from mixsearch.metrics import Reference, average_precision

WORDS = ["moon", "orbit", "probe", "tax", "vote", "the", "never"]


def random_counts(seed, n_units=12):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.6, size=(n_units, len(WORDS)))
    counts[:, WORDS.index("the")] = 1
    counts[:, WORDS.index("never")] = 0
    counts[0, WORDS.index("moon")] = 2
    return counts


def units_with(counts, *words):
    """Count the units that contain all of the words, one by one."""
    columns = [WORDS.index(word) for word in words]
    return sum(all(row[column] > 0 for column in columns) for row in counts)


def pmi_of_pair(counts, a, b):
    n, both = len(counts), units_with(counts, a, b)
    if not (units_with(counts, a) and units_with(counts, b)):
        return 0
    independent = units_with(counts, a) / n * units_with(counts, b) / n
    return math.log(both / n / independent) if both else min(math.log(1 / n / independent), 0)


def npmi_of_pair(counts, a, b):
    n, both = len(counts), units_with(counts, a, b)
    if not (units_with(counts, a) and units_with(counts, b)) or both == n:
        return 0
    return pmi_of_pair(counts, a, b) / -math.log(both / n) if both else -1


@given(
    samples=st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=20).filter(
        lambda samples: any(relevant for relevant, _ in samples)
    )
)
def test_average_precision_agrees_with_scikit_learn_also_where_scores_are_equal(samples):
    relevant, scores = map(np.array, zip(*samples, strict=True))
    assert_allclose(average_precision(relevant, scores), average_precision_score(relevant, scores))


def test_a_ranking_without_anything_to_find_is_refused():
    with raises("no_relevant", n=3):
        average_precision([0, 0, 0], [1, 2, 3])


def test_a_score_for_every_sample_is_needed():
    with raises("bad_argument"):
        average_precision([0, 1, 0], [1, 2])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda counts: counts.tolist()])
def test_scores_agree_with_counting_pairs(seed, form):
    counts = random_counts(seed)
    reference = Reference(form(counts), WORDS)
    pmi, npmi = ([score(counts, "moon", word) for word in WORDS] for score in (pmi_of_pair, npmi_of_pair))
    every_pair = [npmi_of_pair(counts, a, b) for a, b in combinations(WORDS, 2)]
    assert_allclose(reference.pmi("moon", WORDS), np.mean(pmi), atol=1e-12)
    assert_allclose(reference.npmi_with("moon", WORDS), np.mean(npmi), atol=1e-12)
    assert_allclose(reference.npmi(WORDS), np.mean(every_pair), atol=1e-12)


def test_unknown_words_count_as_nothing_known():
    reference = Reference([[1, 1, 0], [1, 1, 0], [0, 0, 0]], ["moon", "orbit", "never"])
    assert "moon" in reference
    assert "never" not in reference
    assert "outside" not in reference
    alone = reference.pmi("moon", ["orbit"])
    assert_allclose(reference.pmi("moon", ["orbit", "never", "outside"]), alone / 3)
    assert_allclose(reference.npmi(["moon", "orbit", "outside"]), 1 / 3)


def test_stored_zeros_hold_no_word():
    counts = sp.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert "tax" not in Reference(counts, ["moon", "tax"])


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda reference: reference.pmi("sushi", ["moon"]), "unknown_word"),
        (lambda reference: reference.npmi_with("moon", []), "no_words"),
        (lambda reference: reference.npmi(["moon"]), "too_few_words"),
        (lambda _: Reference([[1]], ["moon", "tax"]), "vocabulary_length"),
    ],
)
def test_what_cannot_be_scored_is_named(ask, code):
    with raises(code):
        ask(Reference([[1]], ["moon"]))
