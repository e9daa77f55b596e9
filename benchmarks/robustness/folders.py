"""Kill writers, fill disks, let writers compete, and damage or craft indexes; print attempts and failures of each.

    python benchmarks/robustness/folders.py
    python benchmarks/robustness/folders.py --quick --only "damaged indexes" "crafted indexes"

A killed writer must leave the old or the new index, a full disk the old one, and one of two writers is told to wait. A
damaged or crafted index must give answers or an error with a code: never a traceback, a crash, a hang or a process
that fills the memory. Exits with 1 if anything else happens. The full run takes about 10 minutes on two cores.
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
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mixsearch import topics as api
from mixsearch.errors import Coded
from mixsearch.io import folder as format
from mixsearch.text import CorpusOptions
from mixsearch.topics import storage

MAX_SECONDS, MAX_MEMORY = 60, 6 << 30
READING = CorpusOptions(text="text", id="id", min_df=1, max_df=1.0, stop_words=None)
OPTIONS = api.IndexOptions(n_components=4, overwrite=True)
QUESTIONS = [api.Question("sushi1", "sushi1"), api.Question("a text", text=("train3 train4 train5",))]
CHANGES = {
    "build": lambda index, source: api.build_index(source, index, OPTIONS, READING),
    "add": api.add_documents,
    "remove": lambda index, _: api.remove_documents(index, where="stars = 1"),
    "rewrite": lambda index, _: api.refresh_index(index),
}
NOTHING_LEFT = ("nothing_to_remove", "filter_matches_nothing")  # errors of a removal after another one


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
    return api.build_index(write_corpus(folder / "corpus.jsonl", 400, 0), folder / "whole.index", OPTIONS, READING).path


def use(index: Path) -> str:
    """Use an index in every way, and return what it shows, rounded, as one text."""
    opened = api.open_index(index)
    outcomes = api.answer_questions(opened, QUESTIONS)
    for error in filter(None, (outcome.error for outcome in outcomes)):
        raise error
    answers = [api.describe_topic(opened, outcome.topic, n_words=8, n_documents=4) for outcome in outcomes]
    rows = [document["row"] for answer in answers for document in answer["documents"]]
    documents = [(each.name, each.text, dict(each.columns)) for each in opened.documents(rows)]
    words = [word.word for word in opened.complete_word("s", 5)]
    matching = int(opened.columns.match("stars >= 2").sum())
    shown = [
        answers,
        documents,
        matching,
        words,
        opened.contents().n_documents,
        sorted(opened.columns.read_names())[:9],
    ]
    # What is left of zero after rounding may differ from one process to the next.
    rounded = json.loads(json.dumps(shown, default=str), parse_float=lambda text: f"{round(float(text), 6):.2g}")
    return json.dumps(rounded, sort_keys=True).replace(str(index), "")


def perform(order: dict[str, Any]) -> tuple[str, str]:
    """Do what the parent asks for, and return the outcome: an answer, an error with its code, or a traceback."""
    index = Path(order["index"])
    # If it is lazy, check as little as in a large index.
    format.SMALL_BYTES, storage.MAX_CHECKED = (0, 0) if order.get("lazy") else (1 << 17, 1 << 20)
    resource.setrlimit(resource.RLIMIT_FSIZE, (order.get("limit", resource.RLIM_INFINITY), resource.RLIM_INFINITY))
    try:
        if order["do"] in CHANGES:
            CHANGES[order["do"]](index, index.with_name(f"{order['do']}.jsonl"))
            return "answer", "done"
        answer = use(index)
        if order["do"] == "verify":
            api.open_index(index, verify=True)
        return "answer", answer
    except Coded as error:
        return "error", error.code
    except BaseException as error:
        return "traceback", f"{error!r} {traceback.extract_tb(error.__traceback__)[-3:]}"


class Worker:
    """A process that follows orders; one that dies or hangs is replaced."""

    def __init__(self) -> None:
        command, pipe = [sys.executable, __file__, "--worker"], subprocess.PIPE
        self.process = subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def order(self, do: str, index: Path, **more: Any) -> None:
        self.process.stdin.write(json.dumps({"do": do, "index": str(index), **more}) + "\n")
        self.process.stdin.flush()

    def wait(self) -> tuple[str, str]:
        ready, _, _ = select.select([self.process.stdout], [], [], MAX_SECONDS)
        if line := self.process.stdout.readline() if ready else "":
            return tuple(json.loads(line))
        self.kill()
        self.__init__()
        return "crash" if ready else "hang", ""

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


class Laboratory:
    """An index, corpora to change it with, and workers that use it."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.dice, self.number, self.base = home, random.Random(seed), 0, home / "base"
        for i, (name, n_documents) in enumerate({"base": 400, "more": 40, "build": 300, "add": 40}.items()):
            write_corpus(home / f"{name}.jsonl", n_documents, i)
        CHANGES["build"](self.base, home / "base.jsonl")
        CHANGES["add"](self.base, home / "more.jsonl")  # an index of two segments
        self.workers, self.writer = [Worker(), Worker()], Worker()
        self.known, self.seconds = {"old": self.ask("verify", self.base)}, {}
        for name in CHANGES:
            copy, start = self.copy(), time.monotonic()
            self.ask(name, copy)
            self.seconds[name], self.known[name] = time.monotonic() - start, self.ask("verify", copy)

    def ask(self, do: str, index: Path, **more: Any) -> tuple[str, str]:
        self.workers[0].order(do, index, **more)
        return self.workers[0].wait()

    def copy(self) -> Path:
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
        writer.order(name, index)
        time.sleep(self.dice.uniform(0, 2 * self.seconds[name]))
        writer.kill()
        during, after, again = self.workers[1].wait(), self.ask("verify", index), self.ask("remove", index)
        if {during, after} <= {self.known["old"], self.known[name]} and again[1] in ("done", *NOTHING_LEFT):
            return "left the new index" if after == self.known[name] else "left the old index"
        return f"FAILED {name}: during the kill {during}, after it {after}, the next writer {again}"

    def fill_disk(self) -> str:
        name, index = self.dice.choice(["remove", "remove", "add"]), self.copy()
        outcome = self.ask(name, index, limit=int(10 ** self.dice.uniform(2.5, 4.5)))
        left = self.ask("verify", index)
        if outcome[0] == "answer" and left == self.known[name]:
            return "written below the limit"
        is_whole = outcome[0] == "error" and left == self.known["old"]
        return f"error {outcome[1]}" if is_whole else f"FAILED {name}: {outcome}, then {left}"

    def compete(self) -> str:
        names, index = self.dice.choices(list(CHANGES), k=2), self.copy()
        for worker, name in zip(self.workers, names, strict=True):
            worker.order(name, index)
        codes = {worker.wait()[1] for worker in self.workers}
        # The last two are of a writer that came after the first.
        is_valid = "done" in codes and codes <= {"done", "folder_busy", "documents_exist", *NOTHING_LEFT}
        if not is_valid or self.ask("verify", index)[0] != "answer":
            return f"FAILED {names}: {codes}"
        return "one was told to wait" if "folder_busy" in codes else "one came after the other"

    def damage(self) -> str:
        index = self.copy()
        files = sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size)
        path, other = self.dice.sample(files, 2)
        return self.judge(f"{damage_file(path, other, self.dice)} {path.relative_to(index)}", index)

    def craft(self) -> str:
        """Change a copy together with its checksums, and use it."""
        index, kind = self.copy(), self.dice.choice(CRAFTS)
        return self.judge(f"{kind.__name__} {kind(index, self.dice)}", index, is_crafted=True)

    def judge(self, what: str, index: Path, *, is_crafted: bool = False) -> str:
        """Use an index, as if it were small and as if it were large, and compare the outcome with what is allowed."""
        self.workers[1].order("use", index, lazy=True)
        found = [self.ask("use", index), self.workers[1].wait(), self.ask("verify", index, lazy=True)]
        wrong = [each for each in found if each[0] not in ("answer", "error")]
        if wrong or (not is_crafted and found[-1][0] == "answer"):
            return f"FAILED {what}: {wrong or 'not found'}"
        return "an answer" if found[0][0] == "answer" else f"error {found[0][1]}"


def damage_file(path: Path, other: Path, dice: random.Random) -> str:
    data, kind = path.read_bytes(), dice.choice(["flip", "flip", "flip", "cut", "extend", "zero", "delete", "swap"])
    place = dice.randrange(len(data))
    flipped = data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]
    changed = {"cut": data[:place], "extend": data + b"x", "zero": data[:place] + bytes(len(data) - place)}
    if kind == "swap":
        changed["swap"] = other.read_bytes()
        other.write_bytes(data)
    new = changed.get(kind, flipped)
    path.unlink() if kind == "delete" else path.write_bytes(new if new != data else flipped)
    return kind


def change_file(index: Path, path: Path, data: bytes, **facts: int) -> str:
    name = "/".join(path.relative_to(index).parts[1:])
    path.write_bytes(data)
    fields = read_manifest(index)
    fields["files"][name] |= {"size": len(data), "checksum": sha256(data).hexdigest(), **facts}
    (index / "manifest.json").write_bytes(format.seal(fields))
    return name


def read_manifest(index: Path) -> dict[str, Any]:
    fields = json.loads((index / "manifest.json").read_bytes())
    return {name: value for name, value in fields.items() if name != "checksum"}


def craft_array(index: Path, dice: random.Random) -> str:
    path, rng = dice.choice(sorted(index.rglob("*.npy"))), np.random.default_rng(dice.randrange(1 << 30))
    array, file = np.load(path), io.BytesIO()
    extreme = dice.choice([-1, 0, 1 << 20, (1 << 31) - 1, -(1 << 31)]) if array.dtype.kind in "iu" else np.nan
    changes = {
        "shorter": lambda: array[:-1],
        "longer": lambda: np.concatenate([array, array]),
        "another type": lambda: array.astype(dice.choice(["f8", "i8", "c8", "U8", "u1", "?", ">f4"])),
        "extreme": lambda: np.full_like(array, np.array(extreme).astype(array.dtype)),
        "partly extreme": lambda: np.where(rng.random(array.shape) < 0.02, extreme, array).astype(array.dtype),
        "shuffled": lambda: rng.permutation(array),
        "random": lambda: np.frombuffer(rng.bytes(array.nbytes), array.dtype).reshape(array.shape),
    }
    kind = dice.choice(list(changes))
    with np.errstate(all="ignore"):
        np.save(file, changes[kind]())
    return f"{kind} {change_file(index, path, file.getvalue())}"


def craft_table(index: Path, dice: random.Random) -> str:
    path = dice.choice(sorted(index.rglob("*.parquet")))
    frame, file, data = pl.read_parquet(path), io.BytesIO(), bytearray(path.read_bytes())
    if dice.random() < 0.7:
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(len(data))] = dice.choice([0, 127, 128, 255, dice.randrange(256)])
        return f"bytes {change_file(index, path, bytes(data))}"
    changes = {
        "other names": lambda: frame.rename({name: f"other {name}" for name in frame.columns}),
        "numbers": lambda: frame.with_columns(pl.lit(1).alias(name) for name in frame.columns),
        "nulls": lambda: frame.with_columns(pl.lit(None).alias(name) for name in frame.columns),
        "fewer rows": lambda: frame.head(len(frame) // 2),
        "more rows": lambda: pl.concat([frame, frame]),
        "no columns": lambda: frame.select([]),
        "one long text": lambda: frame.with_columns(pl.lit("x" * (1 << 20)).alias(frame.columns[0])),
        "huge texts": lambda: pl.DataFrame({frame.columns[0]: [f"{i}" + "x" * (100 << 20) for i in range(3)]}),
    }
    kind = dice.choice(list(changes))
    changed = changes[kind]()
    changed.write_parquet(file, compression="zstd", statistics=False)
    facts = {"n_rows": changed.height} if dice.random() < 0.5 else {}
    return f"{kind} {change_file(index, path, file.getvalue(), **facts)}"


def craft_manifest(index: Path, dice: random.Random) -> str:
    fields = read_manifest(index)
    holder, path = dice.choice([fields, fields["facts"], fields["facts"], fields["files"]]), []
    while not path or (isinstance(holder[path[-1]], dict | list) and holder[path[-1]] and dice.random() < 0.8):
        holder = holder[path[-1]] if path else holder
        path.append(dice.choice(list(holder) if isinstance(holder, dict) else range(len(holder))))
    values = [None, -1, 0, 1, 1.5, 1e308, 1 << 40, 1 << 70, "x", "", "../..", [], {}, True, [None], {"x": 1}]
    holder[path[-1]] = value = dice.choice(values)
    (index / "manifest.json").write_bytes(format.seal(fields))
    return f"{path} = {value!r}"


def craft_special(index: Path, dice: random.Random) -> str:
    path = dice.choice(sorted(path for path in index.rglob("*") if path.is_file()))
    copy = path.rename(path.with_name(f"{path.name}.copy"))
    target = dice.choice(["/dev/zero", "/dev/stdin", path, copy, index / "manifest.json", "missing"])
    kind = dice.choice([os.mkfifo, os.mkdir, lambda path: os.symlink(target, path)])
    kind(path)
    return f"{kind.__name__} {target} {path.name}"


CRAFTS = [*[craft_array] * 4, *[craft_table] * 3, *[craft_manifest] * 3, craft_special]
SECTIONS = {
    "killed writers": (200, Laboratory.kill),
    "full disks": (20, Laboratory.fill_disk),
    "two writers at once": (100, Laboratory.compete),
    "damaged indexes": (1000, Laboratory.damage),
    "crafted indexes": (200, Laboratory.craft),
}


def run(names: list[str], part: float, seed: int) -> list[str]:
    """Run sections, print what failed, and return the rows of the table."""
    rows = []
    with tempfile.TemporaryDirectory() as home:
        laboratory = Laboratory(Path(home), seed)
        for name in names:
            attempts, attempt = SECTIONS[name]
            n = max(1, round(attempts * part))
            found = Counter(attempt(laboratory) for _ in range(n))
            failed = [what for what in found if what.startswith("FAILED")]
            print(*failed, sep="\n", end="\n" * bool(failed), file=sys.stderr)
            shown = ", ".join(f"{what}: {times}" for what, times in found.most_common() if what not in failed)
            rows.append(f"| {name} | {n:,} | {sum(found[what] for what in failed)} | {shown} |")
        for worker in (*laboratory.workers, laboratory.writer):
            worker.kill()
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the attempts")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.worker:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        for line in sys.stdin:
            print(json.dumps(perform(json.loads(line))), flush=True)
        return 0
    groups = [options.only[:1], options.only[1:]]  # killing takes as long as the others together
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(run, group, 0.05 if options.quick else 1, options.seed) for group in groups if group]
        rows = [row for each in runs for row in each.result()]
    print("| what | attempts | failures | outcomes |", "| --- | ---: | ---: | --- |", *rows, sep="\n")
    return int(any(row.split(" | ")[2] != "0" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
