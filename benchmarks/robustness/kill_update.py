"""Kill `add`, `remove` and `refresh` at random moments while a reader searches, and check what is left.

    python benchmarks/robustness/kill_update.py
    python benchmarks/robustness/kill_update.py --kills 50 --documents 3000

Each index that is left must verify, and hold the documents from before or those from after. Two writers at once are
tried too: one of them must say that the index is busy. Exits with 1 if anything else happens.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

from mixsearch.datasets import make_topics
from mixsearch.errors import BusyFolderError
from mixsearch.index import (
    IndexOptions,
    add_documents,
    build_index,
    open_index,
    refresh_index,
    remove_documents,
)
from mixsearch.text import CorpusOptions

processes = multiprocessing.get_context("fork")


def write_texts(path: Path, n: int, first: int) -> Path:
    data = make_topics(n, 300, 5, mean_length=30, random_state=first)
    counts = data.counts.tocsr()
    with path.open("w") as file:
        for i in range(n):
            words = [data.vocabulary[j] for j in counts.indices[counts.indptr[i] : counts.indptr[i + 1]]]
            file.write(json.dumps({"id": f"d{first + i}", "text": " ".join(words), "number": i}) + "\n")
    return path


def add(index: Path, more: Path) -> None:
    add_documents(index, more)


def remove(index: Path, _: Path) -> None:
    remove_documents(index, where="number < 100")


def refresh(index: Path, _: Path) -> None:
    refresh_index(index)


def quietly(change: Callable[[Path, Path], None], index: Path, more: Path) -> None:
    warnings.simplefilter("ignore")
    change(index, more)


class Reader(threading.Thread):
    """Opens the index again and again, and searches it."""

    def __init__(self, index: Path, word: str) -> None:
        super().__init__(daemon=True)
        self.index, self.word, self.n_reads, self.errors, self.done = index, word, 0, [], False

    def run(self) -> None:
        """Read until `done`."""
        while not self.done:
            try:
                opened = open_index(self.index)
                opened.documents([row for row, _ in opened.search(self.word).documents(3)])
                self.n_reads += 1
            except Exception as error:
                self.errors.append(repr(error))


class Changed(NamedTuple):
    """An index that a process changes while a thread of this one reads it."""

    index: Path
    generation: str
    writer: BaseProcess
    reader: Reader

    def end(self) -> None:
        """Wait for the process, and stop the reader."""
        self.writer.join()
        self.reader.done = True
        self.reader.join()


@contextmanager
def start(change: Callable[[Path, Path], None], base: Path, more: Path, word: str) -> Iterator[Changed]:
    """Start to change a copy of an index."""
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        shutil.copytree(base, index)
        generation = open_index(index).generation
        reader = Reader(index, word)
        reader.start()
        writer = processes.Process(target=quietly, args=(change, index, more))
        writer.start()
        yield Changed(index, generation, writer, reader)


def measure(change: Callable[[Path, Path], None], base: Path, more: Path, word: str) -> float:
    """Return how many seconds a change takes if it is not killed."""
    begun = time.monotonic()
    with start(change, base, more, word) as changed:
        changed.end()
        return time.monotonic() - begun


def kill_once(change: Callable[[Path, Path], None], base: Path, more: Path, moment: float, word: str) -> str:
    """Return what is left: before, after, or what is wrong."""
    with start(change, base, more, word) as changed:
        time.sleep(moment)
        changed.writer.kill()
        changed.end()
        index, reader = changed.index, changed.reader
        if reader.errors:
            return f"BROKEN: a reader failed: {reader.errors[0]}"
        try:
            left = open_index(index)
            left.verify()
            state = "before" if left.generation == changed.generation else "after"
            left.search(word)
            # The next writer clears up, and works.
            quietly(change, index, more) if state == "before" else quietly(refresh, index, more)
            open_index(index).verify()
        except Exception as error:
            return f"BROKEN: {error!r}"
        return state


def try_two_writers(base: Path, more: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder, "index")
        shutil.copytree(base, index)
        outcomes: list[str] = []

        def write() -> None:
            try:
                quietly(add, index, more)
                outcomes.append("added")
            except BusyFolderError:
                outcomes.append("busy")

        threads = [threading.Thread(target=write) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        open_index(index).verify()
        return sorted(outcomes) == ["added", "busy"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50, help="of each of the three")
    parser.add_argument("--documents", type=int, default=2000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    dice, failed = random.Random(0), False
    with tempfile.TemporaryDirectory() as folder:
        texts, more = (
            write_texts(Path(folder, f"{name}.jsonl"), n, first)
            for name, n, first in (("first", arguments.documents, 0), ("more", arguments.documents // 10, 10**6))
        )
        base = Path(folder, "base")
        build_index(texts, base, IndexOptions(n_components=5), CorpusOptions(text="text", id="id"))
        word = open_index(base).starters(1)[0].word
        for change in (add, remove, refresh):
            usual = measure(change, base, more, word)
            found = Counter(
                kill_once(change, base, more, dice.uniform(0, 1.3 * usual), word) for _ in range(arguments.kills)
            )
            failed |= any(state.startswith("BROKEN") for state in found)
            print(f"{change.__name__:8s} {usual:5.2f} s  " + ", ".join(f"{state}: {n}" for state, n in found.items()))
        two = try_two_writers(base, more)
        print("two writers: one added, the other was told to wait" if two else "BROKEN: two writers")
    return int(failed or not two)


if __name__ == "__main__":
    sys.exit(main())
