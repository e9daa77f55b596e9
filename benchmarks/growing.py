"""A growing index: how well topics are found that came with added documents, before and after the refit.

Four newsgroups of eighteen are added to an index of the others. AP is the average precision of ranking all posts for a
group from one word, as in quality.py; CPU time is that of one process.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from corpora import SOURCES, WORDS, read_rows
from measuring import print_table

from mixsearch.metrics import average_precision
from mixsearch.topics import add_documents, build_index, open_index, refresh_index, remove_documents

ADDED = ("rec.sport.hockey", "sci.space", "soc.religion.christian", "sci.crypt")


def run() -> None:
    """Print AP after each change, and its time."""
    warnings.simplefilter("ignore")
    source = SOURCES["newsgroups"]
    rows = list(read_rows(source))
    rows.sort(key=lambda row: row["label"] in ADDED)
    texts, labels = [source.text(row) for row in rows], np.array([row["label"] for row in rows])
    n_fitted = int(np.count_nonzero(~np.isin(labels, ADDED)))
    table = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "posts.index")

        def change(name: str, work: Callable[[], Any]) -> None:
            start = time.process_time()
            work()
            seconds, index = time.process_time() - start, open_index(path)
            found = labels[index.corpus.rows]
            ap = {
                group: average_precision(found == group, index.search(words.split()[0]).scores)
                for group, words in WORDS["newsgroups"].items()
                if np.any(found == group)
            }
            listed = [[ap[group] for group in ap if (group in ADDED) == is_added] for is_added in (True, False)]
            means = [f"{np.mean(each):.3f}" if each else "" for each in listed]
            size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) / 1e6
            table.append((name, f"{index.n_documents:,}", *means, f"{seconds:.1f}", f"{size:.0f}"))

        change("build", lambda: build_index(texts[:n_fitted], path))
        change("add", lambda: add_documents(path, texts[n_fitted:]))
        change("refit", lambda: refresh_index(path))
        change("remove one", lambda: remove_documents(path, where="row = 3"))
    print_table(
        "A growing index", ("change", "documents", "AP, added groups", "AP, others", "CPU seconds", "MB"), table
    )


if __name__ == "__main__":
    run()
