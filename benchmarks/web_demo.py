"""The demo corpus as a server has it: an index of the docstrings on this machine, and `mixsearch serve` on it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from mixsearch.cli.demo import index_docstrings

_START_SECONDS = 60
_OPTIONS = ("--no-open", "--no-token", "--port", "0")


@dataclass(frozen=True)
class Server:
    """A server in a separate process."""

    address: str  # http://127.0.0.1:...
    process: subprocess.Popen[bytes]

    def memory(self) -> float:
        """The memory of all its processes in MB; shared memory counts once."""
        pids = map(int, filter(str.isdigit, os.listdir("/proc")))
        return sum(measure_process(pid) for pid in pids if self._owns(pid))

    def _owns(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) == self.process.pid
        except ProcessLookupError:
            return False


def measure_process(pid: int) -> float:
    """Return the memory of a process in MB, with its part of what it shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0) / 1024


@contextmanager
def demo_index() -> Iterator[Path]:
    """The index that MIXSEARCH_DEMO_INDEX names, or a new one of the docstrings."""
    given = os.environ.get("MIXSEARCH_DEMO_INDEX")
    if given:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield index_docstrings(Path(folder))


@contextmanager
def served(*arguments: object) -> Iterator[Server]:
    """`mixsearch serve` with these arguments, at a port that is free."""
    command = [sys.executable, "-m", "mixsearch", "serve", *map(str, arguments), *_OPTIONS]
    with subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            yield Server(_address(process), process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes]) -> str:
    """Return the address of the server, once it answers."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line.decode()
        if line.startswith(b"Open "):
            break
    else:
        raise RuntimeError(f"The server did not start: {said}")
    address = said.rsplit("Open ", 1)[1].split()[0].rstrip("/")
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        try:
            with urlopen(f"{address}/api/health", timeout=5):
                return address
        except OSError:  # refused, or busy with its start
            time.sleep(0.05)
    raise RuntimeError(f"No answer at {address}")
