"""Adding documents to a large index, and searching it afterwards.

    python benchmarks/living_index.py
    python benchmarks/living_index.py --documents 300000 --words 20000

Prints the time of an addition of 1% of the documents as a part of the time of building the index, and that of searches
after ten additions as a multiple of those before, all in one process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from measuring import machine
from mixsearch.index import IndexOptions, TopicIndex, add_documents, build_index, open_index
from workloads import EVERY_WORD, write_texts


def draw_counts(n: int, n_words: int, seed: int, length: int = 120) -> sp.csr_array:
    """Documents of two of a hundred topics each, of words whose frequencies fall as in texts."""
    rng = np.random.default_rng(seed)
    ranks = 1 / np.arange(10, n_words + 10)
    common = np.cumsum(ranks / ranks.sum())
    topic = rng.integers(0, 100, n)
    words = np.searchsorted(common, rng.random((n, length))).astype(np.int32)
    # Half of the words of a document are moved to those of its topic.
    own = rng.random((n, length)) < 0.5
    words = np.where(own, (words * 100 + topic[:, None]) % n_words, words)
    rows = np.repeat(np.arange(n), length)
    counts = sp.csr_array((np.ones(words.size, dtype=np.int32), (rows, words.ravel())), shape=(n, n_words))
    counts.sum_duplicates()
    return counts


def time_searches(indexes: list[TopicIndex], words: list[str]) -> list[float]:
    """Return the median seconds of a search with its documents in each index, alternating between indexes."""
    times: list[list[float]] = [[] for _ in indexes]
    for i, word in enumerate([*words[:3], *words]):
        for index, own in zip(indexes, times, strict=True):
            start = time.perf_counter()
            index.search(word).documents(10)
            if i >= 3:  # the first ones read the files
                own.append(time.perf_counter() - start)
    return [float(np.median(own)) for own in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--additions", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine())
    n, n_words = arguments.documents, arguments.words
    with tempfile.TemporaryDirectory() as folder:
        source = write_texts(Path(folder, "texts.parquet"), draw_counts(n, n_words, 0))
        path = Path(folder, "index")
        start = time.perf_counter()
        build_index(source, path, IndexOptions(n_components=100), EVERY_WORD)
        building = time.perf_counter() - start
        index = open_index(path)
        words = [f"word{i}" for i in np.random.default_rng(1).choice(np.arange(200, 4000), 40, replace=False)]
        print(f"build {building:.1f} s")
        for i in range(arguments.additions):
            more = write_texts(Path(folder, "more.parquet"), draw_counts(n // 100, n_words, i + 1))
            start = time.perf_counter()
            add_documents(path, more)
            adding = time.perf_counter() - start
            print(f"addition {i + 1:2d}: {adding:.2f} s, 1/{building / adding:.0f} of the build")
        after_index = open_index(path)
        before, after = time_searches([index, after_index], words)
        n_segments = len(after_index.topics._family.segments)
        print(
            f"a search before {1e3 * before:.1f} ms, after in {n_segments} segments {1e3 * after:.1f} ms: "
            f"{after / before:.2f} times"
        )


if __name__ == "__main__":
    main()
