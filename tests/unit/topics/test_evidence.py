"""Which words are typical of a topic."""

import numpy as np
import pytest

from mixsearch import TopicSearch
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


def test_fixed_words_of_a_template_do_not_hide_the_word_that_was_asked_for():
    rng = np.random.default_rng(0)
    others = [[f"other{i}" for i in rng.integers(200, size=40)] for _ in range(1500)]
    template = ["sign", "here", "model", "policy", "request", "identity", "evaluate", "pool"]
    filled = [[*template, *(f"field{i}" for i in rng.integers(150, size=25))] for _ in range(150)]
    about = [[*template, "sms", "sms", "phone", *(f"field{i}" for i in rng.integers(150, size=22))] for _ in range(30)]
    texts = [" ".join(words) for words in (*others, *filled, *about)]
    topic = TopicSearch(4, random_state=0).fit(texts).search("sms")
    words = topic.to_frame(50)
    asked = words[words.word == "sms"].iloc[0]
    surpassed = words[(words.probability < asked.probability) & (words.lift < asked.lift)]
    assert len(surpassed) > 5
    assert list(words.word).index("sms") < surpassed.index.min()
