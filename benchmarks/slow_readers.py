"""Open connections that neither read nor send in time, and count what happens to them and to other clients.

    python benchmarks/slow_readers.py
    python benchmarks/slow_readers.py --seconds 60 --seed 1

In each wave, 600 connections of 127.0.0.1 and 100 of each address from 127.0.0.2 to 127.0.0.6 ask a server of its own
for much and never read it, ask for eight things at once and never read them, read one byte a second, or send one byte a
second. The next wave begins when the server has closed all of them. Meanwhile a client with an address of its own, and
one with the address of the 600, ask a question every 100 ms. Exits with 1 if a process of the server ends, a traceback
is logged, a connection is held for longer than the time limit with its margin, the memory grows by more than
connections and cached answers may take, or a question from an address of its own is not answered. Linux only.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hostile_requests import MAX_SECONDS, Server
from measuring import megabytes, print_table, seconds

from mixsearch.index import IndexOptions, build_index
from mixsearch.text import CorpusOptions
from mixsearch.web import Limits
from mixsearch.web.middleware.timeout import PART_BYTES
from mixsearch.web.routes.topics import MAX_TEXT

# That of an idle connection too, so that one limit holds for all.
TIMEOUT = 5.0
# Unread answers are looked at four times within the time limit. The rest is for a machine with other work.
MARGIN = TIMEOUT / 4 + 3.0
# Connections per wave by address: more than one address may have, and more than all may have together.
WAVE = {"127.0.0.1": 600, **{f"127.0.0.{i}": 100 for i in range(2, 7)}}
OWN_ADDRESS, SHARED_ADDRESS = "127.0.0.7", "127.0.0.1"
ASK_SECONDS, STEP_SECONDS = 0.1, 0.05
N_DOCUMENTS, N_LONG = 400, 20
THEMES = ("sushi", "train", "music")
# A word and a name that make answers large: a character takes three bytes.
LONG_WORD, LONG_NAME = "\u5bff" * 100, "\u53f8" * 7000
# The buffers of a connection hold all of a file, but neither a document, of 0.6 MB, nor the export, of 2.1 MB.
EXPORT = "/api/indexes/long/topic.csv?q={word}&n_documents=100"
LARGE = ("/static/style.css", "/api/indexes/long/documents/{row}", EXPORT, EXPORT)
# In MB: what the server may need beyond its memory when idle. Answers in the cache are in memory once; of others, as
# documents, each connection may hold one. Unread are a part of an answer, and the one that made its buffer full.
_DOCUMENT_BYTES = 3 * (MAX_TEXT + len(LONG_NAME))
_BYTES_PER_CONNECTION = _DOCUMENT_BYTES + 2 * PART_BYTES
MAX_GROWTH = (Limits().max_cached_bytes + Limits().max_connections * _BYTES_PER_CONNECTION) / 2**20
MEMORY_SECONDS = 0.25
# Connections that are opened between two looks at all.
N_AT_ONCE = 20
# States of a connection in /proc/net/tcp that this side has not closed: established, being so, closed by the client.
OPEN = ("01", "03", "08")
ANSWERED, REFUSED, NO_ANSWER = "200", "refused", "no answer"
NEVER_READS, PIPELINES, READS_SLOWLY = "never reads", "pipelines requests, never reads", "reads a byte a second"
SENDS_HEAD, SENDS_BODY = "sends its head a byte a second", "sends its body a byte a second"
KINDS = (NEVER_READS, PIPELINES, READS_SLOWLY, SENDS_HEAD, SENDS_BODY)
# Requests that a client sends before it would read the first answer.
N_PIPELINED = 8


def build_long(folder: Path) -> Path:
    """Index documents of three planted topics with long names, of which the first have long texts."""
    rng = np.random.default_rng(0)
    with (folder / "long.jsonl").open("w") as file:
        for i in range(N_DOCUMENTS):
            words = [f"{THEMES[i % len(THEMES)]}{word}" for word in rng.integers(12, size=20)]
            text = " ".join([*words, *([LONG_WORD] * 2000 if i < N_LONG else [])])
            file.write(json.dumps({"id": f"{i}-{LONG_NAME}", "text": text}) + "\n")
    reading = CorpusOptions(text="text", id="id", min_df=1, max_df=1.0, stop_words=None)
    return build_index(folder / "long.jsonl", folder / "long.index", IndexOptions(n_components=4), reading).path


def find_held(port: int) -> set[tuple[str, int]]:
    """Return the addresses and ports of the clients whose connections the server at a port has not closed.

    The system knows: a client that does not read is not told of the end of its connection.
    """
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = [(cells[2][:8], cells[2][9:]) for cells in lines if cells[1][9:] == f"{port:04X}" and cells[3] in OPEN]
    return {(socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(number, 16)) for address, number in ends}


def choose_word(rng: random.Random) -> str:
    """Return a word of the corpus."""
    return f"{rng.choice(THEMES)}{rng.randrange(12)}"


def make_head(rng: random.Random) -> bytes:
    """Return a request for something large, without the end of its headers."""
    target = rng.choice(LARGE).format(row=rng.randrange(N_LONG), word=rng.choice(THEMES) + "1")
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()


def make_request(kind: str, rng: random.Random) -> tuple[bytes, bytes]:
    """Return what a client sends at once, and what it sends byte by byte."""
    head = make_head(rng)
    if kind == PIPELINES:
        return b"".join(make_head(rng) + b"\r\n" for _ in range(N_PIPELINED)), b""
    if kind == SENDS_HEAD:
        return b"", head + b"X: " + b"y" * 500
    if kind == SENDS_BODY:
        post = b"POST /api/indexes/long/topic HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        return post + b"Content-Length: 500\r\n\r\n", b'{"text": ["' + b"x" * 500
    return head + b"\r\n", b""


class SlowClient:
    """A connection that neither reads nor sends in time.

    Parameters
    ----------
    port : int
        The port of the server.
    address : str
        The address to come from.
    rng : random.Random
        Chooses the kind of client, and what is asked for.

    Attributes
    ----------
    key : tuple of str and int
        The address and port of this side.
    end : float or None
        When the server was seen to have closed it.
    """

    def __init__(self, port: int, address: str, rng: random.Random) -> None:
        self.kind = rng.choice(KINDS)
        at_once, self._rest = make_request(self.kind, rng)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        self._socket.settimeout(MAX_SECONDS)
        self._socket.bind((address, 0))
        self.key: tuple[str, int] = self._socket.getsockname()
        self.begin = self._next = time.monotonic()
        self.end: float | None = None
        with suppress(OSError):  # it may be refused
            self._socket.connect(("127.0.0.1", port))
            self._socket.setblocking(False)
            self._socket.send(at_once)

    @property
    def held(self) -> float:
        """Seconds until the server closed it, or until now."""
        return (self.end or time.monotonic()) - self.begin

    def step(self) -> None:
        """Read or send one byte, if a second has passed since the last one."""
        if self.kind in (NEVER_READS, PIPELINES) or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 1
        with suppress(OSError):  # closed by the server, or nothing to read
            if self.kind == READS_SLOWLY:
                self._socket.recv(1)
            else:
                self._rest = self._rest[self._socket.send(self._rest[:1]) :]

    def close(self) -> None:
        """Close the connection on this side."""
        self._socket.close()


@dataclass
class Tally:
    """What happened to the slow connections."""

    opened: Counter[str] = field(default_factory=Counter)  # by kind
    refused: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)
    longest: dict[str, float] = field(default_factory=dict)  # seconds
    n_waves: int = 0

    def add(self, client: SlowClient, timeout: float) -> None:
        """Count a connection that is over."""
        self.opened[client.kind] += 1
        # One that was accepted is never closed before its time, unless its place is given to another address.
        kept = self.refused if client.end and client.held < 0.9 * timeout else self.closed
        kept[client.kind] += 1
        self.longest[client.kind] = max(client.held, self.longest.get(client.kind, 0.0))


def run_wave(port: int, wave: Mapping[str, int], longest: float, rng: random.Random) -> list[SlowClient]:
    """Open connections, and return them when the server has closed all, or one was held for too long."""
    addresses = [address for address, n in wave.items() for _ in range(n)]
    rng.shuffle(addresses)
    clients: list[SlowClient] = []
    is_over = False
    try:
        while not is_over:
            clients += [SlowClient(port, address, rng) for address in addresses[:N_AT_ONCE]]
            del addresses[:N_AT_ONCE]
            held = find_held(port)
            waiting = [client for client in clients if client.end is None]
            for client in waiting:
                client.step()
                client.end = None if client.key in held else time.monotonic()
            is_over = not (waiting or addresses) or any(client.held > longest for client in waiting)
            time.sleep(STEP_SECONDS)
    finally:
        for client in clients:
            client.close()
    return clients


class Asker(threading.Thread):
    """An ordinary client: it asks a question every 100 ms, each with a connection of its own.

    Parameters
    ----------
    port : int
        The port of the server.
    address : str
        The address to come from.
    seed : int
        Chooses the words.
    """

    def __init__(self, port: int, address: str, seed: int) -> None:
        super().__init__(daemon=True)
        self._port, self._address, self._rng = port, address, random.Random(seed)
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        """Ask until `done`."""
        while not self.done.wait(ASK_SECONDS):
            begin, outcome = time.monotonic(), self.ask()
            self.outcomes[outcome] += 1
            if outcome == ANSWERED:
                self.slowest = max(self.slowest, time.monotonic() - begin)

    def ask(self) -> str:
        """Return the status of an answer, or what else happened."""
        target = f"/api/indexes/long/topic?q={choose_word(self._rng)}&n_documents={self._rng.randint(1, 5)}"
        head = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        try:
            source = (self._address, 0)
            with socket.create_connection(("127.0.0.1", self._port), MAX_SECONDS, source) as connection:
                connection.sendall(head.encode())
                answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except TimeoutError:
            return NO_ANSWER
        except OSError:
            return REFUSED
        found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
        return found[1].decode() if found else REFUSED

    def stop(self) -> None:
        """Ask no more."""
        self.done.set()
        self.join()


class MemoryPeak(threading.Thread):
    """Looks at the memory of a server four times a second.

    Parameters
    ----------
    server : Server
        The server, which is idle.

    Attributes
    ----------
    idle, peak : float
        In MB, before and since.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server, self._done = server, threading.Event()
        self.idle = self.peak = server.measure_memory()

    def run(self) -> None:
        """Look until `stop`."""
        while not self._done.wait(MEMORY_SECONDS):
            self.peak = max(self.peak, self._server.measure_memory())

    def stop(self) -> None:
        """Look no more."""
        self._done.set()
        self.join()


@dataclass(frozen=True)
class Report:
    """What happened to the server and its clients."""

    slow: Tally
    askers: Mapping[str, Asker]  # by address
    memory: tuple[float, float]  # in MB, when idle and at the peak
    n_ended: int  # processes
    log: str

    def find_wrong(self, longest: float) -> list[str]:
        """Return what must not happen."""
        held, own = max(self.slow.longest.values()), self.askers[OWN_ADDRESS].outcomes
        idle, peak = self.memory
        unanswered = {outcome: n for outcome, n in own.items() if outcome != ANSWERED}
        return [
            *([f"{self.n_ended} processes ended"] if self.n_ended else []),
            *(["a traceback in the log"] if "Traceback" in self.log else []),
            *([f"a connection was held for {held:.1f} s"] if held > longest else []),
            *([f"the memory grew by {peak - idle:.0f} MB"] if peak - idle > MAX_GROWTH else []),
            *([f"questions from an address of its own: {unanswered}"] if unanswered else []),
            *([] if own[ANSWERED] else ["no question was answered"]),
        ]


def observe(
    server: Server, duration: float, seed: int, wave: Mapping[str, int], timeout: float, longest: float
) -> Report:
    """Send waves of slow connections to a server for some seconds, at least one wave."""
    rng, tally = random.Random(seed), Tally()
    askers = {address: Asker(server.port, address, seed) for address in (OWN_ADDRESS, SHARED_ADDRESS)}
    askers[OWN_ADDRESS].ask()  # once all processes have started
    memory, processes, n_lines = MemoryPeak(server), server.list_processes(), len(server.read_log().splitlines())
    threads: tuple[MemoryPeak | Asker, ...] = (memory, *askers.values())
    for thread in threads:
        thread.start()
    end = time.monotonic() + duration
    while not tally.n_waves or time.monotonic() < end:
        for client in run_wave(server.port, wave, longest, rng):
            tally.add(client, timeout)
        tally.n_waves += 1
    for thread in threads:
        thread.stop()
    n_ended, log = len(processes - server.list_processes()), server.read_log().splitlines()[n_lines:]
    return Report(tally, askers, (memory.idle, memory.peak), n_ended, "\n".join(log))


def run(
    duration: float,
    seed: int = 0,
    *,
    wave: Mapping[str, int] = WAVE,
    timeout: float = TIMEOUT,
    margin: float = MARGIN,
) -> tuple[Report, list[str]]:
    """Send waves of slow connections to a server of its own, and return what happened, and what was wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder, build_long(folder), "--workers", "1", "--timeout", str(timeout))
        try:
            report = observe(server, duration, seed, wave, timeout, timeout + margin)
        finally:
            code = server.stop()
    wrong = report.find_wrong(timeout + margin)
    return report, wrong + ([f"exit code {code}"] if code not in (0, 130) else [])


def print_report(report: Report) -> None:
    """Print what happened as tables."""
    slow = report.slow
    rows = [
        (
            kind,
            *(f"{counts[kind]:,}" for counts in (slow.opened, slow.refused, slow.closed)),
            f"{slow.longest[kind] - TIMEOUT:.2f} s",
        )
        for kind in sorted(slow.opened)
    ]
    columns = ("slow connections", "opened", "refused", "closed at the limit", "longest time after it")
    print_table(f"{slow.n_waves} waves", columns, rows)
    asked = [
        (
            address,
            *(f"{n:,}" for n in (asker.outcomes.total(), asker.outcomes[ANSWERED], asker.outcomes[REFUSED])),
            f"{asker.outcomes.total() - asker.outcomes[ANSWERED] - asker.outcomes[REFUSED]:,}",
            seconds(asker.slowest),
        )
        for address, asker in report.askers.items()
    ]
    print_table("Questions", ("from", "asked", "answered", "refused", "other", "slowest answer"), asked)
    facts = [
        ("lines in the log", str(len(report.log.splitlines()))),
        ("tracebacks in the log", str(report.log.count("Traceback"))),
        ("processes that ended", str(report.n_ended)),
        ("memory when idle", megabytes(report.memory[0])),
        ("memory at the peak", megabytes(report.memory[1])),
        ("memory it may take", megabytes(report.memory[0] + MAX_GROWTH)),
    ]
    print_table("The server", ("", ""), facts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    report, wrong = run(options.seconds, options.seed)
    print_report(report)
    if wrong:
        print(report.log[-4000:])
    print("; ".join(wrong) or "nothing wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
