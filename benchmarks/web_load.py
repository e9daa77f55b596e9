"""Simulate 32 users who type words key by key and request error bars, documents, comparisons and maps.

Each of them asks what the page asks: for every key an answer with completion and the words that go on, then error bars,
further documents, one document; now and then two topics side by side, or the map. Once without any pause, the next
question as soon as an answer is there, and once at the pace of people: 8 keys a second, and 1.5 s to look.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import numpy as np
from measuring import print_table
from web_demo import Server, demo_index, served

N_CLIENTS, N_FEW = 32, 12
KEY_SECONDS, LOOK_SECONDS = 0.12, 1.5
MEMORY_EVERY = 5.0  # seconds
ROWS = range(40, 80)  # of documents that are long enough to be there


@dataclass
class Tally:
    """The answers received."""

    seconds: dict[str, list[float]] = field(default_factory=dict)  # by kind of question
    failures: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # in MB, over time

    def add(self, kind: str, seconds: float) -> None:
        """Record an answer and its time."""
        self.seconds.setdefault(kind, []).append(seconds)

    @property
    def all_seconds(self) -> list[float]:
        """The times of all answers."""
        return [each for times in self.seconds.values() for each in times]


class Connection:
    """One connection that is kept, with as little work on this side as can be: the cores are the server's."""

    def __init__(self, address: str) -> None:
        split = urlsplit(address)
        self._host, self._port = split.hostname, split.port

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def get(self, path: str) -> tuple[int, bytes]:
        """Status and body."""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:"))
        return int(head[9:12]), await self._reader.readexactly(length)


def run(*, quick: bool = False) -> None:
    seconds = 5 if quick else 60
    with demo_index() as path:
        rows = []
        for n_clients, paces in ((N_CLIENTS, False), (N_FEW, False), (N_CLIENTS, True)):
            with served(f"docstrings={path}") as server:
                tally = asyncio.run(load(server, seconds, n_clients, paces=paces))
            name = f"{n_clients} clients, {'as people type' if paces else 'without a pause'}"
            rows.append((name, *_summary(tally, seconds)))
            _print_kinds(name, tally)
        heads = ("", "requests/s", "median", "95%", "99%", "errors", "memory after 10 s", "at the end")
        print_table(f"{seconds} s of load, on a server with an empty cache", heads, rows)


async def load(server: Server, seconds: float, n_clients: int = N_CLIENTS, *, paces: bool) -> Tally:
    """Let all clients ask for some seconds, and return what came back."""
    tally, words = Tally(), _words(server)
    end = time.monotonic() + seconds
    watching = asyncio.create_task(_watch(server, tally, end))
    await asyncio.gather(*(_person(number, server, words, tally, end, paces) for number in range(n_clients)))
    await watching
    return tally


def _words(server: Server) -> tuple[list[str], list[int]]:
    """Return words with their number of documents: frequent words are searched for more often."""
    found: dict[str, int] = {}
    for first, second in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=2):
        with urlopen(f"{server.address}/api/indexes/docstrings/words?prefix={first}{second}&n=100") as answer:
            found |= {each["word"]: each["n_documents"] for each in json.load(answer)["words"]}
    return list(found), list(found.values())


async def _watch(server: Server, tally: Tally, end: float) -> None:
    while time.monotonic() < end:
        tally.memory.append(server.memory())
        await asyncio.sleep(MEMORY_EVERY)


async def _person(
    number: int, server: Server, words: tuple[list[str], list[int]], tally: Tally, end: float, paces: bool
) -> None:
    choose = random.Random(number)
    async with Connection(server.address) as connection:
        async for kind, path in _asked(choose, words, paces):
            if time.monotonic() > end:
                return
            start = time.perf_counter()
            status, body = await connection.get(path)
            tally.add(kind, time.perf_counter() - start)
            if status != 200:
                tally.failures.append(f"{status} {path} {body[:200]!r}")


async def _asked(
    choose: random.Random, words: tuple[list[str], list[int]], paces: bool
) -> AsyncIterator[tuple[str, str]]:
    """Yield the requests of a simulated user, one after the other."""
    base = "/api/indexes/docstrings"
    while True:
        (word,) = choose.choices(*words)
        for end in range(2, len(word) + 1):
            yield "key", f"{base}/topic?q={quote(word[:end])}&complete=true"
            yield "completion", f"{base}/words?prefix={quote(word[:end])}"
            await asyncio.sleep(KEY_SECONDS if paces else 0)
        for kind, path in _looked_at(choose, base, quote(word)):
            yield kind, path
            await asyncio.sleep(LOOK_SECONDS if paces else 0)


def _looked_at(choose: random.Random, base: str, word: str) -> Iterator[tuple[str, str]]:
    yield "error bars", f"{base}/topic?q={word}&errors=true"
    yield "documents", f"{base}/topic/documents?q={word}&skip_documents=10"
    yield "document", f"{base}/documents/{choose.choice(ROWS)}"
    if choose.random() < 0.1:
        yield "overview", f"{base}/overview?n=30"


def _summary(tally: Tally, seconds: float) -> tuple[str, ...]:
    times = tally.all_seconds
    shown = [f"{1000 * np.percentile(times, percent):.0f} ms" for percent in (50, 95, 99)]
    settled = tally.memory[min(2, len(tally.memory) - 1)]
    return (
        f"{len(times) / seconds:.0f}",
        *shown,
        str(len(tally.failures)),
        f"{settled:.0f} MB",
        f"{tally.memory[-1]:.0f} MB",
    )


def _print_kinds(name: str, tally: Tally) -> None:
    rows = [
        (kind, str(len(times)), f"{1000 * np.median(times):.0f} ms", f"{1000 * np.percentile(times, 95):.0f} ms")
        for kind, times in tally.seconds.items()
    ]
    print_table(f"By question, {name}", ("question", "requests", "median", "95%"), rows)
    for failure in tally.failures[:5]:
        print(failure)
