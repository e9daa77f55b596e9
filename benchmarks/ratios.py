"""The hot paths in units of this machine: CPU time over one sparse product, one matrix product, or one split of a text.

    python benchmarks/ratios.py             # beside the versions in ratios.csv
    python benchmarks/ratios.py --save      # and keep them there, as those of this version

A ratio is about the same on any machine, so that a change that makes something slower is seen. One thread, the least of
several rounds in which all paths take turns.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from measuring import print_table
from mixsearch.index import IndexOptions, Query, build_index, describe, open_index
from threadpoolctl import threadpool_limits

from mixsearch import GaussianSearch, RegressionSearch, SubspaceSearch, TopicSearch, __version__
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_subspaces, make_topics
from mixsearch.text import CorpusOptions, read_corpus

KEPT = Path(__file__).with_name("ratios.csv")
COLUMNS = ("version", "path", "ratio", "yardstick", "yardstick_ms")
ROUNDS = 5
# From here on a path is said to be slower than in the version before.
SLOWER = 1.3
SPARSE, DENSE, SPLIT = "sparse product", "matrix product", "split of a text"

Work = Callable[[], Any]


def make_paths(folder: Path) -> tuple[dict[str, Work], dict[str, tuple[str, Work]]]:
    """Return the yardsticks, and each path with the name of its yardstick."""
    topics = make_topics(n_documents=5000, n_words=2000, n_topics=20, random_state=0)
    counts, words = sp.csr_array(topics.counts, dtype=np.float64), [f"w{i}" for i in range(2000)]
    tall = np.random.default_rng(0).normal(size=(2000, 20))
    gaussians = make_gaussian_mixture(n_samples=10_000, n_features=100, n_components=10, random_state=0)
    lines = make_mixed_regression(n_samples=10_000, n_features=20, n_components=3, random_state=0)
    planes = make_subspaces(n_samples=5000, n_features=40, n_components=4, random_state=0)
    texts = [" ".join(f"word{j}" for j in row.indices) for row in (counts[[i]] for i in range(2000))]
    reading = CorpusOptions(stop_words=None, min_df=1, max_df=1.0)
    index = open_index(build_index(texts, folder / "x.index", IndexOptions(n_components=10), reading).path)
    fitted = {
        "topics": TopicSearch(n_components=20).fit(counts, vocabulary=words),
        "Gaussians": GaussianSearch(n_components=10).fit(gaussians.X),
        "regressions": RegressionSearch(n_components=3).fit(lines.X, lines.y),
    }
    hint = index.starters(1)[0].word
    # A new word each time: what is kept from one to the next would hide what a word costs.
    asked = itertools.cycle(word.word for word in index.starters(100))
    yardsticks = {
        SPARSE: lambda: counts @ tall,
        DENSE: lambda: gaussians.X.T @ gaussians.X,
        SPLIT: lambda: [text.lower().split() for text in texts],
    }
    return yardsticks, {
        "topics: fit": (SPARSE, lambda: TopicSearch(n_components=20).fit(counts, vocabulary=words)),
        "topics: a word": (SPARSE, lambda: fitted["topics"].search("w3")),
        "Gaussians: fit": (DENSE, lambda: GaussianSearch(n_components=10).fit(gaussians.X)),
        "Gaussians: an example": (DENSE, lambda: fitted["Gaussians"].search(examples=gaussians.X[:1])),
        "regressions: fit": (DENSE, lambda: RegressionSearch(n_components=3).fit(lines.X, lines.y)),
        "subspaces: fit": (DENSE, lambda: SubspaceSearch(n_components=4).fit(planes.X)),
        "texts: count words": (SPLIT, lambda: read_corpus(texts, reading).close()),
        "index: open": (SPLIT, lambda: open_index(index.path)),
        "index: a word": (SPLIT, lambda: index.search(hint).documents(10)),
        "index: an answer": (SPLIT, lambda: describe(index.find(Query("", words={next(asked): 1.0}))).as_dict()),
    }


def measure(works: dict[str, Work]) -> dict[str, float]:
    """Return the least CPU time of each, in seconds."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(ROUNDS + 1):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def read_kept() -> list[dict[str, str]]:
    """Return the ratios of all versions, the oldest first."""
    if not KEPT.exists():
        return []
    with KEPT.open(newline="") as file:
        return list(csv.DictReader(file))


def save(rows: list[dict[str, str]]) -> None:
    """Write the ratios of this version after those of the others."""
    kept = [row for row in read_kept() if row["version"] != __version__]
    with KEPT.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yardsticks, paths = make_paths(Path(folder))
        times = measure({**yardsticks, **{name: work for name, (_, work) in paths.items()}})
    rows = [
        {
            "version": __version__,
            "path": name,
            "ratio": f"{times[name] / times[unit]:.3g}",
            "yardstick": unit,
            "yardstick_ms": f"{1e3 * times[unit]:.3g}",
        }
        for name, (unit, _) in paths.items()
    ]
    before = {row["path"]: float(row["ratio"]) for row in read_kept() if row["version"] != __version__}
    shown = [(row["path"], row["ratio"], row["yardstick"], _compare(float(row["ratio"]), before.get(row["path"])))
             for row in rows]  # fmt: skip
    print_table(f"CPU time over a yardstick, version {__version__}", ("", "ratio", "of one", "before"), shown)
    if options.save:
        save(rows)


def _compare(ratio: float, before: float | None) -> str:
    if before is None:
        return ""
    return f"{before:.3g}" + (" slower!" if ratio > SLOWER * before else "")


if __name__ == "__main__":
    main()
