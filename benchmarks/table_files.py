"""Tables in files: `read_table` and reading in batches, beside Polars alone, in turns and in processes of their own.

Memory is what a process has for itself at most (RssAnon), without the pages of mapped files, which the system takes
back when it needs them. Polars alone reads only the first 100 rows of JSON lines to find columns and types; the row
"all rows for types" is what `read_table` must do so that no column is lost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import polars as pl
from measuring import print_table, seconds

from mixsearch.io.files import find_files
from mixsearch.io.read import open_rows
from mixsearch.io.streams import Reading
from mixsearch.table import read_table

SIZES = {"mixed.csv": 1 << 30, "numbers.csv": 1 << 29, "mixed.jsonl": 1 << 30}
REPEATS = 3


def run(*, quick: bool = False) -> None:
    smaller = 50 if quick else 1
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            path = Path(folder, name)
            n_bytes = write_file(path, size // smaller)
            compared = {
                task: [_measure(task, path) for _ in range(1 if quick else REPEATS)] for task in _list_tasks(name)
            }
            best = {task: min(times) for task, times in compared.items()}
            rows = [
                (
                    task,
                    seconds(spent),
                    f"{spent / best[BESIDE[task]][0]:.2f}" if task in BESIDE else "",
                    f"{memory:,.0f} MB",
                )
                for task, (spent, memory) in best.items()
            ]
            print_table(f"{name}, {n_bytes / 1e6:,.0f} MB", ("how", "time", "of Polars alone", "memory"), rows)
            path.unlink()


def write_file(path: Path, size: int) -> int:
    """Write a table of about a size: texts of some hundred letters with columns beside them, or numbers only."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), 3 + i % 9)) for i in range(20_000)])
    with path.open("w", encoding="utf-8") as file:
        is_json = path.suffix == ".jsonl"
        if not is_json:
            names = (
                [f"x{j}" for j in range(20)]
                if "numbers" in path.name
                else ["id", "text", "date", "shop", "stars", "price"]
            )
            file.write(",".join(names) + "\n")
        for i in range(1 << 40):
            rows = _make_numbers(rng) if "numbers" in path.name else _make_texts(rng, words, i, is_json)
            file.write("".join(rows))
            if file.tell() >= size:
                return file.tell()
    return 0


def _make_numbers(rng: np.random.Generator) -> Iterator[str]:
    values, counts = rng.normal(size=(5000, 15)).round(6).tolist(), rng.integers(0, 100_000, (5000, 5)).tolist()
    return (",".join(map(repr, [*own, *more])) + "\n" for own, more in zip(values, counts, strict=True))


def _make_texts(rng: np.random.Generator, words: Any, block: int, is_json: bool) -> Iterator[str]:
    for i in range(1000):
        text, day = ", ".join(rng.choice(words, rng.integers(20, 250))), f"20{10 + i % 15}-05-{1 + i % 28:02d}"
        row = [f"r{block}-{i}", text, day, ("Oslo", "Rome", "Paris")[i % 3], i % 5 + 1, round(i * 0.37, 2)]
        if is_json:
            yield json.dumps(dict(zip(("id", "text", "date", "shop", "stars", "price"), row, strict=True))) + "\n"
        else:
            row[1] = f'"{row[1]}"'
            yield ",".join(map(str, row)) + "\n"


def _read_batches(path: Path) -> int:
    sources = find_files(path)
    with open_rows(sources.files[0], sources.format, Reading()) as rows:
        return sum(frame.height for frame in rows.read(dict(rows.sample.schema)))


def _scan(path: Path) -> int:
    rows = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_ndjson(path)
    return sum(frame.height for frame in rows.collect_batches())


def _read_polars(path: Path) -> Any:
    return pl.read_csv(path, try_parse_dates=True) if path.suffix == ".csv" else pl.read_ndjson(path)


TASKS: dict[str, Callable[[Path], Any]] = {
    "Polars, whole table": _read_polars,
    "Polars, all rows for types": lambda path: pl.read_ndjson(path, infer_schema_length=None),
    "read_table": read_table,
    "Polars, batches": _scan,
    "mixsearch, batches": _read_batches,
}
BESIDE = {"read_table": "Polars, whole table", "mixsearch, batches": "Polars, batches"}


def _list_tasks(name: str) -> list[str]:
    return [task for task in TASKS if name.endswith("jsonl") or "all rows" not in task]


def _measure(task: str, path: Path) -> tuple[float, float]:
    """Return seconds and megabytes of a task, in a process of its own."""
    found = subprocess.run([sys.executable, __file__, task, str(path)], capture_output=True, text=True, check=True)
    spent, memory = map(float, found.stdout.split())
    return spent, memory


def _run_task(task: str, path: Path) -> None:
    done, largest = Event(), [0]

    def watch() -> None:
        while not done.wait(0.005):
            fields = Path("/proc/self/status").read_text().split("RssAnon:")[1].split()
            largest[0] = max(largest[0], int(fields[0]))

    Thread(target=watch, daemon=True).start()
    start = time.perf_counter()
    TASKS[task](path)
    spent = time.perf_counter() - start
    done.set()
    print(spent, largest[0] / 1000)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _run_task(sys.argv[1], Path(sys.argv[2]))
    else:
        run(quick="--quick" in sys.argv)
