"""Memory of the server over ten minutes, while 32 people type and read.

Run it on its own to draw the picture as well: `python benchmarks/web_memory.py memory.png`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import numpy as np
from measuring import print_table, verdict
from web_demo import demo_index, served
from web_load import MEMORY_EVERY, N_CLIENTS, load

SECONDS = 600
# The largest growth from the second minute to the last one.
MAX_GROWTH = 0.1


def run(*, quick: bool = False) -> None:
    """Print the memory minute by minute."""
    _print(_measure(60 if quick else SECONDS))


def _measure(seconds: float) -> list[float]:
    with demo_index() as path, served(f"docstrings={path}") as server:
        return asyncio.run(load(server, seconds, paces=True)).memory


def _print(memory: list[float]) -> None:
    per_minute = int(60 / MEMORY_EVERY)
    minutes = [memory[start : start + per_minute] for start in range(0, len(memory), per_minute)]
    rows = [(str(i + 1), f"{np.median(each):.0f} MB", f"{max(each):.0f} MB") for i, each in enumerate(minutes)]
    print_table(f"Memory of all processes, {N_CLIENTS} people at once", ("minute", "median", "largest"), rows)
    second, last = (float(np.median(minutes[i])) for i in (min(1, len(minutes) - 1), -1))
    print(verdict("growth from the second minute to the last", 100 * (last / second - 1), 100 * MAX_GROWTH, "%"))


def _draw(memory: list[float], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
    axes.plot(np.arange(len(memory)) * MEMORY_EVERY / 60, memory, lw=1.5)
    axes.set(xlabel="minutes", ylabel="memory of all processes, MB", ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    measured = _measure(SECONDS)
    _print(measured)
    _draw(measured, Path(sys.argv[1]))
