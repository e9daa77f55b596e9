"""Kill writers, fill disks, let writers compete, and damage or craft indexes; print attempts and failures of each.

    python benchmarks/robustness/folders.py
    python benchmarks/robustness/folders.py --quick --only damaged crafted

A killed writer must leave the old or the new index, a full disk the old one, and one of two writers is told to wait. A
damaged or crafted index must give answers or an error with a code: never a traceback, a crash, a hang or a process
that fills the memory. Exits with 1 if anything else happens. The full run takes about 15 minutes on two cores.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mixsearch.errors import Coded
from mixsearch.index import (
    AnswerOptions,
    IndexOptions,
    Query,
    add_documents,
    answer_queries,
    build_index,
    open_index,
    refresh_index,
    remove_documents,
)
from mixsearch.io import folder as format
from mixsearch.text import CorpusOptions
from mixsearch.topics import storage

MAX_SECONDS, MAX_MEMORY = 60, 6 << 30
READING = CorpusOptions(text="text", id="id", min_df=1, max_df=1.0, stop_words=None)
OPTIONS = IndexOptions(n_components=4, search={"random_state": 0}, overwrite=True)
QUERIES = [Query("sushi1", words={"sushi1": 1.0}), Query("a text", text=("train3 train4 train5",))]


def write_corpus(path: Path, n_documents: int, seed: int) -> Path:
    """Write documents of three planted topics, with columns."""
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        for i in range(n_documents):
            theme = ("sushi", "train", "music")[i % 3]
            words = [f"{theme}{j}" for j in rng.integers(12, size=15)] + [f"any{j}" for j in rng.integers(40, size=5)]
            fields = {"id": f"d{seed}-{i}", "text": " ".join(words), "stars": int(rng.integers(5)), "city": theme}
            file.write(json.dumps(fields) + "\n")
    return path


def build_example(folder: Path) -> Path:
    """Build an index of a small corpus."""
    build(folder / "whole.index", write_corpus(folder / "corpus.jsonl", 400, 0))
    return folder / "whole.index"


def build(index: Path, source: Path) -> None:
    build_index(source, index, OPTIONS, READING)


def add(index: Path, source: Path) -> None:
    add_documents(index, source)


def remove(index: Path, _: Path) -> None:
    remove_documents(index, where="stars = 1")


def rewrite(index: Path, _: Path) -> None:
    refresh_index(index)


CHANGES = {"build": build, "add": add, "remove": remove, "rewrite": rewrite}


# In a worker


def use(index: Path) -> str:
    """Use an index in every way, and return what it shows, rounded, as one text."""
    opened = open_index(index)
    outcomes = answer_queries(opened, QUERIES, AnswerOptions(n_words=8, n_documents=4), n_jobs=1)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    answers = [outcome.answer.as_dict() for outcome in outcomes if outcome.answer is not None]
    documents = [(each.name, each.text, dict(each.columns)) for each in opened.documents(answer_rows(answers))]
    matching = int(opened.match("stars >= 2").sum())
    words = [word.word for word in opened.complete_word("s", 5)]
    shown = [answers, documents, matching, words, opened.contents().n_documents, sorted(opened.names())[:9]]
    rounded = json.loads(json.dumps(shown, default=str), parse_float=lambda text: f"{float(text):.2g}")
    return json.dumps(rounded, sort_keys=True).replace(str(index), "")


def answer_rows(answers: list[dict[str, Any]]) -> list[int]:
    return [document["row"] for answer in answers for document in answer["documents"]]


def perform(order: dict[str, Any]) -> tuple[str, str]:
    """Do what the parent asks for, and return the outcome: an answer, an error with its code, or a traceback."""
    index = Path(order["index"])
    lazy = order.get("lazy", False)  # check as little as in a large index
    format.OPEN_BYTES, storage.MAX_CHECKED = (0, 0) if lazy else (4 << 20, 1 << 20)
    resource.setrlimit(resource.RLIMIT_FSIZE, (order.get("limit", resource.RLIM_INFINITY), resource.RLIM_INFINITY))
    try:
        if order["do"] in CHANGES:
            CHANGES[order["do"]](index, Path(order["source"]))
            return "answer", "done"
        answer = use(index)
        if order["do"] == "verify":
            open_index(index).verify()
        return "answer", answer
    except Coded as error:
        return "error", error.code
    except BaseException as error:
        places = [f"{Path(each.filename).name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]
        return "traceback", f"{error!r} at {' '.join(places[-6:])}"


def work() -> None:
    """Follow the orders on standard input."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    for line in sys.stdin:
        print(json.dumps(perform(json.loads(line))), flush=True)


# In the parent


class Worker:
    """A process that follows orders; one that died or hangs is replaced."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start the process."""
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([sys.executable, __file__, "--worker"], text=True, **pipes)  # type: ignore[call-overload]

    def order(self, do: str, index: Path, **more: Any) -> None:
        """Give an order, without waiting for its outcome."""
        self.process.stdin.write(json.dumps({"do": do, "index": str(index), **more}) + "\n")
        self.process.stdin.flush()

    def wait(self) -> tuple[str, str]:
        """Return the outcome of the last order."""
        ready, _, _ = select.select([self.process.stdout], [], [], MAX_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        if line:
            outcome, detail = json.loads(line)
            return outcome, detail
        self.kill()
        self.start()
        return "crash" if ready else "hang", ""

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Laboratory:
    """An index, corpora to change it with, and workers that use it."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.dice, self.number = home, random.Random(seed), 0
        sizes = {"base": 400, "more": 40, "build": 300, "add": 40}
        self.sources = {name: write_corpus(home / f"{name}.jsonl", n, i) for i, (name, n) in enumerate(sizes.items())}
        self.base = home / "base"
        build(self.base, self.sources["base"])
        add(self.base, self.sources["more"])  # an index of two segments
        self.workers, self.writer = [Worker(), Worker()], Worker()
        self.known, self.seconds = {"old": self.ask("verify", self.base)[1]}, {}
        for name in CHANGES:
            copy, start = self.copy(), time.monotonic()
            self.change(self.workers[0], name, copy)
            self.workers[0].wait()
            self.seconds[name] = time.monotonic() - start
            self.known[name] = self.ask("verify", copy)[1]

    def ask(self, do: str, index: Path, **more: Any) -> tuple[str, str]:
        """Ask the first worker."""
        self.workers[0].order(do, index, **more)
        return self.workers[0].wait()

    def change(self, worker: Worker, name: str, index: Path, **more: Any) -> None:
        """Order a change."""
        worker.order(name, index, source=str(self.sources.get(name, "")), **more)

    def copy(self) -> Path:
        """Make a fresh copy of the index."""
        self.number += 1
        shutil.rmtree(self.home / f"copy-{self.number - 1}", ignore_errors=True)
        return Path(shutil.copytree(self.base, self.home / f"copy-{self.number}"))

    def kill(self) -> str:
        """Kill a writer at a random moment while a reader uses the index."""
        name, index, writer = self.dice.choice(list(CHANGES)), self.copy(), self.writer
        writer.order("use", self.base)
        writer.wait()  # its imports are done
        self.writer = Worker()
        self.workers[1].order("use", index)
        self.change(writer, name, index)
        time.sleep(self.dice.uniform(0, 2 * self.seconds[name]))
        writer.kill()
        for when, found in (("during", self.workers[1].wait()), ("after", self.ask("verify", index))):
            if found not in (("answer", self.known["old"]), ("answer", self.known[name])):
                return f"FAILED {name}: {when} the kill {found}"
        again = self.ask("remove", index, source="")
        is_new = found[1] == self.known[name]
        if again[0] != "answer" and again[1] != "nothing_to_remove":
            return f"FAILED {name}: the next writer {again}"
        return "left the new index" if is_new else "left the old index"

    def fill_disk(self) -> str:
        """Let a change fail at a random size of a file."""
        name, index, limit = self.dice.choice(list(CHANGES)), self.copy(), int(10 ** self.dice.uniform(3.5, 5.5))
        before = {path.name for path in index.iterdir()}
        self.change(self.workers[0], name, index, limit=limit)
        outcome, left = self.workers[0].wait(), self.ask("verify", index)
        if outcome[0] == "answer" and left == ("answer", self.known[name]):
            return "written below the limit"
        is_whole = left == ("answer", self.known["old"]) and {path.name for path in index.iterdir()} == before
        return f"error {outcome[1]}" if outcome[0] == "error" and is_whole else f"FAILED {name}: {outcome}, then {left}"

    def compete(self) -> str:
        """Let two workers change an index at the same time."""
        names, index = self.dice.choices(list(CHANGES), k=2), self.copy()
        for worker, name in zip(self.workers, names, strict=True):
            self.change(worker, name, index)
        outcomes, done, busy = [worker.wait() for worker in self.workers], ("answer", "done"), ("error", "folder_busy")
        later = [("error", "documents_exist"), ("error", "nothing_to_remove")]  # the second came after the first
        is_valid = done in outcomes and all(each in (done, busy, *later) for each in outcomes)
        if not is_valid or self.ask("verify", index)[0] != "answer":
            return f"FAILED {names}: {outcomes}"
        return "one was told to wait" if busy in outcomes else "one came after the other"

    def damage(self) -> str:
        """Damage a copy, and use it."""
        index = self.copy()
        files = sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size)
        path, kind = self.dice.choice(files), self.dice.choice(DAMAGES)
        kind(path, self.dice.choice(files), self.dice)
        return self.judge(f"{kind.__name__} {path.relative_to(index)}", index)

    def craft(self) -> str:
        """Change a copy together with its checksums, and use it."""
        index, kind = self.copy(), self.dice.choice(CRAFTS)
        return self.judge(f"{kind.__name__} {kind(index, self.dice)}", index, is_crafted=True)

    def judge(self, what: str, index: Path, *, is_crafted: bool = False) -> str:
        """Use an index, as if it were small and as if it were large, and compare the outcome with what is allowed."""
        self.workers[1].order("use", index, lazy=True)
        found = [self.ask("use", index), self.workers[1].wait(), self.ask("verify", index, lazy=True)]
        wrong = [each for each in found if each[0] not in ("answer", "error")]
        if not is_crafted and found[-1][0] == "answer" and found[-1][1] != self.known["old"]:
            wrong.append(("another answer", "though it verifies"))
        return (
            f"FAILED {what}: {wrong[0]}"
            if wrong
            else "an answer"
            if found[0][0] == "answer"
            else f"error {found[0][1]}"
        )


# Damages: change a file, given another one and dice


def flip_bits(path: Path, _: Path, dice: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(dice.randint(1, 3)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def cut(path: Path, _: Path, dice: random.Random) -> None:
    os.truncate(path, dice.randrange(path.stat().st_size))


def extend(path: Path, _: Path, dice: random.Random) -> None:
    path.write_bytes(path.read_bytes() + dice.randbytes(dice.randint(1, 200)))


def zero(path: Path, _: Path, dice: random.Random) -> None:
    start = dice.randrange(path.stat().st_size)
    path.write_bytes(path.read_bytes()[:start].ljust(path.stat().st_size, b"\0"))


def delete(path: Path, _: Path, dice: random.Random) -> None:
    path.unlink()


def swap(path: Path, other: Path, dice: random.Random) -> None:
    one, two = path.read_bytes(), other.read_bytes()
    path.write_bytes(two)
    other.write_bytes(one)


DAMAGES = [flip_bits, flip_bits, flip_bits, cut, extend, zero, delete, swap]


# Crafts: change a copy with a manifest that agrees, and return what was changed


def change_manifest(index: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    fields = json.loads((index / "manifest.json").read_bytes())
    del fields["checksum"], fields["format"]
    change(fields)
    (index / "manifest.json").write_bytes(format.seal(fields))


def change_file(index: Path, path: Path, data: bytes, **facts: int) -> str:
    path.write_bytes(data)
    name, facts = str(path.relative_to(index).relative_to(path.relative_to(index).parts[0])), dict(facts)
    facts |= {"size": len(data), "checksum": format.new_hash(data).hexdigest()}
    change_manifest(index, lambda fields: fields["files"][name].update(facts))
    return name


def choose_file(index: Path, dice: random.Random, suffix: str) -> Path:
    return dice.choice(sorted(index.rglob(f"*{suffix}")))


def craft_array(index: Path, dice: random.Random) -> str:
    path, rng = choose_file(index, dice, ".npy"), np.random.default_rng(dice.randrange(1 << 30))
    array = np.load(path)
    extreme = dice.choice([-1, 0, 1 << 20, (1 << 31) - 1, -(1 << 31)]) if array.dtype.kind in "iu" else np.nan
    changes = {
        "shorter": lambda: array[:-1],
        "empty": lambda: array[:0],
        "longer": lambda: np.concatenate([array, array]),
        "deeper": lambda: array[..., None],
        "flat": lambda: array.reshape(-1),
        "floats": lambda: array.astype(np.float64),
        "whole": lambda: array.astype(np.int64),
        "complex": lambda: array.astype(np.complex64),
        "texts": lambda: array.astype("U8"),
        "extreme": lambda: np.full_like(array, np.array(extreme).astype(array.dtype)),
        "one extreme": lambda: np.where(rng.random(array.shape) < 0.02, np.array(extreme).astype(array.dtype), array),
        "shuffled": lambda: rng.permutation(array),
        "random bytes": lambda: np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape),
    }
    kind, file = dice.choice(list(changes)), io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(file, changes[kind]())
    return f"{kind} {change_file(index, path, file.getvalue())}"


def craft_header(index: Path, dice: random.Random) -> str:
    path = choose_file(index, dice, ".npy")
    dtype = dice.choice(["|O", "<f8,<i4", ">f8", "<f8", "|V8", "<U1000000", "<M8[s]", "(1000000000,)<f8", "nonsense"])
    shape = dice.choice([(-1,), (1 << 62,), (1 << 32, 1 << 32), (3,), (), (0,) * 40, ("x",), (1.5,), None])
    header = repr({"descr": dtype, "fortran_order": dice.random() < 0.5, "shape": shape}).encode().ljust(245) + b"\n"
    return change_file(index, path, b"\x93NUMPY\x01\x00\xf6\x00" + header + bytes(dice.choice([0, 24, 4096])))


def craft_bytes(index: Path, dice: random.Random) -> str:
    path = choose_file(index, dice, ".parquet")
    data = bytearray(path.read_bytes())
    for _ in range(dice.randint(1, 4)):
        data[dice.randrange(len(data))] = dice.choice([0, 127, 128, 255, dice.randrange(256)])
    return change_file(index, path, bytes(data))


def craft_table(index: Path, dice: random.Random) -> str:
    path = choose_file(index, dice, ".parquet")
    frame, file = pl.read_parquet(path), io.BytesIO()
    first, n = frame.columns[0], max(frame.height, 1)
    changes = {
        "other names": lambda: frame.rename({name: f"other {name}" for name in frame.columns}),
        "numbers": lambda: frame.with_columns(pl.lit(1).alias(name) for name in frame.columns),
        "texts": lambda: frame.with_columns(pl.all().cast(pl.String)),
        "nulls": lambda: frame.with_columns(pl.lit(None).alias(name) for name in frame.columns),
        "lists": lambda: frame.with_columns(pl.lit([1, 2]).alias(first)),
        "fewer rows": lambda: frame.head(n // 2),
        "more rows": lambda: pl.concat([frame, frame]),
        "no columns": lambda: frame.select([]),
        "one huge text": lambda: frame.with_columns(pl.lit("x" * (1 << 20)).alias(first)),
        "huge texts": lambda: pl.DataFrame({first: [f"{i}" + "x" * (100 << 20) for i in range(3)]}),
    }
    kind = dice.choice(list(changes))
    changed = changes[kind]()
    changed.write_parquet(file, compression="zstd", statistics=False)
    rows = {"n_rows": changed.height} if dice.random() < 0.5 else {}
    return f"{kind} {change_file(index, path, file.getvalue(), **rows)}"


def craft_entry(index: Path, dice: random.Random) -> str:
    value = dice.choice([-1, 0, 1, 1 << 40, 1 << 70, 1.5, "x", None, [], {}, True, "../..", "data-0000000000000000"])
    field = dice.choice(["size", "checksum", "generation", "n_rows", "block_rows", "other"])

    def change(fields: dict[str, Any]) -> None:
        name = dice.choice(list(fields["files"]))
        fields["files"][name][field] = value
        if dice.random() < 0.2:
            fields["files"][dice.choice(["../x.npy", "/etc/passwd", "a/../b.npy", "x"])] = fields["files"].pop(name)
        if dice.random() < 0.2:
            fields[dice.choice(list(fields))] = value

    change_manifest(index, change)
    return f"{field} = {value!r}"


def craft_fact(index: Path, dice: random.Random) -> str:
    path = []

    def change(fields: dict[str, Any]) -> None:
        holder: Any = fields["facts"]
        while True:
            key = dice.choice(list(holder) if isinstance(holder, dict) else list(range(len(holder))))
            path.append(key)
            if not isinstance(holder[key], dict | list) or not holder[key] or dice.random() < 0.2:
                break
            holder = holder[key]
        holder[key] = dice.choice([None, -1, 0, 1e308, float(1 << 60), "x", "", [], {}, True, [None], {"x": 1}])
        path.append(holder[key])

    change_manifest(index, change)
    return f"{path}"


def craft_special(index: Path, dice: random.Random) -> str:
    path = dice.choice(sorted(path for path in index.rglob("*") if path.is_file()))
    target = dice.choice(["/dev/zero", "/dev/stdin", "/dev/tty", str(path), str(index / "manifest.json"), "missing"])
    kinds = {"pipe": os.mkfifo, "folder": os.mkdir, "link": partial(os.symlink, target), "copy": None}
    kind, data = dice.choice(list(kinds)), path.read_bytes()
    path.unlink()
    if kind == "copy":
        Path(f"{path}.copy").write_bytes(data)
        os.symlink(f"{path}.copy", path)
    else:
        kinds[kind](path)
    return f"{kind} {target} {path.name}"


CRAFTS = [craft_array, craft_array, craft_array, craft_header, craft_bytes, craft_bytes, craft_table, craft_entry]
CRAFTS += [craft_fact, craft_fact, craft_special]
SECTIONS = {
    "killed writers": (200, Laboratory.kill),
    "full disks": (20, Laboratory.fill_disk),
    "two writers at once": (100, Laboratory.compete),
    "damaged indexes": (1000, Laboratory.damage),
    "crafted indexes": (200, Laboratory.craft),
}


def run(names: list[str], part: float, seed: int) -> list[list[Any]]:
    """Run sections, and return the rows of the table."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        laboratory = Laboratory(Path(home), seed)
        for name in names:
            attempts, attempt = SECTIONS[name]
            n = max(1, round(attempts * part))
            found = Counter(attempt(laboratory) for _ in range(n))
            failed = {what: times for what, times in found.items() if what.startswith("FAILED")}
            for what in failed:
                print(what, file=sys.stderr)
            shown = ", ".join(f"{what}: {times}" for what, times in found.most_common() if what not in failed)
            rows.append([name, n, sum(failed.values()), shown])
        for worker in (*laboratory.workers, laboratory.writer):
            worker.kill()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the attempts")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--example", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.worker or options.example:
        work() if options.worker else build_example(options.example)
        return 0
    groups = [options.only[:1], options.only[1:]]  # killing takes as long as the others together
    with ThreadPoolExecutor(2) as pool:
        parts = [pool.submit(run, group, 0.05 if options.quick else 1, options.seed) for group in groups if group]
        rows = [row for part in parts for row in part.result()]
    print("| what | attempts | failures | outcomes |\n| --- | ---: | ---: | --- |")
    for name, n, n_failed, shown in rows:
        print(f"| {name} | {n:,} | {n_failed} | {shown} |")
    return int(any(n_failed for _, _, n_failed, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
