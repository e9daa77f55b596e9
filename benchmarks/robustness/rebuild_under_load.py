"""Replace a served index again and again while 8 clients search it, and check that no answer mixes two states.

    python benchmarks/robustness/rebuild_under_load.py
    python benchmarks/robustness/rebuild_under_load.py --seconds 60 --seed 1

The index is built from two corpora in turn, grown and shrunk between, and once deleted and restored. The clients ask
for topics of words of both corpora and open the documents that these list, without pause. Names and texts of documents
tell the corpus, the build and the row. Other clients send requests and read no answer, and a search process is killed.
Exits with 1 if an answer has documents or words of another state than its ETag says, if an answer is a 5xx that the
deleted index does not explain, if another process ends, a traceback is logged, or `api/health` is not ok at the end.
Linux only.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from hostile_requests import MAX_SECONDS, Server

from mixsearch.io.folder import read_manifest
from mixsearch.text import CorpusOptions
from mixsearch.topics import IndexOptions, add_documents, build_index, remove_documents

CORPORA = {"alpha": ("sushi", "train", "music"), "beta": ("court", "goal", "rain")}
N_DOCUMENTS, N_ADDED, N_FORMS = 240, 40, 12
N_CLIENTS, N_DEAF, N_LISTED = 8, 4, 6
# Between two changes, in seconds: the server looks for changes once a second.
MAX_PAUSE = 2.0
# What the server may answer while the index is deleted, file by file, and until it is restored; and while questions to
# the process that was killed wait for another one.
ALLOWED = ("folder_missing", "too_slow")
KILLED = "search process killed"
TOPIC, MORE, DOCUMENT = "topic", "more documents of a topic", "document of a topic"


class State(NamedTuple):
    """What an index holds."""

    corpus: str
    names: Mapping[int, str]  # by row; those that are left keep their rows


class Listed(NamedTuple):
    """A document as an answer has it."""

    row: int
    name: str
    text: str


class Observed(NamedTuple):
    """An answer."""

    kind: str
    status: int
    code: str  # of an error, or empty
    generation: str
    is_new: bool  # whether that is what the disk has
    words: tuple[str, ...] = ()
    documents: tuple[Listed, ...] = ()
    opened: Listed | None = None  # what the answer before has told about the document
    asked: str = ""  # the generation of that answer


def find_mixed(observed: Observed, states: Mapping[str, State]) -> str:
    """Return how an answer differs from the one state that it names, or nothing."""
    state = states.get(observed.generation)
    if state is None:
        return f"the state {observed.generation!r} was never written"
    if observed.asked not in ("", observed.generation):
        return f"an answer of {state.corpus} after one of another state"
    for word in observed.words:
        if re.split(r"[^a-z]", word)[0] not in (state.corpus, *CORPORA[state.corpus]):
            return f"the word {word!r} in a topic of {state.corpus}"
    for row, name, text in observed.documents:
        if state.names.get(row) != name:
            return f"{name!r} in row {row}"
        if observed.kind == DOCUMENT and not text.startswith(f"{name} "):
            return f"the text {text[:30]!r} of {name!r}"
        if observed.opened is not None and observed.opened.name != name:
            return f"{name!r} opened for {observed.opened.name!r}"
    return ""


class Writer:
    """Changes an index in a folder, with random pauses, and keeps what its states hold by their generation."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.index, self._folder, self._rng = folder / "changed.index", folder, rng
        self.states: dict[str, State] = {}
        self.generation = ""  # of the state on disk
        self.changes: Counter[str] = Counter()
        self._corpora = cycle(CORPORA)
        self._corpus, self._n_builds = "", 0

    def build(self) -> None:
        """Replace the index by one of the other corpus."""
        self._corpus, self._n_builds = next(self._corpora), self._n_builds + 1
        reading = CorpusOptions(text="text", id="id", min_df=2, max_df=1.0, stop_words=None)
        options = IndexOptions(n_components=3, overwrite=True)
        build_index(self._write_texts(0, N_DOCUMENTS), self.index, options, reading)
        self._record("built", range(N_DOCUMENTS))

    def add(self) -> None:
        """Add documents of the corpus."""
        add_documents(self.index, self._write_texts(N_DOCUMENTS, N_ADDED))
        self._record("grown", range(N_DOCUMENTS + N_ADDED))

    def remove(self) -> None:
        """Remove the first documents, after some were added."""
        remove_documents(self.index, where=f"row < {N_ADDED}")
        self._record("shrunk", range(N_ADDED, N_DOCUMENTS + N_ADDED))

    def delete_and_restore(self, server: Server) -> None:
        """Delete the index until the server says so, and restore it."""
        shutil.copytree(self.index, self._folder / "copy.index")
        shutil.rmtree(self.index)
        wait_for_health(server, "degraded")
        (self._folder / "copy.index").rename(self.index)
        self.changes["deleted and restored"] += 1

    def run(self, server: Server, end: float) -> None:
        """Change the index until a time, each of the changes at least once."""
        self.add()
        self.delete_and_restore(server)
        os.kill(max(server.list_processes()), signal.SIGKILL)
        self.changes[KILLED] += 1
        for change in cycle((self.remove, self.build, self.add)):
            time.sleep(self._rng.uniform(0, MAX_PAUSE))
            change()
            if time.monotonic() > end and self.changes["built"] > len(CORPORA):
                return

    def _name(self, row: int) -> str:
        return f"{self._corpus}-{self._n_builds}-{row}"

    def _write_texts(self, first: int, n: int) -> Path:
        rng, path = np.random.default_rng(self._n_builds), self._folder / "corpus.jsonl"
        with path.open("w") as file:
            for i in range(first, first + n):
                words = " ".join(f"{CORPORA[self._corpus][i % 3]}{j}" for j in rng.integers(N_FORMS, size=15))
                file.write(json.dumps({"id": self._name(i), "text": f"{self._name(i)} {words}"}) + "\n")
        return path

    def _record(self, change: str, rows: Iterable[int]) -> None:
        self.generation = read_manifest(self.index).generation
        self.states[self.generation] = State(self._corpus, {row: self._name(row) for row in rows})
        self.changes[change] += 1


def ask_without_reading(port: int) -> socket.socket:
    """Send requests on a connection until it is full, and read no answer."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setblocking(False)
    with suppress(BlockingIOError):
        connection.sendall(b"GET /api/indexes/changed/topic?q=sushi1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 2_000)
    return connection


class Client(threading.Thread):
    """Asks for topics of random words, and for their documents in the state that listed them, without pause."""

    def __init__(self, port: int, writer: Writer, seed: int) -> None:
        super().__init__(daemon=True)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=MAX_SECONDS)
        self._writer, self._rng = writer, random.Random(seed)
        self.observed: list[Observed] = []
        self.failures: list[str] = []
        self.done = threading.Event()

    def run(self) -> None:
        """Ask until `done`."""
        while not self.done.is_set():
            try:
                self.observed.extend(self._ask())
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.failures.append(repr(error))
                self._connection.close()

    def _ask(self) -> Iterator[Observed]:
        word = f"{self._rng.choice(sum(CORPORA.values(), ()))}{self._rng.randrange(N_FORMS)}"
        found = self._get(TOPIC, f"topic?q={word}&n_documents={N_LISTED}&n_words={self._rng.randint(5, 20)}")
        yield found
        if found.documents:
            listed = self._rng.choice(found.documents)
            yield self._get(DOCUMENT, f"documents/{listed.row}", found.generation)._replace(opened=listed)
            yield self._get(MORE, f"topic?q={word}&skip={N_LISTED}", found.generation)

    def _get(self, kind: str, path: str, generation: str = "") -> Observed:
        """Return an answer of the state that another one was of, or of any state."""
        headers = {"If-Match": f'"{generation}"'} if generation else {}
        self._connection.request("GET", f"/api/indexes/changed/{path}", headers=headers)
        answer = self._connection.getresponse()
        body, tag = json.loads(answer.read()), (answer.getheader("ETag") or "").strip('"')
        if answer.status != 200:
            return Observed(kind, answer.status, body["error"]["code"], tag, is_new=False)
        words = tuple(each["word"] for each in body.get("words", []) + body.get("related_words", []))
        documents = tuple(read_document(each) for each in ([body] if kind == DOCUMENT else body["documents"]))
        return Observed(kind, 200, "", tag, tag == self._writer.generation, words, documents, asked=generation)

    def stop(self) -> None:
        """Ask no more."""
        self.done.set()
        self.join()
        self._connection.close()


def read_document(document: Mapping[str, Any]) -> Listed:
    """Return a document of an answer."""
    return Listed(document["row"], document["name"], document.get("text") or document.get("snippet") or "")


def wait_for_health(server: Server, status: str, generation: str | None = None) -> bool:
    """Return whether the server comes to say this about its index, within a minute."""
    end = time.monotonic() + MAX_SECONDS
    while time.monotonic() < end:
        health = server.get("/api/health")
        states = [index["generation"] for index in server.get("/api/indexes")["indexes"]]
        if health["status"] == status and generation in (None, *states):
            return True
        time.sleep(0.1)
    return False


@dataclass
class Report:
    """What happened."""

    observed: list[Observed]
    states: Mapping[str, State]
    changes: Counter[str]
    failures: list[str]  # of connections
    n_ended: int  # processes
    is_healthy: bool
    log: str
    mixed: list[str] = field(init=False)
    bad: list[str] = field(init=False)  # errors that must not happen

    def __post_init__(self) -> None:
        answered = [each for each in self.observed if each.status == 200]
        self.mixed = [f"{each.kind}: {found}" for each in answered if (found := find_mixed(each, self.states))]
        errors = [each for each in self.observed if each.status >= 500]
        self.bad = [each.code for each in errors if each.code not in ALLOWED]

    def count(self, *, is_new: bool) -> int:
        """Return the number of answers of the state that the disk had, or of older ones."""
        return sum(each.status == 200 and each.is_new == is_new for each in self.observed)

    def find_wrong(self) -> list[str]:
        """Return what must not happen."""
        return [
            *([f"{len(self.mixed)} mixed answers, as {self.mixed[0]}"] if self.mixed else []),
            *([f"errors {Counter(self.bad)}"] if self.bad else []),
            *([f"{len(self.failures)} failed connections, as {self.failures[0]}"] if self.failures else []),
            *([f"{self.n_ended} processes ended"] if self.n_ended else []),
            *(["a traceback in the log"] if "Traceback" in self.log else []),
            *([] if self.is_healthy else ["health is not ok at the end"]),
            *([] if self.count(is_new=True) else ["no answer of the newest state"]),
        ]


def observe(server: Server, writer: Writer, duration: float, seed: int) -> Report:
    """Change the index of a server while clients ask."""
    clients = [Client(server.port, writer, seed * N_CLIENTS + i) for i in range(N_CLIENTS)]
    # The server, its tracker and the process that it forks from; those that search are replaced.
    processes = set(sorted(server.list_processes())[:3])
    deaf = [ask_without_reading(server.port) for _ in range(N_DEAF)]
    for client in clients:
        client.start()
    try:
        writer.run(server, time.monotonic() + duration)
        is_healthy = wait_for_health(server, "ok", writer.generation)
    finally:
        for client in clients:
            client.stop()
        for connection in deaf:
            connection.close()
    return Report(
        [each for client in clients for each in client.observed],
        writer.states,
        writer.changes,
        [each for client in clients for each in client.failures],
        len(processes - server.list_processes()),
        is_healthy,
        server.read_log(),
    )


def run(duration: float, seed: int = 0) -> tuple[Report, list[str]]:
    """Change the index of a server of its own while clients ask, and return what happened, and what was wrong."""
    with tempfile.TemporaryDirectory() as name:
        writer = Writer(Path(name), random.Random(seed))
        writer.build()
        server = Server(Path(name), writer.index, "--workers", "2")
        try:
            report = observe(server, writer, duration, seed)
        finally:
            code = server.stop()
    return report, report.find_wrong() + ([f"exit code {code}"] if code not in (0, 130) else [])


def print_report(report: Report) -> None:
    """Print what happened as tables."""
    codes = Counter(f"`{each.code}` ({each.status})" for each in report.observed if each.code)
    kinds = Counter(each.kind for each in report.observed if each.status == 200)
    rows = {
        "answers": len(report.observed),
        "of the state on disk": report.count(is_new=True),
        "of the state before": report.count(is_new=False),
        **{f"sentence: {code}": n for code, n in sorted(codes.items())},
        **{f"compared: {kind}": n for kind, n in sorted(kinds.items())},
        "mixed answers": len(report.mixed),
        "other 5xx": len(report.bad),
        "failed connections": len(report.failures),
        "tracebacks in the log": report.log.count("Traceback"),
        "processes that ended": report.n_ended,
    }
    for name, n in (*rows.items(), *report.changes.items()):
        print(f"{name:<40} {n:8,}")
    print(f"\nhealth at the end: {'ok' if report.is_healthy else 'NOT ok'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report, wrong = run(options.seconds, options.seed)
    print_report(report)
    if wrong:
        print(report.log[-4000:])
    print("; ".join(wrong) or "nothing wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
