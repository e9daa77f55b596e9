"""Flip bits in copies of an index, search each in a separate process, and count the outcomes.

    python benchmarks/robustness/damage_index.py
    python benchmarks/robustness/damage_index.py --n 1000 --small 0

--small is the size up to which files are verified when an index is opened. With 0, small files are read as those of a
large index are: a changed number may give another answer, which `mixsearch info --verify` would tell. Exits with 1 if
a process dies, if there is a traceback, or if a file that is verified has changed and the index answers.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from mixsearch.storage import reader

from mixsearch.errors import Coded
from mixsearch.index import AnswerOptions, IndexOptions, Query, answer_queries, build_index, open_index
from mixsearch.text import CorpusOptions
from mixsearch.topics import storage as _storage

SAME, OTHER, SENTENCE, TRACEBACK, CRASH = "same answer", "other answer", "sentence", "traceback", "crash"
QUERIES = [Query("sushi1", words={"sushi1": 1.0}), Query("a text", text=("train3 train4 train5",))]
MAX_SECONDS = 60


def build_corpus(folder: Path, n_documents: int = 400) -> Path:
    """Index documents of three planted topics, with columns."""
    rng = np.random.default_rng(0)
    with (folder / "corpus.jsonl").open("w") as file:
        for i in range(n_documents):
            theme = ("sushi", "train", "music")[i % 3]
            words = [f"{theme}{j}" for j in rng.integers(12, size=15)] + [f"any{j}" for j in rng.integers(40, size=5)]
            file.write(json.dumps({"id": f"d{i}", "text": " ".join(words), "stars": int(rng.integers(5))}) + "\n")
    reading = CorpusOptions(text="text", id="id", min_df=1, max_df=1.0, stop_words=None)
    build_index(folder / "corpus.jsonl", folder / "whole.index", IndexOptions(n_components=4), reading)
    return folder / "whole.index"


def damage(index: Path, rng: random.Random) -> str:
    """Flip one to three bits of one file, and return its name."""
    files = sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size)
    path = rng.choice(files)
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    return str(path.relative_to(index))


def ask(index: Path) -> str:
    """Return all that is shown for the queries, rounded, as one text."""
    opened = open_index(index)
    outcomes = answer_queries(opened, QUERIES, AnswerOptions(n_words=8, n_documents=4), n_jobs=1)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    shown = [outcome.answer.as_dict() for outcome in outcomes if outcome.answer is not None]
    columns = opened.documents([0, 5])[1].columns
    rounded = json.loads(json.dumps([shown, dict(columns)], default=str), parse_float=lambda text: f"{float(text):.3g}")
    return json.dumps(rounded, sort_keys=True)


def _search(index: Path, small: int, answer: Connection) -> None:
    warnings.simplefilter("ignore")
    reader.SMALL_BYTES, _storage.MAX_CHECKED = small, min(small, _storage.MAX_CHECKED)
    try:
        answer.send((SAME, ask(index)))
    except Coded as error:
        answer.send((SENTENCE, error.code))
    except Exception as error:
        answer.send((TRACEBACK, repr(error)))


def observe(index: Path, small: int) -> tuple[str, str]:
    """Search an index in another process, and return what happened with its details."""
    context = multiprocessing.get_context("fork")
    own, other = context.Pipe(duplex=False)
    process = context.Process(target=_search, args=(index, small, other))
    process.start()
    other.close()
    try:
        found: tuple[str, str] = own.recv() if own.poll(MAX_SECONDS) else (CRASH, "no answer")
    except EOFError:
        found = (CRASH, "")
    process.join(1)
    if process.is_alive():
        process.kill()
        process.join()
    return found if found[0] != CRASH else (CRASH, f"exit code {process.exitcode}")


def run(n: int, *, small: int, seed: int = 0, verbose: bool = False) -> Counter[str]:
    """Damage and search n copies of an index, and count the outcomes."""
    rng, counts = random.Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        whole = build_corpus(Path(name))
        answered, expected = observe(whole, small)
        if answered != SAME:
            raise RuntimeError(f"The undamaged index gives no answer: {expected}")
        for _ in range(n):
            copy = Path(name) / "damaged.index"
            shutil.copytree(whole, copy)
            changed = damage(copy, rng)
            outcome, detail = observe(copy, small)
            if outcome == SAME and detail != expected.replace(str(whole), str(copy)):
                outcome = OTHER
            counts[outcome] += 1
            if verbose and outcome in (TRACEBACK, CRASH):
                print(f"{outcome}: {changed}: {detail[:200]}")
            shutil.rmtree(copy)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--small", type=int, default=reader.SMALL_BYTES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = run(options.n, small=options.small, seed=options.seed, verbose=True)
    for outcome in (SENTENCE, SAME, OTHER, TRACEBACK, CRASH):
        print(f"{outcome:<14} {counts[outcome]:6}")
    is_silent = counts[OTHER] > 0 and options.small > 0
    return int(counts[CRASH] + counts[TRACEBACK] > 0 or is_silent)


if __name__ == "__main__":
    sys.exit(main())
