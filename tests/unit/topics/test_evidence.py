"""Which words are typical of a topic."""

import numpy as np
import pytest

from mixsearch.topics._evidence import promote_words


@pytest.mark.parametrize("seed", range(2))
def test_a_word_of_the_hint_comes_before_every_word_that_it_surpasses(seed):
    rng = np.random.default_rng(seed)
    probabilities, word_mean = rng.dirichlet(np.ones(60), size=2)
    typicality = np.where(rng.random(60) < 0.7, rng.random(60), 0.0)
    promoted = promote_words(typicality, [np.array([3]), np.array([10, 20, 30])], probabilities, word_mean)
    likeliest = [10, 20, 30][np.argmax(probabilities[[10, 20, 30]])]
    for column in range(60):
        if column not in (3, likeliest):
            assert promoted[column] == typicality[column]
            continue
        is_surpassed = (probabilities <= probabilities[column]) & (
            probabilities / word_mean <= probabilities[column] / word_mean[column]
        )
        assert promoted[column] == max(typicality[is_surpassed])
