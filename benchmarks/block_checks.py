"""What it costs to compare blocks with their checksums as they are read: CPU time of searches with and without.

    python benchmarks/block_checks.py
    python benchmarks/block_checks.py --index big.index

The default is an index of half the size of the New York Times corpus, which takes a minute to build. One thread; the
least of several rounds in which all ways take turns.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measuring import print_table
from threadpoolctl import threadpool_limits
from workloads import draw_corpus

from mixsearch.index import IndexOptions, TopicIndex, build_index, open_index
from mixsearch.text import CorpusOptions

N_DOCUMENTS, N_WORDS, N_TOPICS, MEAN_LENGTH = 150_000, 100_000, 100, 330.0
N_SEARCHES, ROUNDS = 10, 5
PLAIN, CHECKED, FIRST = "no checks", "all checked before", "nothing checked before"


def make_index(folder: Path) -> Path:
    """Build an index of drawn counts."""
    counts = draw_corpus(N_DOCUMENTS, N_WORDS, n_topics=N_TOPICS, mean_length=MEAN_LENGTH)
    build_index(counts, folder / "drawn.index", IndexOptions(n_components=N_TOPICS), CorpusOptions(memory=1 << 28))
    return folder / "drawn.index"


def forget(counts: Any, readers: tuple[Any, ...]) -> None:
    """Let counts be checked again."""
    counts._is_new[:] = True
    for reader in readers:
        reader._is_open[:], reader._is_done = True, False


def measure(work: Any) -> float:
    """Return the CPU time of a call, in milliseconds."""
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def measure_searches(index: TopicIndex) -> dict[str, float]:
    """Return the CPU time of a search in three ways, averaged over words."""
    words = [
        index.vocabulary[i] for i in np.random.default_rng(0).integers(len(index.vocabulary) // 5, size=N_SEARCHES)
    ]
    [partition] = index.fitted.segments
    counts = [(each, each._readers) for each in (partition.by_document, partition.by_word)]
    best: dict[tuple[str, str], float] = {}
    for _ in range(ROUNDS):
        for word in words:
            for way in (PLAIN, CHECKED, FIRST):
                for each, readers in counts:
                    each._readers = () if way == PLAIN else readers
                    if way == FIRST:
                        forget(each, readers)
                taken = measure(lambda word=word: index.search(word).documents(5))
                best[way, word] = min(taken, best.get((way, word), np.inf))
    return {way: float(np.mean([best[way, word] for word in words])) for way in (PLAIN, CHECKED, FIRST)}


def measure_whole_arrays(path: Path) -> float:
    """Return the CPU time of the arrays that the first search of a process checks as a whole."""
    return min(measure(open_index(path)._folder.check_postponed) for _ in range(ROUNDS))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--index", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        path = options.index or make_index(Path(name))
        index = open_index(path)
        rows = [(way, f"{taken:.1f}") for way, taken in measure_searches(index).items()]
        rows.append(("arrays that are checked as a whole, once in a process", f"{measure_whole_arrays(path):.1f}"))
        n_counts = index.fitted.n_nonzeros
        print_table(f"{index.n_documents:,} documents, {n_counts:,} counts", ("a search", "CPU time, ms"), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
