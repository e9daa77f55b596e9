"""Flip bits in copies of an index, search each in a separate process, and count the outcomes.

    python benchmarks/robustness/damage_index.py
    python benchmarks/robustness/damage_index.py --n 1000 --verified 0
    python benchmarks/robustness/damage_index.py --n 1000 --crafted

--verified 0 verifies no file when an index is opened, so that small files are read as those of a large index are: block
by block. With --crafted, the checksums are those of the damaged files, and some manifests tell something else about
them. Exits with 1 if a process dies, if there is a traceback, or if an index that fails its checksums gives another
answer.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import Coded
from mixsearch.index import AnswerOptions, IndexOptions, Query, answer_queries, build_index, open_index
from mixsearch.storage import MANIFEST_NAME, block_sums, reader
from mixsearch.storage.arrays import HEADER_BYTES
from mixsearch.storage.block_sums import Checksums
from mixsearch.storage.entries import locate_sums
from mixsearch.storage.manifest import seal
from mixsearch.text import CorpusOptions

SAME, OTHER, SENTENCE, TRACEBACK, CRASH = "same answer", "other answer", "sentence", "traceback", "crash"
QUERIES = [Query("sushi1", words={"sushi1": 1.0}), Query("a text", text=("train3 train4 train5",))]
MAX_SECONDS = 60
# The part of the crafted indexes whose manifests are changed, not their arrays.
CRAFTED_MANIFESTS = 0.3
_VALUES = (None, True, 0, -1, 1, 2**31, 2**63, 1e308, "", "x", "../x", "<f8", "<i4", "<U9", "|V8", [], [0], [-1], {})


def build_corpus(folder: Path, n_documents: int = 400) -> Path:
    """Index documents of three planted topics, with columns."""
    rng = np.random.default_rng(0)
    with (folder / "corpus.jsonl").open("w") as file:
        for i in range(n_documents):
            theme = ("sushi", "train", "music")[i % 3]
            words = [f"{theme}{j}" for j in rng.integers(12, size=15)] + [f"any{j}" for j in rng.integers(40, size=5)]
            file.write(json.dumps({"id": f"d{i}", "text": " ".join(words), "stars": int(rng.integers(5))}) + "\n")
    reading = CorpusOptions(text="text", id="id", min_df=1, max_df=1.0, stop_words=None)
    build_index(folder / "corpus.jsonl", folder / "whole.index", IndexOptions(n_components=4), reading)
    return folder / "whole.index"


def damage(index: Path, rng: random.Random, *, crafted: bool) -> str:
    """Flip one to three bits of one file, and return its name."""
    files = sorted(path for path in index.rglob("*") if path.is_file() and path.stat().st_size)
    path = rng.choice([each for each in files if each.name != MANIFEST_NAME or not crafted])
    data = bytearray(path.read_bytes())
    first = HEADER_BYTES if crafted and path.suffix == ".npy" and len(data) > HEADER_BYTES else 0
    for _ in range(rng.randint(1, 3)):
        data[rng.randrange(first, len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    if crafted:
        _seal_again(index, path, bytes(data))
    return str(path.relative_to(index))


def craft_manifest(index: Path, rng: random.Random) -> str:
    """Change one value of the manifest, which keeps a right checksum, and return its name."""
    manifest = _read_manifest(index)
    places = list(_list_values(manifest))
    holder, key, name = rng.choice(places)
    holder[key] = rng.choice([*_VALUES, deepcopy(rng.choice(places)[0]), _change(holder[key], rng)])
    (index / MANIFEST_NAME).write_bytes(seal(json.dumps(manifest, indent=1)))
    return f"{name} = {json.dumps(holder[key])[:60]}"


def _list_values(holder: Any, name: str = MANIFEST_NAME) -> Iterator[tuple[Any, Any, str]]:
    for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        yield holder, key, f"{name}/{key}"
        if isinstance(value, dict | list):
            yield from _list_values(value, f"{name}/{key}")


def _change(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return not value
    return value[::-1] if isinstance(value, str) else rng.choice([value + 1, value - 1, -value, 2 * value, value / 2])


def _read_manifest(index: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((index / MANIFEST_NAME).read_bytes())
    del manifest["checksum"]
    return manifest


def _seal_again(index: Path, path: Path, data: bytes) -> None:
    """Write the checksums of a changed file into the manifest, and those of its blocks."""
    manifest = _read_manifest(index)
    name = "/".join(path.relative_to(index).parts[1:])
    kind, key = ("arrays", name.removesuffix(".npy")) if path.suffix == ".npy" else ("files", name)
    if key in manifest[kind]:
        sums, stored = Checksums(), manifest[kind][key]
        sums.update(np.frombuffer(data[HEADER_BYTES if kind == "arrays" else 0 :], np.uint8))
        locate_sums(path).unlink(missing_ok=True)
        manifest[kind][key] = stored | {"checksum": sums.hexdigest(), "sums": sums.store(path, len(data))}
    (index / MANIFEST_NAME).write_bytes(seal(json.dumps(manifest, indent=1)))


def ask(index: Path) -> str:
    """Return all that is shown for the queries, rounded, as one text."""
    opened = open_index(index)
    outcomes = answer_queries(opened, QUERIES, AnswerOptions(n_words=8, n_documents=4), n_jobs=1)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    shown = [outcome.answer.as_dict() for outcome in outcomes if outcome.answer is not None]
    columns = opened.documents([0, 5])[1].columns
    rounded = json.loads(json.dumps([shown, dict(columns)], default=str), parse_float=lambda text: f"{float(text):.3g}")
    return json.dumps(rounded, sort_keys=True)


def _search(index: Path, verified: int, answer: Connection) -> None:
    warnings.simplefilter("ignore")
    reader.VERIFIED_BYTES = verified
    try:
        answer.send((SAME, ask(index)))
    except Coded as error:
        answer.send((SENTENCE, error.code))
    except Exception as error:
        answer.send((TRACEBACK, repr(error)))


def observe(index: Path, verified: int) -> tuple[str, str]:
    """Search an index in another process, and return what happened with its details."""
    context = multiprocessing.get_context("fork")
    own, other = context.Pipe(duplex=False)
    process = context.Process(target=_search, args=(index, verified, other))
    process.start()
    other.close()
    try:
        found: tuple[str, str] = own.recv() if own.poll(MAX_SECONDS) else (CRASH, "no answer")
    except EOFError:
        found = (CRASH, "")
    process.join(1)
    if process.is_alive():
        process.kill()
        process.join()
    return found if found[0] != CRASH else (CRASH, f"exit code {process.exitcode}")


def run(n: int, *, verified: int, crafted: bool, seed: int = 0, verbose: bool = False) -> Counter[str]:
    """Damage and search n copies of an index, and count the outcomes."""
    rng, counts = random.Random(seed), Counter[str]()
    # Also small files have sums of blocks then, as those of a large index.
    block_sums.MIN_BYTES = min(block_sums.MIN_BYTES, verified)
    with tempfile.TemporaryDirectory() as name:
        whole = build_corpus(Path(name))
        answered, expected = observe(whole, verified)
        if answered != SAME:
            raise RuntimeError(f"The undamaged index gives no answer: {expected}")
        for _ in range(n):
            copy = Path(name) / "damaged.index"
            shutil.copytree(whole, copy)
            is_told = crafted and rng.random() < CRAFTED_MANIFESTS
            changed = craft_manifest(copy, rng) if is_told else damage(copy, rng, crafted=crafted)
            outcome, detail = observe(copy, verified)
            if outcome == SAME and detail != expected.replace(str(whole), str(copy)):
                outcome = OTHER
            counts[outcome] += 1
            if verbose and (outcome in (TRACEBACK, CRASH) or (outcome == OTHER and not crafted)):
                print(f"{outcome}: {changed}: {detail[:200]}")
            shutil.rmtree(copy)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--verified", type=int, default=reader.VERIFIED_BYTES)
    parser.add_argument("--crafted", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = run(options.n, verified=options.verified, crafted=options.crafted, seed=options.seed, verbose=True)
    for outcome in (SENTENCE, SAME, OTHER, TRACEBACK, CRASH):
        print(f"{outcome:<14} {counts[outcome]:6}")
    is_silent = counts[OTHER] > 0 and not options.crafted
    return int(counts[CRASH] + counts[TRACEBACK] > 0 or is_silent)


if __name__ == "__main__":
    sys.exit(main())
