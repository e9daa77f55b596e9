"""Kill a writer of a folder repeatedly, and check what is left: the old content, the new content, or nothing yet.

    python benchmarks/robustness/kill_writer.py
    python benchmarks/robustness/kill_writer.py -- mixsearch index corpus.txt --output {folder} --overwrite

The command must write to `{folder}` and replace what is there. Exits with 1 if ever a folder was broken.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
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

from mixsearch.errors import MissingFolderError, StorageError, UnfinishedFolderError
from mixsearch.io.folder import open_folder, write_folder

OWN_WRITER = [sys.executable, __file__, "--write", "{folder}"]
BROKEN = "BROKEN"


class Pace(NamedTuple):
    """Seconds until the command begins to write, and from then on."""

    before: float
    writing: float


def run(command: list[str], folder: Path, kills: int, seed: int, look: Callable[[], str]) -> bool:
    """Whether the folder was whole every time."""
    dice, found = random.Random(seed), Counter[str]()
    words = [word.replace("{folder}", str(folder)) for word in command]
    pace = measure_pace(words, folder)
    print(f"{pace.before:.2f} s until the first file, {pace.writing:.2f} s of writing; {kills} kills")
    for n in range(kills):
        first = n % 2 == 0
        old = prepare(words, folder, look, first=first)
        late = dice.random() < 0.8
        moment = dice.uniform(0, 1.1 * pace.writing) if late else dice.uniform(0, pace.before)
        killed = kill_at(words, folder, moment, after_begin=late)
        outcome = name_outcome(look(), old)
        found[outcome] += 1
        begun = "after the first file" if late else "after the start"
        how = "killed" if killed else "had ended"
        print(f"{n + 1:3d}  {'first write' if first else 'replacement'}  {how} {moment:5.2f} s {begun:20s}  {outcome}")
    subprocess.run(words, check=True)
    tidy = name_outcome(look(), "") == "new" and len(generations(folder)) == 1
    print(", ".join(f"{outcome}: {times}" for outcome, times in sorted(found.items())))
    print(
        "The next writer has left one whole folder." if tidy else f"{BROKEN}: the next writer left {os.listdir(folder)}"
    )
    return tidy and not any(outcome.startswith(BROKEN) for outcome in found)


def generations(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("data-*")}


def measure_pace(words: list[str], folder: Path) -> Pace:
    began = time.monotonic()
    writer = subprocess.Popen(words)
    wait_for_files(writer, folder, set())
    first_file = time.monotonic()
    if writer.wait() != 0:
        raise SystemExit(f"The command failed with {writer.returncode}: {' '.join(words)}")
    return Pace(first_file - began, time.monotonic() - first_file)


def wait_for_files(writer: subprocess.Popen[bytes], folder: Path, known: set[str]) -> None:
    while writer.poll() is None and generations(folder) <= known:
        time.sleep(0.002)


def prepare(words: list[str], folder: Path, look: Callable[[], str], *, first: bool) -> str:
    """Prepare the folder for the next kill; leftovers of earlier ones stay, for the writer to clear."""
    state = look()
    if first and state:
        shutil.rmtree(folder)
        state = ""
    elif not first and not state:
        subprocess.run(words, check=True)
        state = look()
    return state


def kill_at(words: list[str], folder: Path, moment: float, *, after_begin: bool) -> bool:
    known = generations(folder)
    writer = subprocess.Popen(words, start_new_session=True)
    if after_begin:
        wait_for_files(writer, folder, known)
    time.sleep(moment)
    alive = writer.poll() is None
    if alive:
        os.killpg(writer.pid, signal.SIGKILL)
    writer.wait()
    return alive


def name_outcome(state: str, old: str) -> str:
    if state.startswith(BROKEN):
        return state
    if not state:
        return "none" if not old else f"{BROKEN}: the old one is gone"
    return "old" if state == old else "new"


def look_at(folder: Path, kind: str, version: int) -> str:
    """Verify the folder and return its generation; empty if none was ever published."""
    try:
        opened = open_folder(folder, kind=kind, version=version)
        opened.verify()
    except (MissingFolderError, UnfinishedFolderError):
        return ""
    except StorageError as error:
        return f"{BROKEN}: {error}"
    return opened.generation


def write_example(folder: str) -> None:
    """Stand-in for a real index: about a second of streams, texts and an array filled out of order."""
    rng = np.random.default_rng(0)
    with write_folder(folder, kind="topic index", version=1, overwrite=True) as out:
        texts = out.texts("texts")
        with out.stream("counts/data", np.float32, (100,)) as stream:
            for start in range(20):
                stream.append(rng.random((5000, 100), np.float32))
                texts.append(f"document {start} {n} of a very small world" for n in range(5000))
        with out.allocate("frame/filled", (200_000, 10), np.float64) as filled:
            filled[rng.permutation(len(filled))] = 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="topic index", help="what the command writes")
    parser.add_argument("--format", type=int, default=1, help="newest format to read")
    parser.add_argument("--write", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs="*", default=OWN_WRITER, help="writes to {folder}; give it after --")
    options = parser.parse_args()
    if options.write:
        write_example(options.write)
        return 0
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "index"
        whole = run(
            options.command,
            folder,
            options.kills,
            options.seed,
            lambda: look_at(folder, options.kind, options.format),
        )
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
