"""Kill every command that writes files at random moments, and look at what is left.

    python benchmarks/robustness/kill_commands.py
    python benchmarks/robustness/kill_commands.py --kills 200 --only export,segment

Before each kill there is an old file. After it there must be the old or a whole new one; after the next run that is
not killed, no temporary file. `folders.py` does so for indexes. Exits with 1 if something is
broken.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hostile_inputs import run_command
from PIL import Image

OLD = b"old"


class Writer(NamedTuple):
    """A command that writes a file."""

    arguments: list[str]
    output: str
    is_whole: Callable[[bytes], bool]


def is_table(n_rows: int) -> Callable[[bytes], bool]:
    """Return whether bytes are CSV with a header and this many rows, each with an end."""
    return lambda data: data.endswith(b"\n") and data.count(b"\n") == n_rows + 1


def is_zip(data: bytes) -> bool:
    """Return whether bytes end as those of Excel do."""
    return b"PK\x05\x06" in data[-64:]


def is_png(data: bytes) -> bool:
    """Return whether bytes are a whole PNG."""
    return data.startswith(b"\x89PNG") and data.endswith(b"IEND\xaeB`\x82")


def is_html(data: bytes) -> bool:
    """Return whether bytes are a whole page."""
    return data.rstrip().endswith(b"</html>")


def is_parquet(data: bytes) -> bool:
    """Return whether bytes begin and end as those of Parquet."""
    return data[:4] == data[-4:] == b"PAR1"


def make_writers(folder: Path) -> dict[str, Writer]:
    """Write what the commands read, and return them."""
    # In another process: Polars must not be used before a fork.
    code = "import sys, pathlib, folders; folders.build_example(pathlib.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, folder], check=True, cwd=Path(__file__).parent)
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal(3 * (i % 2)):.3f},{rng.normal(3 * (i % 2)):.3f},{rng.normal():.3f}" for i in range(300)]
    (folder / "table.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    edges = [(i, j) for i in range(60) for j in range(i) if rng.random() < (0.4 if i % 2 == j % 2 else 0.02)]
    (folder / "edges.csv").write_text("\n".join(["from,to", *(f"n{i},n{j}" for i, j in edges)]) + "\n")
    pixels = np.zeros((120, 160, 3), np.uint8)
    pixels[:, 80:] = 200
    Image.fromarray(pixels + rng.integers(0, 20, pixels.shape, dtype=np.uint8)).save(folder / "photo.png")
    segment = ["segment", "photo.png", "--seed", "left=20,60", "--seed", "right=140,60"]
    found = ["table.csv", "--examples", "0,2,4"]
    n_nodes = len({end for edge in edges for end in edge})
    return {
        "export": Writer(["export", "whole.index", "-o", "x.csv"], "x.csv", is_table(400)),
        "export to Parquet": Writer(["export", "whole.index", "-o", "x.parquet"], "x.parquet", is_parquet),
        "export --topics": Writer(
            ["export", "whole.index", "--topics", "sushi1", "-o", "l.csv"], "l.csv", is_table(400)
        ),
        "report": Writer(["report", "whole.index", "sushi1", "-o", "r.html"], "r.html", is_html),
        "export to Excel": Writer(["export", "whole.index", "-o", "x.xlsx"], "x.xlsx", is_zip),
        "topic --plot": Writer(["topic", "whole.index", "sushi1", "--plot", "t.png"], "t.png", is_png),
        "find": Writer(["find", *found, "-o", "f.csv"], "f.csv", is_table(300)),
        "community": Writer(
            ["community", "edges.csv", "--examples", "n0,n2", "-o", "c.csv"], "c.csv", is_table(n_nodes)
        ),
        "segment": Writer([*segment, "-o", "o.png"], "o.png", is_png),
    }


def start(writer: Writer, folder: Path) -> int:
    """Run a command in a forked process, and return its number."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        run_command(writer.arguments, folder / "log.txt", folder)
    return child


def run_whole(writer: Writer, folder: Path) -> float:
    """Run a command to its end, and return how long it took."""
    begun = time.monotonic()
    _, status = os.waitpid(start(writer, folder), 0)
    if status:
        raise RuntimeError(f"{' '.join(writer.arguments)} failed: {(folder / 'log.txt').read_text()[-500:]}")
    return time.monotonic() - begun


def kill(writer: Writer, folder: Path, seconds: float) -> str:
    """Kill a command after a time, and say what it left."""
    output = folder / writer.output
    output.write_bytes(OLD)
    child = start(writer, folder)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = output.read_bytes()
    return "old" if left == OLD else "new" if writer.is_whole(left) else "BROKEN"


def list_temporary(folder: Path) -> list[Path]:
    """Return the hidden files of a folder."""
    return [path for path in folder.iterdir() if path.name.startswith(".")]


def try_command(writer: Writer, folder: Path, kills: int, dice: random.Random) -> Counter[str]:
    """Kill a command many times, and count what it left."""
    run_whole(writer, folder)  # imports of its own are made in every process, but files are cached from here on
    usual = run_whole(writer, folder)
    if not writer.is_whole((folder / writer.output).read_bytes()):
        raise RuntimeError(f"{' '.join(writer.arguments)} did not write a whole file.")
    # Most files are written at the end.
    found = Counter(kill(writer, folder, usual * dice.triangular(0, 1.2, 0.95)) for _ in range(kills))
    found["temporary files"] = len(list_temporary(folder))
    for path in list_temporary(folder):
        os.utime(path, (0, 0))  # as if hours had passed
    run_whole(writer, folder)
    found["left after the next run"] = len(list_temporary(folder))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20, help="of each command")
    parser.add_argument("--only", help="names of commands, with commas between them")
    options = parser.parse_args()
    dice, is_broken = random.Random(0), False
    from mixsearch.cli.app import load_command

    with tempfile.TemporaryDirectory() as name:
        writers = make_writers(Path(name))
        for command in {writer.arguments[0] for writer in writers.values()}:
            load_command(command)
        for command in options.only.split(",") if options.only else writers:
            found = try_command(writers[command], Path(name), options.kills, dice)
            is_broken |= found["BROKEN"] + found["left after the next run"] > 0
            print(f"{command:22s}" + ", ".join(f"{state}: {n}" for state, n in found.items() if n), flush=True)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
