"""Compare the distances in a map of topics with the share of words that topics have in common."""

from __future__ import annotations

import numpy as np
from measuring import print_table
from mixsearch.index import map_topics, open_index
from mixsearch.index.compare import compute_overlaps
from mixsearch.index.layout import HEIGHT
from mixsearch.index.map import NEAR_TOPIC
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from web_demo import demo_index

from mixsearch.errors import collect_warnings


def run(*, quick: bool = False) -> None:
    rows = []
    with demo_index() as path:
        index = open_index(path)
        for by in ("distinctive", "frequent"):
            for n in (10,) if quick else (30, 80):
                mapped = map_topics(index, n=n, by=by)
                with collect_warnings():
                    found = [index.search(topic.words[0]) for topic in mapped.topics]
                upper = np.triu_indices(len(found), 1)
                shared = compute_overlaps([topic.probabilities for topic in found])[upper]
                drawn = pdist([(topic.x, topic.y * HEIGHT) for topic in mapped.topics])
                rows.append((f"{n} {by} words", str(len(found)), *_kept(drawn, shared)))
    heads = ("map of", "topics", "rank correlation", "nearest tenth", "farther half")
    print_table(f"Distances in the plane, and pairs that share {NEAR_TOPIC:.0%} of their words or more", heads, rows)


def _kept(drawn: np.ndarray, shared: np.ndarray) -> tuple[str, str, str]:
    order = np.argsort(drawn)
    nearest, farther = order[: max(len(order) // 10, 1)], order[len(order) // 2 :]
    correlation = spearmanr(drawn, 1 - shared).statistic
    near = [f"{np.mean(shared[pairs] >= NEAR_TOPIC):.0%}" for pairs in (nearest, farther)]
    return f"{correlation:.2f}", near[0], near[1]
