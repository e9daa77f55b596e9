"""One component beside packages that learn all: CPU time and quality on the same data, in the same run.

    python benchmarks/speed.py --only topics
    python benchmarks/speed.py --before ../rc1/src    # all figures of speed: ratios to limits and to an earlier version

tomotopy is left out if it is not installed (`make peers` does).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import ratios
import versions
from measuring import machine, print_table, ratio, seconds
from skimage.segmentation import random_walker
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.metrics import average_precision_score
from sklearn.mixture import GaussianMixture
from sklearn.semi_supervised import LabelSpreading
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, LdaSearch, TableSearch, segment
from mixsearch._typing import Array
from mixsearch.datasets import make_gaussian_mixture, make_landscape, make_topics

Works = dict[str, tuple[Callable[[], Any], Callable[[Any], float]]]
N_SWEEPS = 300


def nearest(truth: Array, rows: Array) -> float:
    """The distance of a vector to the nearest row."""
    return float(np.linalg.norm(np.asarray(rows) - truth, axis=1).min())


def topics(quick: bool) -> Works:
    """The topic of a word: the distance of its probabilities of words from the true ones."""
    data = make_topics(500 if quick else 3_000, 2_000, 10, random_state=0)
    word, truth = data.labelled_word(0), data.topics[0]

    def from_all(components: Array) -> float:
        return nearest(truth, components / components.sum(axis=1, keepdims=True))

    works: Works = {
        "mixsearch LdaSearch": (
            lambda: LdaSearch(n_components=10).fit(data.counts).search(words=[word]),
            lambda topic: nearest(truth, topic.center[None]),
        ),
        "the same, refined": (
            lambda: LdaSearch(n_components=10).fit(data.counts).search(words=[word], refine=True),
            lambda topic: nearest(truth, topic.center[None]),
        ),
        "scikit-learn LDA": (
            lambda: LatentDirichletAllocation(10, random_state=0).fit(data.counts),
            lambda model: from_all(model.components_),
        ),
        "scikit-learn NMF": (
            lambda: NMF(10, random_state=0, max_iter=500).fit(data.counts),
            lambda model: from_all(model.components_),
        ),
    }
    if find_spec("tomotopy"):
        works["tomotopy LDA"] = (lambda: sample_topics(data), from_all)
    return works


def sample_topics(data: Any) -> Array:
    """The topics of tomotopy's sampler, (k, d)."""
    import tomotopy

    model = tomotopy.LDAModel(k=10, seed=0)
    for row in data.counts:
        dense = row.toarray().ravel().astype(int)
        model.add_doc([str(word) for word in np.repeat(np.arange(len(dense)), dense)])
    model.train(N_SWEEPS, workers=1)
    order = [int(word) for word in model.used_vocabs]
    components = np.zeros((10, data.counts.shape[1]))
    components[:, order] = [model.get_topic_word_dist(topic) for topic in range(10)]
    return components


def gaussians(quick: bool) -> Works:
    """The center of one Gaussian from one sample of it: the distance to the true one."""
    data = make_gaussian_mixture(2_000 if quick else 10_000, 500, 10, random_state=0)
    truth = data.centers[data.labels[0]]
    return {
        "mixsearch GaussianSearch": (
            lambda: GaussianSearch(n_components=10).fit(data.X).search(examples=data.X[:1]),
            lambda component: nearest(truth, component.center[None]),
        ),
        "the same, refined": (
            lambda: GaussianSearch(n_components=10).fit(data.X).search(examples=data.X[:1], refine=True),
            lambda component: nearest(truth, component.center[None]),
        ),
        "scikit-learn GaussianMixture": (
            lambda: GaussianMixture(10, covariance_type="spherical", random_state=0).fit(data.X),
            lambda model: nearest(truth, model.means_),
        ),
        "scikit-learn KMeans, 10 restarts": (
            lambda: KMeans(10, n_init=10, random_state=0).fit(data.X),
            lambda model: nearest(truth, model.cluster_centers_),
        ),
    }


def rows(quick: bool) -> Works:
    """Rows of one of eight Gaussians from five: average precision."""
    data = make_gaussian_mixture(1_000 if quick else 10_000, 20, 8, norm=4.0, random_state=0)
    is_member = data.labels == 0
    examples = np.flatnonzero(is_member)[:5]
    marks = np.full(len(is_member), -1)
    marks[examples] = 1
    marks[np.flatnonzero(~is_member)[:50]] = 0  # label spreading needs rows of the other class; mixsearch has none
    unmarked = marks == -1

    def precision(scores: Array) -> float:
        return float(average_precision_score(is_member[unmarked], scores[unmarked]))

    return {
        "mixsearch TableSearch": (
            lambda: TableSearch().fit(data.X).search(examples=examples.tolist()),
            lambda found: precision(found.membership),
        ),
        "scikit-learn LabelSpreading": (
            lambda: LabelSpreading(kernel="knn").fit(data.X, marks),
            lambda model: precision(model.label_distributions_[:, 1]),
        ),
    }


def images(quick: bool) -> Works:
    """Three segments of a picture from a pixel each: the fraction of pixels that are right."""
    data = make_landscape(120 if quick else 480, 180 if quick else 720, random_state=0)
    marks = np.zeros(data.segments.shape, int)
    for label, name in enumerate(data.names, start=1):
        x, y = data.seeds[name]
        marks[y, x] = label

    def accuracy(labels: Array) -> float:
        return float(np.mean(labels == data.segments))

    return {
        "mixsearch segment": (lambda: segment(data.image, data.seeds), lambda found: accuracy(found.labels)),
        "scikit-image random_walker": (
            lambda: random_walker(data.image / 255.0, marks, mode="cg_j", tol=1e-3, channel_axis=-1),
            lambda labels: accuracy(labels - 1),
        ),
    }


TASKS = {
    "topics": ("one of ten topics, error", topics),
    "gaussians": ("one of ten Gaussians, error", gaussians),
    "rows": ("rows like five, average precision", rows),
    "images": ("three segments, accuracy", images),
}


def run(*, quick: bool = False, names: Sequence[str] = tuple(TASKS)) -> None:
    table = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task, make in (TASKS[name] for name in names):
            next(iter(make(quick=True).values()))[0]()  # what the first call loads is not part of any time
            times: dict[str, float] = {}
            for name, (work, judge) in make(quick).items():
                start = time.process_time()
                result = work()
                times[name] = time.process_time() - start
                first = next(iter(times.values()))
                table.append((task, name, seconds(times[name]), ratio(times[name] / first), f"{judge(result):.3f}"))
    print_table("CPU time of a fit and one search", ("task", "method", "time", "of mixsearch's", "quality"), table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the folder src of an earlier version")
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    options = parser.parse_args()
    print(machine())
    run(names=options.only)
    if options.before:
        ratios.run()
        versions.compare(options.before)
