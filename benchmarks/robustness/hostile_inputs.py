"""Run the commands on hostile files of every format, each in a separate process, and count the outcomes.

    python benchmarks/robustness/hostile_inputs.py
    python benchmarks/robustness/hostile_inputs.py --n 2000 --seed 1

Files are crafted (headers that lie, quotes that never close, numbers beyond every type, archives that grow a
thousandfold), or valid files with bytes flipped, cut, doubled and inserted. Exits with 1 if a process dies or hangs, if
there is a traceback, or if one takes more memory than it may.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hostile_files import COMMANDS, CRAFTED, write_valid_files

READ, SENTENCE, TRACEBACK, CRASH, HANG, MEMORY = "read", "sentence", "traceback", "crash", "hang", "memory"
BAD = (TRACEBACK, CRASH, HANG, MEMORY)
# Of CPU time, and of a process that waits for ever.
MAX_SECONDS, MAX_WAIT = 60, 900
# Above what this process has itself when it forks: what decoders of one document take.
MAX_BYTES = 600 << 20

_TOKENS = (
    b'"', b"'", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b",,,", b"[" * 900, b'{"a":' * 900, b"9" * 5000,
    b"-1", b"1e999", b"NaN", b"4294967297", b"\xed\xa0\x80", b"\xf0\x9f", b"\\ud800", b"{", b"}", b"]", b"\x1b[2J",
)  # fmt: skip


# From the name of a file to a function that writes it to a folder, and returns the command that reads it.
Crafted = Mapping[str, Callable[[Path], list[str]]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command on a file."""

    kind: str
    detail: str = ""


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with one to four places flipped, cut, doubled, replaced by zeros, or with something inserted."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        first = rng.randrange(len(changed) + 1)
        size = min(len(changed) - first, rng.choice((1, 4, 64, 4096)))
        kind = rng.randrange(5)
        if kind == 0 and first < len(changed):
            changed[first] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[first : first + size]
        elif kind == 2:
            changed[first:first] = changed[first : first + size]
        elif kind == 3:
            changed[first : first + size] = bytes(size)
        else:
            changed[first:first] = rng.choice(_TOKENS)
        if rng.random() < 0.05:
            del changed[first:]
    return bytes(changed)


def observe(arguments: list[str], folder: Path) -> Outcome:
    """Run a command in a forked process, and return what happened."""
    log = folder / "log.txt"
    sys.stdout.flush()
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = os.fork()
    if child == 0:
        run_command(arguments, log, folder)
    while True:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() - started > MAX_WAIT:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return Outcome(HANG, f"no end after {MAX_WAIT} s")
        time.sleep(0.005)
    text = log.read_text(errors="replace")
    last = text.strip().splitlines()[-1] if text.strip() else ""
    grown = (usage.ru_maxrss - before) * 1024
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return Outcome(HANG, f"no end after {MAX_SECONDS} s of work")
    if os.WIFSIGNALED(status):
        return Outcome(CRASH, f"signal {os.WTERMSIG(status)}: {last}")
    if "Traceback (most recent call last)" in text or "failed unexpectedly" in text:
        return Outcome(TRACEBACK, last)
    if grown > MAX_BYTES:
        return Outcome(MEMORY, f"{grown >> 20} MB: {last}")
    if os.WEXITSTATUS(status) == 0:
        return Outcome(READ)
    if os.WEXITSTATUS(status) == 2:
        return Outcome(TRACEBACK, f"the command itself is wrong: {text[-200:]}")
    return Outcome(SENTENCE, last) if last else Outcome(TRACEBACK, "no sentence")


def run_command(arguments: list[str], log: Path, folder: Path) -> None:
    """Run a command as the console does, with its output in a file; never return."""
    code = 99
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS + 5))
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        # Those of a test that runs this are others.
        sys.stdout, sys.stderr = (os.fdopen(each, "w", closefd=False) for each in (1, 2))
        os.chdir(folder)
        sys.argv = ["mixsearch", *arguments]
        from mixsearch.cli import main

        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 99
    finally:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)


def list_cases(folder: Path, n: int, seed: int, crafted: Crafted) -> Iterator[tuple[str, list[str]]]:
    """Write one hostile file after another, and yield its name with the command that reads it."""
    rng = random.Random(seed)
    valid = write_valid_files(folder)
    for name, write in crafted.items():
        yield name, write(folder)
    for i in range(n):
        path = valid[i % len(valid)]
        changed = path.with_name(f"changed-{path.name}")
        changed.write_bytes(mutate(path.read_bytes(), rng))
        for command in COMMANDS[path.suffixes[0] if path.suffix in (".gz", ".zst") else path.suffix]:
            yield f"{path.name} ({i})", [command[0], changed.name, *command[1:]]


def run(n: int, seed: int = 0, crafted: Crafted = CRAFTED, tell: Callable[[str], object] = print) -> Counter[str]:
    """Run the commands on crafted files and n corrupted ones, and count the outcomes."""
    _import_all()
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        for case, arguments in list_cases(Path(name), n, seed, crafted):
            outcome = observe(arguments, Path(name))
            counts[outcome.kind] += 1
            if outcome.kind in BAD:
                tell(f"{outcome.kind}: {case}: {' '.join(arguments)}: {outcome.detail}"[:400])
    return counts


def _import_all() -> None:
    """Import what every child needs, once."""
    from mixsearch.cli.app import load_command

    for command in ("index", "find", "segment"):
        load_command(command)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-crafted", action="store_true", help="only changed files")
    options = parser.parse_args()
    counts = run(options.n, options.seed, crafted={} if options.no_crafted else CRAFTED)
    for outcome in (READ, SENTENCE, *BAD):
        print(f"{outcome:<14} {counts[outcome]:6}")
    return int(any(counts[each] for each in BAD))


if __name__ == "__main__":
    sys.exit(main())
