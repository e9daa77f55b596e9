"""Measure the start of commands: CPU time of a process, in units of `import numpy` in the same run.

Run: python benchmarks/start.py [n_runs]
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from mixsearch.topics import IndexOptions, build_index

# Larger ratios than these are too slow.
GOALS = {"import mixsearch": 2.0, "--help": 3.0, "completion": 3.0, "topic": 6.0}
RUN = "import sys; from mixsearch.cli import main; main()"


def build_corpus(folder: Path) -> Path:
    """Index 3,000 documents of planted topics."""
    rng = np.random.default_rng(0)
    words = np.array([f"{theme}{i}" for theme in ("sushi", "train", "music", "garden") for i in range(40)])
    topics = rng.integers(4, size=3000)
    picked = rng.integers(40, size=(3000, 30)) + 40 * topics[:, None]
    picked[:, 20:] = rng.integers(160, size=(3000, 10))
    build_index([" ".join(words[row]) for row in picked], folder / "corpus.index", IndexOptions(n_components=8))
    return folder / "corpus.index"


def measure(command: list[str], **environment: str) -> float:
    """Return the user and system time of a process in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}, check=False, **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(n_runs: int = 7) -> None:
    python = [sys.executable, "-c"]
    with tempfile.TemporaryDirectory() as folder:
        index = str(build_corpus(Path(folder)))
        typed = f"mixsearch topic {folder}/"
        complete = {"_MIXSEARCH_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": "2"}
        cases: dict[str, tuple[list[str], dict[str, str]]] = {
            "import numpy": ([*python, "import numpy"], {}),
            "import mixsearch": ([*python, "import mixsearch"], {}),
            "--help": ([*python, RUN, "--help"], {}),
            "completion": ([*python, RUN.replace("main()", "sys.argv[0] = 'mixsearch'; main()")], complete),
            "topic --help": ([*python, RUN, "topic", "--help"], {}),
            "topic": ([*python, RUN, "topic", index, "sushi1"], {}),
            "info": ([*python, RUN, "info", index], {}),
            "serve --help": ([*python, RUN, "serve", "--help"], {}),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(n_runs + 1):  # by turns, so that a busy moment hits all; the first run fills the caches
            for name, (command, environment) in cases.items():
                times[name].append(measure(command, **environment))
    unit = median(times["import numpy"][1:])
    print(f"import numpy: {1000 * unit:.0f} ms of CPU time, median of {n_runs}")
    for name, values in times.items():
        goal = f"  goal {GOALS[name]:g}" if name in GOALS else ""
        print(f"{name:<18} {median(values[1:]) / unit:6.2f}{goal}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
