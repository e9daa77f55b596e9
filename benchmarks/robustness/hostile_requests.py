"""Send odd and ordinary requests to a server of its own, as bytes on a socket, and count what happens.

    python benchmarks/robustness/hostile_requests.py
    python benchmarks/robustness/hostile_requests.py --n 10000 --seed 1

Routes and parameters are those of the server's OpenAPI description, with values that exist, values that do not, huge
and broken ones; methods, headers and bodies that do not belong; and valid requests with bytes flipped, cut, doubled and
inserted. Some clients leave before the answer. Exits with 1 if the server ends, does not answer, answers with
`internal`, logs a traceback, or does not answer an ordinary question afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from folders import build_example
from hostile_inputs import mutate

CLOSED, LEFT, INTERNAL, HANG = "closed by the server", "client left", "internal error", "no answer"
N_CLIENTS, MAX_SECONDS = 4, 60

KNOWN: dict[str, tuple[str, ...]] = {
    "index": ("whole",),
    "row": ("0", "5", "399", "400", "-1", "1e9"),
    "file": ("example",),
    "q": ("sushi1", "train3 music2", '"sushi1 sushi2"', "su*", "-any1 music3", "train1^2", "sushy", "any0"),
    "topic": ("q=sushi1", "q=train2&narrower=1", "documents=3", "q=zzz"),
    "documents": ("3", "3,5", "399"),
    "where": ("stars <= 2", "stars > 9", "stars"),
    "by": ("stars", "row", "id"),
    "words": ("sushi1", "train3"),
    "prefix": ("s", "tr", ""),
    "seed": ("120,80", "sky:216,96", "1,1+2,2"),
    "examples": ("0", "17", "177"),
    "columns": ("alcohol", "hue"),
    "x": ("alcohol",),
    "y": ("proline",),
    "n": ("1", "5"),
}
ODD = (
    "", " ", "0", "-1", "1e308", "NaN", "9" * 400, "true", "null", "[]", "{}", "'", '"', "\x00", "%00", "..",
    "../../etc", "<script>", "\u202e", "\U0001f600" * 50, "a" * 5000, "film^1e50", "a^-1e-400", "*" * 200, '"' * 99,
    "x:" * 500,
    ",".join(["1"] * 3000), "0x10", "1_000", "\ud800", "\r\nX: y", "%", "%zz", "stars == '" + "(" * 400,
)  # fmt: skip
METHODS = ("GET", "GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "BREW", "")
HEADERS: tuple[tuple[str, str], ...] = (
    ("Host", "evil.example"), ("Host", ""), ("Content-Length", "-5"), ("Content-Length", "99999999999999"),
    ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "gzip, chunked"), ("Expect", "100-continue"),
    ("Content-Type", "application/json"), ("Content-Type", "multipart/form-data; boundary="), ("Range", "bytes=9-1"),
    ("Cookie", "a=" + "b" * 4000), ("Cookie", "mixsearch=;;;="), ("Authorization", "Bearer \xff"), ("Origin", "null"),
    ("Accept-Encoding", "gzip;q=nan"), ("If-None-Match", "*"), ("Upgrade", "websocket"), ("X" * 300, "y"),
    ("X-Long", "z" * 70_000), ("Connection", "close, keep-alive"), ("Accept-Language", "\xe4" * 99),
)  # fmt: skip
BODIES = (
    b"", b"{}", b'{"judgements": {"3": true}, "n": 5}', b'{"judgements": {"x": 1}}', b'{"n": 7e9}', b"[" * 5000,
    b'{"judgements": {"' + b"9" * 9999,
    b'{"saved": [{"name": "\\ud800", "state": ""}]}',
    b"\xff\xfe\x00", b"0\r\n\r\n", b"ffffffffff\r\n", b"GIF89a" + bytes(50),
    b"PK\x03\x04" + bytes(99),
    b"a,b\n1,2\n3", b'{"file": "../../x"}', b'{"seeds": [[1e999, 2]]}',
)  # fmt: skip


class Server:
    """`mixsearch serve INDEX OPTIONS` in a process of its own, with its log in a folder."""

    def __init__(self, folder: Path, index: Path, *options: str) -> None:
        self._log = folder / "log.txt"
        command = [sys.executable, "-m", "mixsearch", "serve", str(index), "--no-open", "--no-token", "--port", "0"]
        with self._log.open("wb") as log:
            # A session of its own: the processes of the server are those of its group.
            self._process = subprocess.Popen(
                [*command, *options], stdout=log, stderr=log, cwd=folder, start_new_session=True
            )
        self.port = self._wait_for_port()
        self.routes: dict[str, Any] = self.get("/api/openapi.json")["paths"]

    def get(self, path: str) -> Any:
        """Return the JSON at an address."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=MAX_SECONDS) as answer:
            return json.loads(answer.read())

    def _wait_for_port(self) -> int:
        for _ in range(600):
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.read_log())
            if found:
                return int(found[1])
            time.sleep(0.1)
        raise RuntimeError(f"The server did not start: {self.read_log()}")

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def list_processes(self) -> set[int]:
        """Return the ids of the server's processes that run."""
        return {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._owns(pid)}

    def _owns(self, pid: int) -> bool:
        try:
            return os.getpgid(pid) == self._process.pid
        except ProcessLookupError:
            return False

    def read_log(self) -> str:
        """Return what the server has printed."""
        return self._log.read_text(errors="replace")

    def stop(self) -> int:
        """End the server as `docker stop` does, and return its exit code."""
        self._process.terminate()
        return self._process.wait(MAX_SECONDS)


def make_request(routes: dict[str, Any], rng: random.Random) -> tuple[bytes, float]:
    """Return a request, ordinary or with something odd in any place, and how long its client waits for an answer."""
    path, about = rng.choice(list(routes.items()))
    method = rng.choice(list(about)).upper() if rng.random() < 0.8 else rng.choice(METHODS)
    parameters = about.get(method.lower(), {}).get("parameters", [])
    target = re.sub(r"{(\w+)}", lambda name: _quote(_choose(name[1], rng)), path)
    chosen = [each["name"] for each in parameters if each["in"] == "query" and rng.random() < 0.4]
    chosen += ["q"] if "topic" in path and "q" not in chosen and rng.random() < 0.8 else []
    chosen += [rng.choice(["zzz", "", "q[]", "q" * 500])] if rng.random() < 0.03 else []
    query = "&".join(f"{quote(name)}={_quote(_choose(name, rng))}" for name in chosen)
    headers = {"Host": "127.0.0.1", "Connection": "close"}
    body = rng.choice(BODIES) if method not in ("GET", "HEAD") or rng.random() < 0.03 else b""
    if body:
        headers |= {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    # The server waits for what such a request may still bring: its client leaves first.
    is_broken, leaves = rng.random() < 0.25, rng.random() < 0.03
    if is_odd := rng.random() < 0.2:
        headers |= dict([rng.choice(HEADERS)])
    head = f"{method} {target}?{query} HTTP/1.1\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in headers.items()
    )
    request = head.encode("latin-1", "replace") + b"\r\n" + body
    patience = 0.0 if leaves else 0.5 if is_broken or is_odd or method not in METHODS[:9] else MAX_SECONDS
    return (mutate(request, rng) if is_broken else request), patience


def _quote(value: str) -> str:
    """Return a value as it is sent; a lone surrogate as its bytes, and a percent sign as it is."""
    return quote(value.encode(errors="surrogatepass"), safe="/.%")


def _choose(name: str, rng: random.Random) -> str:
    return rng.choice(KNOWN[name]) if name in KNOWN and rng.random() < 0.7 else rng.choice(ODD)


def send(port: int, request: bytes, patience: float = MAX_SECONDS) -> str:
    """Send a request, and return what came back: a status, or what else happened. Without patience, leave at once."""
    with socket.create_connection(("127.0.0.1", port), timeout=MAX_SECONDS) as connection:
        try:
            connection.sendall(request)
            connection.settimeout(patience)
            if not patience:
                return LEFT
            answer = b""
            while chunk := connection.recv(1 << 16):
                answer += chunk[: max(0, (1 << 16) - len(answer))]
        except TimeoutError:
            return HANG if patience == MAX_SECONDS else LEFT
        except OSError:
            return CLOSED
    if b'"code": "internal"' in answer:
        return INTERNAL
    found = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    return found[1].decode() if found else CLOSED


def run(n: int, seed: int = 0, tell: Callable[[str], object] = print) -> tuple[Counter[str], list[str]]:
    """Send n requests, and return the counts of what came back, and what was wrong."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), build_example(Path(name)), "--workers", "1")
        try:
            requests = [make_request(server.routes, rng) for _ in range(n)]
            with ThreadPoolExecutor(N_CLIENTS) as clients:
                outcomes = list(clients.map(lambda each: send(server.port, *each), requests))
            for (request, _), outcome in zip(requests, outcomes, strict=True):
                if outcome in (INTERNAL, HANG):
                    tell(f"{outcome}: {request[:300]!r}")
            last = b"GET /api/indexes/whole/topic?q=music5 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            wrong = [] if server.is_alive and send(server.port, last) == "200" else ["the server ended"]
        finally:
            code = server.stop()
        log = server.read_log()
    wrong += ["a traceback in the log"] if "Traceback" in log else []
    wrong += [f"exit code {code}"] if code not in (0, 130) else []
    wrong += [each for each in (INTERNAL, HANG) if each in outcomes]
    if wrong:
        tell(log[-4000:])
    return Counter(outcomes), wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts, wrong = run(options.n, options.seed)
    for outcome, times in sorted(counts.items()):
        print(f"{outcome:<22} {times:6}")
    print("; ".join(wrong) or "nothing wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
