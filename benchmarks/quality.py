"""Topics from one word, compared with other packages and trivial rankings: cost and quality.

- fit s: processor seconds before any word is known, with the topics of all documents; one thread.
- ms per word: from a word to its topic's 20 words. "refit": the words must be known before the fit.
- peak MB: of a process that does nothing else, with Python, its packages and the counts.
- PMI: the paper's score, of the top 20 words with the word asked for, in Wikipedia's articles.
- NPMI: of the top 10 words with each other, there too.
- captured: how often the word itself is among the top 10.
- AP: mean average precision of ranking documents for a label from one word; first 10: precision of the first ten.
- one a label: AP of the first word of each label only, which is what the tables beside other packages have.
- ᵗ, ʷ: of k topics the one with the largest p(topic | word), or p(word | topic); *: its words by p log(p/q) rather than
  by their probability p, with q that in the corpus. Whatever served the peer best over the five scores.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.metadata
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpora import Corpus, available, load_corpus, load_reference
from measuring import print_table
from peers import LIMIT, METHODS, SEEDED

import mixsearch
from mixsearch._typing import Array
from mixsearch.core.rows import top_rows
from mixsearch.metrics import Reference, average_precision

TOPICS = {
    "newsgroups": (50, 100),
    "bbc": (5, 10, 20, 40),
    "debian": (50,),
    "imdb": (50,),
    "reuters": (100,),
    "dbpedia": (100,),
}
QUICK = {"bbc": (5,)}
# One file for each measured row; what is here is not measured again.
RESULTS = Path(tempfile.gettempdir()) / "peers"
N_COHERENT = 10
N_FIRST = 10
SCORES = ("pmi", "npmi", "captured", "precision", "first")
MARKS = {"p(topic | word)": " ᵗ", "p(word | topic)": " ʷ", "typical words": " *"}
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")}

Row = dict[str, Any]


def run(*, quick: bool = False) -> None:
    compare(QUICK if quick else TOPICS, list(METHODS))


def compare(plan: Mapping[str, Sequence[int]], methods: Sequence[str], again: Sequence[str] = ()) -> None:
    """Measure what has no result yet, or should have a new one, and print a table for each corpus and k."""
    plan = {name: numbers for name, numbers in plan.items() if name in available()}
    reference = load_reference()
    for name, numbers in plan.items():
        corpus = load_corpus(name)
        for k in numbers:
            for method in methods:
                kept = result_file(name, k, method)
                if method in again or not kept.exists():
                    facts = {"corpus": name, "k": k, "method": method, "versions": versions()}
                    row = facts | measured(method, corpus, k, reference)
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    kept.write_text(json.dumps(row, indent=1), encoding="utf-8")
                    write_tables()
            print_rows(corpus, k, stored(name, k))
    print_means(plan)


def print_means(plan: Mapping[str, Sequence[int]]) -> None:
    """Print how each method ranks documents on all corpora, for each k that was run on all."""
    for k in sorted(set.intersection(*(set(numbers) for numbers in plan.values()))):
        by_corpus = [{row["method"]: row for row in stored(name, k) if "error" not in row} for name in plan]
        methods = [method for method in METHODS if all(method in rows for rows in by_corpus)]
        table = {method: [rows[method]["precision"] for rows in by_corpus] for method in methods}
        firsts = {method: np.mean([rows[method]["first"] for rows in by_corpus]) for method in methods}
        simple = max((np.mean(table[method]) for method in methods if method.startswith("trivial")), default=np.nan)
        print_table(
            f"Mean average precision of ranking documents from one word, k={k}",
            ("method", *plan, "mean", "of the best trivial", "first 10"),
            [
                (
                    method,
                    *(f"{each:.3f}" for each in table[method]),
                    f"{np.mean(table[method]):.3f}",
                    f"{np.mean(table[method]) / simple:.3f}",
                    f"{firsts[method]:.3f}",
                )
                for method in methods
            ],
        )


def versions() -> dict[str, str]:
    """Return the versions of the installed packages, and a digest of the files of this one."""
    found = {}
    for name in ("numpy", "scipy", "scikit-learn", "tomotopy", "gensim", "corextopic", "mixsearch"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    files = sorted(Path(mixsearch.__file__).parent.rglob("*.py"))
    return found | {"code": hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]}


def result_file(corpus: str, k: int, method: str) -> Path:
    """Return the file with the row of a method."""
    return RESULTS / f"{corpus}-{k}-{re.sub(r'[^a-z0-9]+', '-', method.lower())}.json"


def stored(corpus: str, k: int) -> list[Row]:
    """The rows measured so far, in the order of the methods."""
    files = (result_file(corpus, k, method) for method in METHODS)
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]


def measured(method: str, corpus: Corpus, k: int, reference: Reference) -> Row:
    """Run a method in a separate process, and score its answers by the rule that suits it best."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result"
        script = str(Path(__file__).with_name("peers.py"))
        command = [sys.executable, script, method, corpus.name, str(k), str(output)]
        done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return {"error": _reason(done)}
        row: Row = json.loads(output.with_suffix(".json").read_text(encoding="utf-8"))
        with np.load(output.with_suffix(".npz")) as documents:
            for rule, answers in row["rules"].items():
                answers.update(judged(corpus, reference, answers["words"], documents[f"rule {rule}"]))
    best = _better(row["rules"])
    return row | {"rule": best} | {score: row["rules"][best][score] for score in (*SCORES, "word_seconds")}


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode == -signal.SIGXCPU:
        return f"over {LIMIT} s"
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"
    kind, _, message = last.partition(": ")
    if kind == "ModuleNotFoundError":
        return "not installed: requirements/peers.txt"
    return message or kind


def judged(
    corpus: Corpus, reference: Reference, found: Mapping[str, Sequence[tuple[str, float]]], documents: Array
) -> Row:
    """Return mean scores over the words, and those of each word; `documents` has a row for each word."""
    words = {seed: [word for word, _ in found[seed]] for seed in corpus.seeds}
    known = corpus.ranked
    rankings = [
        (f"{label}: {word}", corpus.has_label(label)[known], documents[corpus.asked.index(word), known])
        for label, word in corpus.questions
    ]
    each: dict[str, dict[str, float]] = {
        "pmi": {seed: reference.pmi(seed, top) if top else 0.0 for seed, top in words.items()},
        "npmi": {seed: reference.npmi(top[:N_COHERENT]) if len(top) > 1 else 0.0 for seed, top in words.items()},
        "captured": {seed: seed in top[:N_COHERENT] for seed, top in words.items()},
        "precision": {name: average_precision(is_about, scores) for name, is_about, scores in rankings},
        "first": {name: float(is_about[top_rows(scores, N_FIRST)].mean()) for name, is_about, scores in rankings},
    }
    return {score: float(np.mean(list(values.values()))) for score, values in each.items()} | {"each": each}


def _better(rules: Mapping[str, Row]) -> str:
    """The rule that beats most others, counted over all scores; by precision where two beat as many."""

    def beaten(name: str) -> int:
        return sum(rules[name][score] > other[score] for other in rules.values() for score in SCORES)

    return max(rules, key=lambda name: (beaten(name), rules[name]["precision"]))


def print_rows(corpus: Corpus, k: int, rows: Sequence[Row]) -> None:
    n, d = corpus.counts.shape
    title = (
        f"{corpus.name}, k={k}: {n:,} documents, {d:,} words, {corpus.counts.nnz:,} non-zeros; "
        f"{len(corpus.seeds)} words, {len(corpus.groups)} labels"
    )
    columns = ("method", "fit s", "ms per word", "peak MB", "PMI", "NPMI", "captured", "AP", "one a label", "first 10")
    print_table(title, columns, [_cells(row, corpus) for row in rows])
    codes = {row.get("versions", {}).get("code", "unknown") for row in rows if row["method"].startswith("mixsearch")}
    print(f"\n- digest of the code of mixsearch: {' and '.join(sorted(codes))}")


def _cells(row: Row, corpus: Corpus) -> tuple[str, ...]:
    if "error" in row:
        return (row["method"], row["error"], *[""] * 8)
    n_seeds, precision = len(corpus.seeds), row["rules"][row["rule"]]["each"]["precision"]
    names = [f"{label}: {word}" for label, word in corpus.groups.items()]
    return (
        row["method"] + "".join(mark for rule, mark in MARKS.items() if rule in row["rule"]),
        f"{row['fit_seconds']:.2f}" if row["fit_seconds"] < 10 else f"{row['fit_seconds']:.0f}",
        "refit" if row["method"] in SEEDED else f"{1000 * row['word_seconds']:.1f}",
        f"{row['peak_mb']:.0f}",
        f"{row['pmi']:.2f}",
        f"{row['npmi']:.3f}",
        f"{round(row['captured'] * n_seeds)}/{n_seeds}",
        f"{row['precision']:.3f}",
        f"{np.mean([precision[name] for name in names if name in precision]):.3f}",
        f"{row['first']:.3f}",
    )


def write_tables() -> None:
    """Write tables of all results so far."""
    page = io.StringIO()
    with contextlib.redirect_stdout(page):
        print(__doc__)
        for name, numbers in TOPICS.items():
            for k in numbers:
                rows = stored(name, k)
                if rows:
                    print_rows(load_corpus(name), k, rows)
    (RESULTS / "table.txt").write_text(page.getvalue(), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", nargs="+", choices=TOPICS, default=list(TOPICS))
    parser.add_argument("--topics", nargs="+", type=int, metavar="k", help="in place of the usual numbers of topics")
    parser.add_argument("--methods", nargs="+", default=[""], metavar="start", help="of the names of methods to run")
    parser.add_argument("--again", nargs="*", default=None, metavar="start", help="measure these again; all if none")
    options = parser.parse_args(arguments)
    again = [] if options.again is None else _named(options.again or [""])
    plan = {name: options.topics or TOPICS[name] for name in options.corpora}
    compare(plan, _named(options.methods), again)


def _named(starts: Sequence[str]) -> list[str]:
    return [method for method in METHODS if method.startswith(tuple(starts))]


if __name__ == "__main__":
    main()
