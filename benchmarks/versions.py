"""Compare with an earlier version: CPU time and peak memory of the same work on the same data, by turns.

    python benchmarks/versions.py ../rc1/src           # about five minutes on two idle cores
    python benchmarks/versions.py ../rc1/src --only word fit

Each measurement has a process of its own, so that neither version sees what the other has imported or allocated. A
ratio below 1 is less than before. Exits with 1 if a ratio is above the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).parents[1] / "src"
COMMAND = "import sys; from mixsearch.cli import main; sys.argv[0] = 'mixsearch'; main()"
N_TEXTS = 20_000
LIMIT = 1.0  # of a ratio
WORDS = [f"word{i}" for i in range(100, 110)]


def draw_texts(n: int) -> list[str]:
    """Texts of 60 words by Zipf's law, of which a third belong to one of 40 topics."""
    rng = np.random.default_rng(0)
    chances = 1 / (np.arange(20_000) + 10.0)
    words = rng.choice(20_000, size=(n, 60), p=chances / chances.sum())
    topics = rng.integers(40, size=n)
    words = np.where(rng.random(words.shape) < 0.33, words // 40 * 40 + topics[:, None], words)
    return [" ".join(f"word{word}" for word in row) for row in words]


def build(folder: Path, texts: list[str]) -> Any:
    """An index, by the name that a version has for it."""
    try:
        from mixsearch.topics import build_index
    except ImportError:
        from mixsearch.index import build_index  # type: ignore[no-redef]
    return build_index(texts, folder / "texts.index")


def prepare_start(folder: Path) -> Callable[[], Any]:
    command = [sys.executable, "-c", COMMAND, "topic", str(folder / "texts.index"), "word100"]
    return lambda: [subprocess.run(command, check=True, capture_output=True) for _ in range(3)]


def prepare_word(folder: Path) -> Callable[[], Any]:
    try:
        from mixsearch.topics import open_index
    except ImportError:
        from mixsearch.index import open_index  # type: ignore[no-redef]
    index = open_index(folder / "texts.index")

    def ask(words: list[str]) -> None:
        for word in words:
            topic = index.search(words=[word])
            topic.top_words(10)
            index.documents([row for row, _ in topic.documents(10)])

    ask(["word50"])  # what later searches share
    return lambda: ask(WORDS)


def prepare_index(folder: Path) -> Callable[[], Any]:
    texts = draw_texts(N_TEXTS)
    return lambda: build(Path(tempfile.mkdtemp(dir=folder)), texts)


def prepare_fit(_: Path) -> Callable[[], Any]:
    from mixsearch import GaussianSearch
    from mixsearch.datasets import make_gaussian_mixture

    X = make_gaussian_mixture(20_000, 300, 10, random_state=0).X
    return lambda: GaussianSearch(n_components=10).fit(X).search(examples=X[:1])


def prepare_table(_: Path) -> Callable[[], Any]:
    import polars as pl

    from mixsearch import TableSearch

    rng = np.random.default_rng(0)
    labels = rng.integers(6, size=8_000)
    numbers = 4 * rng.standard_normal((6, 12))[labels] + rng.standard_normal((8_000, 12))
    kinds = np.where(rng.random(8_000) < 0.7, labels, rng.integers(6, size=8_000)).astype(str)
    table = pl.DataFrame({**{f"x{i}": column for i, column in enumerate(numbers.T)}, "kind": kinds})
    examples = np.flatnonzero(labels == 0)[:5].tolist()

    def search() -> None:
        fitted = TableSearch().fit(table)
        try:
            found = fitted.search(examples=examples)
        except TypeError:
            found = fitted.search(like=examples)
        _ = found.membership() if callable(found.membership) else found.membership

    return search


def prepare_photo(_: Path) -> Callable[[], Any]:
    from mixsearch import segment
    from mixsearch.datasets import make_landscape

    data = make_landscape(480, 720, random_state=0)
    return lambda: segment(data.image, data.seeds).labels


WORKS = {
    "start": prepare_start,
    "word": prepare_word,
    "index": prepare_index,
    "fit": prepare_fit,
    "table": prepare_table,
    "photo": prepare_photo,
}


def cpu_seconds() -> float:
    """The CPU time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def measure(name: str, folder: Path) -> None:
    """Print the least CPU time of some repeats, in seconds, and the peak of memory, in MB."""
    warnings.simplefilter("ignore")
    work = WORKS[name](folder)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew: data are not counted twice
    times = []
    for _ in range(2):
        start = cpu_seconds()
        work()
        times.append(cpu_seconds() - start)
    status = Path("/proc/self/status").read_text()
    own = int(status.partition("VmHWM:")[2].split()[0]) / 1000
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(json.dumps([min(times), max(own, children)]))


def call(source: Path, folder: Path, work: str) -> str:
    """Measure one work with the package of a folder, and return what is printed last."""
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [sys.executable, __file__, str(folder), "--measure", work]
    environment = {**os.environ, **single, "PYTHONPATH": str(source)}
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return printed.strip().rpartition("\n")[2]


def compare(old: Path, names: Sequence[str] = tuple(WORKS), n_rounds: int = 3) -> float:
    """Print the ratios of this version to an earlier one, and return the largest."""
    from measuring import print_table, seconds  # with the package, which a measurement must not load

    rows, worst = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        versions = [(old.resolve(), Path(folder) / "old"), (SOURCE, Path(folder) / "new")]
        for source, place in versions:
            place.mkdir()
            call(source, place, "build")
        for name in names:
            rounds = [[json.loads(call(*version, name)) for version in versions] for _ in range(n_rounds)]
            (before, peak_before), (now, peak) = np.min(rounds, axis=0).tolist()
            worst = max(worst, now / before, peak / peak_before)
            times = (seconds(before), seconds(now), f"{now / before:.2f}")
            rows.append((name, *times, f"{peak_before:.0f} MB", f"{peak:.0f} MB", f"{peak / peak_before:.2f}"))
    columns = ("work", "time before", "now", "ratio", "memory before", "now", "ratio")
    print_table("CPU time on one thread of BLAS, and peak memory", columns, rows)
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="the folder src of the earlier version")
    parser.add_argument("--only", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--measure", choices=["build", *WORKS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure == "build":
        build(options.old, draw_texts(N_TEXTS))
    elif options.measure:
        measure(options.measure, options.old)
    else:
        return int(compare(options.old, options.only) > LIMIT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
