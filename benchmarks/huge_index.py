"""An index of more than 2^31 non-zero counts: drawn chunk by chunk, built, checked, opened and searched.

It needs 17 bytes of disk for each count, in the folder for temporary files.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from measuring import peak_memory, print_table, seconds, verdict

from mixsearch._typing import Array
from mixsearch.index import IndexOptions, build_index, open_index, verify_index
from mixsearch.text import Corpus
from mixsearch.text.count.chunks import CountChunk
from mixsearch.text.count.dropped import DroppedWords
from mixsearch.text.count.vocabulary import Vocabulary

N_NONZEROS = 2.2e9
N_WORDS, N_TOPICS, SEED = 10_000, 10, 0
CHUNK_DOCUMENTS = 1_000
# A topic has words of its own, which it uses this many times as often as others do.
N_OWN, FACTOR = N_WORDS // N_TOPICS, 3
# A document contains a word if a random byte is smaller than this: even, so that its last bit is another draw.
SMALLEST, LARGEST = 8, 80
N_ASKED = 30
GIB = 2**30
BYTES_PER_NONZERO = 17


def planted_topics() -> Array:
    """Return 256 times the probability that a document of a topic contains a word, (k, d)."""
    common = 2 * np.random.default_rng(SEED).integers(SMALLEST // 2, LARGEST // 2, N_WORDS)
    topics = np.tile(common, (N_TOPICS, 1))
    for i, topic in enumerate(topics):
        topic[i * N_OWN : (i + 1) * N_OWN] *= FACTOR
    return topics.astype(np.uint8)


class DrawnCorpus(Corpus):
    """Documents about one topic each, drawn when they are read. They are the same each time."""

    @property
    def n_nonzeros(self) -> int:
        """About how many non-zero counts it has."""
        return int(self.n_documents * planted_topics().mean(axis=0).sum() / 256)

    def chunks(self) -> Iterator[CountChunk]:
        """Yield the documents."""
        topics = planted_topics()
        for first in range(0, self.n_documents, CHUNK_DOCUMENTS):
            n = min(CHUNK_DOCUMENTS, self.n_documents - first)
            counts = draw_counts(topics, n, first)
            yield CountChunk(counts, np.arange(first, first + n), None, None, sp.csr_array((n, 0), dtype=np.int32))


def draw_counts(topics: Array, n: int, seed: int) -> sp.csr_array:
    """Draw documents of words that each occur once or twice."""
    rng = np.random.Generator(np.random.SFC64([SEED, seed]))
    drawn = np.frombuffer(rng.bytes(n * N_WORDS), dtype=np.uint8).reshape(n, N_WORDS)
    is_there = drawn < topics[rng.integers(N_TOPICS, size=n)]
    bounds = np.concatenate([[0], np.cumsum(np.count_nonzero(is_there, axis=1))]).astype(np.int32)
    places = np.flatnonzero(is_there).astype(np.int32)
    words = places - np.repeat(N_WORDS * np.arange(n, dtype=np.int32), np.diff(bounds))
    values = 1 + (drawn.ravel()[places] & 1).astype(np.int32)
    return sp.csr_array((values, words, bounds), shape=(n, N_WORDS))


def draw_corpus(n_nonzeros: float) -> DrawnCorpus:
    """Return a corpus of about this many non-zero counts."""
    n_documents = round(n_nonzeros / (planted_topics().mean(axis=0).sum() / 256))
    none = np.zeros(0, dtype=np.int64)
    no_words = DroppedWords(Vocabulary([], none.astype(np.uint64), none, none, none), none.astype(np.uint8), ())
    keys = np.arange(N_WORDS)
    vocabulary = Vocabulary(name_words(), keys.astype(np.uint64), keys, np.zeros_like(keys), np.zeros_like(keys))
    spool: Any = None  # chunks are drawn, not stored
    return DrawnCorpus(n_documents, 0, np.zeros((0, 2), dtype=np.int64), (), (), no_words, vocabulary, spool)


def name_words() -> list[str]:
    """Return words that name their topic and their number in it."""
    return [f"topic{i // N_OWN}word{i % N_OWN}" for i in range(N_WORDS)]


def run(*, quick: bool = False, n_nonzeros: float = N_NONZEROS) -> None:
    n_nonzeros = 2e7 if quick else n_nonzeros
    folder = Path(tempfile.mkdtemp(prefix="mixsearch-huge-"))
    try:
        free = shutil.disk_usage(folder).free
        if free < BYTES_PER_NONZERO * n_nonzeros:
            needed = BYTES_PER_NONZERO * n_nonzeros / 1e9
            sys.exit(f"{needed:.0f} GB are needed in {folder}, but {free / 1e9:.0f} are free.")
        _run(folder / "huge.index", n_nonzeros)
    finally:
        shutil.rmtree(folder)


def _run(path: Path, n_nonzeros: float) -> None:
    built = _build_apart(path, n_nonzeros)
    asked = _ask(path)
    start = time.perf_counter()
    verify_index(path)
    checked = time.perf_counter() - start
    print_table(
        f"Topics of {built['documents']:,} documents, {N_WORDS:,} words, {built['nonzeros']:,} non-zeros in "
        f"{asked['segments']} segment(s), k={N_TOPICS}",
        (
            "index",
            "of it drawing and storing",
            "by word",
            "fit",
            "peak GiB",
            "GB on disk",
            "verify",
            "open",
            "word",
            "95th",
        ),
        [
            (
                seconds(built["seconds"]),
                *(seconds(built["steps"][step]) for step in ("Storing", "Listing words", "Fitting topics")),
                f"{built['peak'] / GIB:.2f}",
                f"{built['bytes'] / 1e9:.1f}",
                seconds(checked),
                seconds(asked["open"]),
                seconds(asked["median"]),
                seconds(asked["late"]),
            )
        ],
    )
    print()
    print(f"- {asked['right']} of {N_ASKED} words find their planted topic")
    print(verdict("total variation from the planted topic, largest", asked["distance"], 0.05, ""))
    print("- weights from {:.4f} to {:.4f}, planted {:.4f}".format(*asked["weights"], 1 / N_TOPICS))
    print(f"- {asked['own']:.0%} of the first 20 documents of each are about it")


def _build_apart(path: Path, n_nonzeros: float) -> dict[str, Any]:
    """Build in a separate process, to measure its peak memory."""
    command = [sys.executable, __file__, "--build", str(path), "--non-zeros", str(n_nonzeros)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def _build(path: str, n_nonzeros: float) -> None:
    steps: dict[str, float] = {}
    last = start = time.perf_counter()

    def note(step: str, n_done: int, n_all: int | None, unit: str) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last > 30 or step not in steps:
            print(f"{now - start:6.0f} s  {step}: {n_done:,} of {n_all or '?'} {unit}", file=sys.stderr, flush=True)
            last = now
        steps.setdefault(step, now)

    built = build_index(draw_corpus(n_nonzeros), path, IndexOptions(n_components=N_TOPICS), on_progress=note)
    end = time.perf_counter()
    starts = [start, steps["Listing words"], steps["Fitting topics"], end]
    figures = {
        "seconds": end - start,
        "steps": dict(zip(("Storing", "Listing words", "Fitting topics"), np.diff(starts).tolist(), strict=True)),
        "peak": peak_memory(),
        "bytes": built.n_bytes,
        "documents": built.n_documents,
        "nonzeros": built.n_nonzeros,
    }
    print(json.dumps(figures))


def _ask(path: Path) -> dict[str, Any]:
    """Search for words of all topics, and compare the topics found with the planted ones."""
    start = time.perf_counter()
    index = open_index(path)
    opened = time.perf_counter() - start
    truth = planted_topics() / planted_topics().sum(axis=1, keepdims=True)
    columns = np.random.default_rng(SEED).permutation(N_WORDS)
    # As many of each topic: those of topic 0, of topic 1, and so on.
    asked = [column for i in range(N_TOPICS) for column in columns[columns // N_OWN == i][: N_ASKED // N_TOPICS]]
    times, distances, weights, n_right, n_own = [], [], [], 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index.search(index.vocabulary[columns[-1]])  # warms up
        for column in asked:
            start = time.perf_counter()
            topic = index.search(index.vocabulary[column])
            topic.top_words(10)
            listed = topic.documents(20)
            times.append(time.perf_counter() - start)
            # The moments alone: local EM leaves out what all topics have in common.
            moments = index.search(index.vocabulary[column], refine=False)
            far = np.abs(truth - moments.probabilities).sum(axis=1) / 2
            weights.append(moments.weight)
            n_right += int(far.argmin() == column // N_OWN)
            distances.append(float(far[column // N_OWN]))
            n_own += sum(_topic_of(row, index.n_documents) == column // N_OWN for row, _ in listed)
    return {
        "segments": len(index.fitted.segments),
        "open": opened,
        "median": float(np.median(times)),
        "late": float(np.percentile(times, 95)),
        "right": n_right,
        "distance": max(distances),
        "weights": (min(weights), max(weights)),
        "own": n_own / (20 * len(asked)),
    }


def _topic_of(row: int, n_documents: int) -> int:
    """Return the planted topic of a document, drawn again."""
    first = row - row % CHUNK_DOCUMENTS
    n = min(CHUNK_DOCUMENTS, n_documents - first)
    rng = np.random.Generator(np.random.SFC64([SEED, first]))
    rng.bytes(n * N_WORDS)
    return int(rng.integers(N_TOPICS, size=n)[row - first])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--non-zeros", type=float, default=N_NONZEROS, help="about how many non-zero counts")
    parser.add_argument("--quick", action="store_true", help="20 million of them")
    parser.add_argument("--build", metavar="PATH", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        _build(given.build, given.non_zeros)
    else:
        run(quick=given.quick, n_nonzeros=given.non_zeros)
