"""Documents of an LDA model: accuracy from one labeled word, compared with the tensor power method."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from mixsearch import LdaSearch, search_family
from mixsearch._typing import Array
from mixsearch.core.family import Preset
from mixsearch.datasets import make_topics
from mixsearch.datasets.topics import TopicData
from paper_experiments.baselines import compute_third_moment, fast_tensor_power, tensor_power
from paper_experiments.cancellation import cancel
from paper_experiments.experiment import Case, Experiment, Result, make_cases
from paper_experiments.figures import Comparison

D = 500
ALPHA = np.array([0.1, 0.15, 0.2, 0.25, 0.3])
# The moments: the paper's plug-in, or those of different words of a document.
PRESETS: dict[str, Preset] = {"paper's": "paper", "our": "default"}
OVER_TPM = Comparison("TPM", "share of the topic", shade="length")


def run_errors(case: Case) -> Iterator[Result]:
    """Measure the errors of all topics, each from its most distinctive word."""
    data = make_topics(
        int(case.setting["n"]),
        D,
        len(ALPHA),
        mean_length=float(case.setting["length"]),
        alpha=ALPHA,
        random_state=case.seed,
    )
    methods, oracle = _methods(data, case), data.oracle()
    for topic, truth in enumerate(data.topics):
        word, name = data.labelled_word(topic), f"{100 * ALPHA[topic] / ALPHA.sum():.0f}%"
        for method, answer in methods.items():
            yield Result(method, "error", float(np.linalg.norm(answer(word) - truth)), target=name)
        yield Result("oracle", "error", float(np.linalg.norm(oracle[topic] - truth)), target=name)


def _methods(data: TopicData, case: Case) -> dict[str, Callable[[int], Array]]:
    """Return each method as a function from a labeled word to a topic, (d,)."""
    choice = str(case.setting["moments"])
    search = LdaSearch(len(ALPHA), alpha0=float(ALPHA.sum()), preset=PRESETS[choice]).fit(data.counts)
    third = compute_third_moment(search)
    everything = tensor_power(third, random_state=case.seed)
    hints = np.eye(D)
    is_ours = choice == "our"

    def find(word: int) -> Array:
        """Contract with the word in the paper's experiment, and with its projection in ours."""
        found = search_family(search._family, hints[word], rehint=False) if is_ours else search.search(words=word)
        return found.center

    methods: dict[str, Callable[[int], Array]] = {
        "whitening": find,
        # The paper minimises |Z|* + λ. The minimum is at 0 for a word as it is, and at the exact λ if the hint is
        # scaled so that the trace of B is just above 1. So this is whitening with another normaliser.
        "cancellation": lambda word: cancel(search.search(words=word)),
        "Fast-TPM": lambda word: fast_tensor_power(third, hints[word]).center,
        "TPM": lambda word: everything.find_component(hints[word]).center,
    }
    if is_ours:
        methods["refined"] = lambda word: search.search(words=word, refine=True).center
    return methods


ERRORS: Experiment = Experiment(
    name="lda-error",
    shows="Figure 4",
    title=f"Topics of LDA: error gain over the tensor power method, k={len(ALPHA)}, d={D}",
    claim="Whitening gains over TPM and Fast-TPM, more with more documents; it differs between topics.",
    cases=lambda quick: make_cases(
        [
            {"moments": choice, "length": length, "n": n}
            for choice in PRESETS
            for length in (2000, 3000)
            for n in (4000, 6000, 8000)
        ],
        1 if quick else 10,
    ),
    run=run_errors,
    draw=lambda rows: OVER_TPM.draw_gains(rows, ERRORS.title),
    table=OVER_TPM.format_errors,
    page=OVER_TPM.format_gains,
    seconds=(700, 70),
)
