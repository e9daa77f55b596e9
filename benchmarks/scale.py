"""An index of the size of the New York Times corpus: what it costs to build, to keep and to ask."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from measuring import peak_memory, print_table, seconds, verdict
from mixsearch.index import IndexOptions, build_index, open_index
from workloads import EVERY_WORD, draw_corpus, words_of_all_frequencies, write_texts

from mixsearch.io.folder import read_manifest
from mixsearch.lda import TUNING
from mixsearch.machine import n_cores

BLOCK = TUNING.block

N_DOCUMENTS, N_WORDS, N_TOPICS, MEAN_LENGTH = 300_000, 100_000, 100, 330.0
PARTS = (8, 4, 2, 1)
GIB = 2**30
LIMIT = 2 * GIB
# Of all frequencies, the most frequent word among them.
N_ASKED = 60


def run(*, quick: bool = False) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mixsearch-scale-"))
    try:
        _run(folder, 20 if quick else 1)
    finally:
        shutil.rmtree(folder)


def _run(folder: Path, smaller: int) -> None:
    counts = draw_corpus(N_DOCUMENTS // smaller, N_WORDS // smaller, n_topics=N_TOPICS, mean_length=MEAN_LENGTH)
    rows = []
    for part in PARTS:
        built = _build_apart(folder, f"1/{part}", counts[: counts.shape[0] // part], None)
        asked = _ask(folder / f"part{part}.index")
        rows.append(_row(f"1/{part}", built, asked))
    bounded = _build_apart(folder, "1/1 in 2 GiB", counts, LIMIT, name="bounded")
    rows.append(_row("1, in blocks from disk", bounded, _ask(folder / "bounded.index")))
    title = (
        f"Topics of {counts.shape[0]:,} documents, {counts.shape[1]:,} words, {counts.nnz:,} non-zeros, k={N_TOPICS}"
    )
    print_table(
        title,
        ("part", "index", "s per million", "peak GiB", "bytes a document", "open", "word", "95th", "most frequent"),
        rows,
    )
    print()
    print(verdict("index in memory", built["seconds"], 120, " s"))
    print(verdict("peak memory", built["peak"] / GIB, 6, " GiB"))
    print(verdict("peak memory in blocks from disk", bounded["peak"] / GIB, LIMIT / GIB, " GiB"))
    print(verdict("a word, median", 1000 * asked["median"], 100, " ms"))
    print(verdict("a word, 95th percentile", 1000 * asked["late"], 300, " ms"))
    print(f"- both indexes are the same to the last byte: {_same(folder / 'part1.index', folder / 'bounded.index')}")
    _print_limit(folder / "part1.index", built["seconds"])


def _print_limit(path: Path, build_seconds: float) -> None:
    """Compare a build with the sparse products that its eigenvectors need, and those with the speed of memory."""
    family = open_index(path).topics._family
    counts = family.chunks.collect().chunk.by_document[:]  # checked and plain
    block = np.random.default_rng(0).standard_normal((counts.shape[1], BLOCK)).astype(counts.dtype)
    n_bytes = counts.data.nbytes + counts.indices.nbytes
    by_block = _least_seconds(lambda: counts @ block)
    by_vector = _least_seconds(lambda: counts @ block[:, 0])
    by_reading = _least_seconds(lambda: (counts.data.sum(), counts.indices.sum()))
    n_products = 2 * family.n_applications
    limit = n_products * by_block / n_cores()
    print(
        f"- {n_products} products with {BLOCK} vectors, {by_block:.2f} s each on one core: {limit:.1f} s on all cores"
    )
    print(f"- the build takes {build_seconds / limit:.2f} times that")
    rates = (n_bytes / GIB / each for each in (by_vector, by_reading))
    print("- counts read at {:.1f} GiB/s by a product with one vector, {:.1f} GiB/s by a sum".format(*rates))


def _least_seconds(work: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _row(name: str, built: dict[str, Any], asked: dict[str, float]) -> tuple[str, ...]:
    return (
        name,
        seconds(built["seconds"]),
        f"{built['seconds'] / built['nonzeros'] * 1e6:.2f}",
        f"{built['peak'] / GIB:.2f}",
        f"{built['bytes'] / built['documents']:,.0f}",
        seconds(asked["open"]),
        seconds(asked["median"]),
        seconds(asked["late"]),
        seconds(asked["most"]),
    )


def _build_apart(folder: Path, part: str, counts: sp.csr_array, memory: int | None, name: str = "") -> dict[str, Any]:
    """Build in a separate process, to measure its peak memory."""
    stem = name or f"part{part.partition('/')[2]}"
    source = write_texts(folder / f"{stem}.parquet", counts)
    command = [sys.executable, __file__, "--build", str(source), str(folder / f"{stem}.index"), str(memory or 0)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    source.unlink()
    return dict(json.loads(done.stdout))


def _build(source: str, path: str, memory: int) -> None:
    limit = memory or None
    start = time.perf_counter()
    built = build_index(
        source,
        path,
        IndexOptions(n_components=N_TOPICS, memory=limit),
        replace(EVERY_WORD, memory=(limit or LIMIT) // 8),
    )
    figures = {
        "seconds": time.perf_counter() - start,
        "peak": peak_memory(),
        "bytes": built.n_bytes,
        "documents": built.n_documents,
        "nonzeros": built.n_nonzeros,
    }
    print(json.dumps(figures))


def _ask(path: Path) -> dict[str, float]:
    start = time.perf_counter()
    index = open_index(path)
    opened = time.perf_counter() - start
    columns = words_of_all_frequencies(index.topics._family.chunks.collect().chunk.by_document, N_ASKED)
    words = [index.vocabulary[column] for column in columns]
    times = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for word in [words[-1], *words]:  # the first one warms up
            start = time.perf_counter()
            topic = index.search(word)
            topic.top_words(10), topic.documents(5)
            times.append(time.perf_counter() - start)
    asked = times[1:]
    late = float(np.percentile(asked, 95))
    return {"open": opened, "median": float(np.median(asked)), "late": late, "most": asked[0]}


def _same(one: Path, other: Path) -> bool:
    return _checksums(one) == _checksums(other)


def _checksums(path: Path) -> dict[str, str]:
    return {name: stored.checksum for name, stored in read_manifest(path).files.items()}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        _build(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        run(quick="--quick" in sys.argv)
