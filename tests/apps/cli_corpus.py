"""A small corpus of known topics in files, and an index of it, for the tests of the commands."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from typer.testing import CliRunner, Result

from mixsearch.cli.app import app
from mixsearch.datasets import make_topics

N_DOCUMENTS, N_TOPICS = 600, 4
# Every word of the corpus counts, however rare.
ALL_WORDS = ("--min-df", "1", "--stop-words", "none", "--n-components", str(N_TOPICS))


@dataclass(frozen=True)
class Files:
    """The same documents in three formats, and what is true of them."""

    folder: Path
    texts: list[str]
    words: list[str]  # of each topic the one that singles it out
    likeliest: list[list[str]]  # of each topic the words, likeliest first

    @property
    def jsonl(self) -> Path:
        return self.folder / "reviews.jsonl"

    @property
    def csv(self) -> Path:
        return self.folder / "reviews.csv"

    @property
    def parquet(self) -> Path:
        return self.folder / "reviews.parquet"


def invoke(*arguments: object, input: str | None = None, **env: str) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], input=input, env={"COLUMNS": "80", **env})


def make_files(folder: Path) -> Files:
    data = make_topics(N_DOCUMENTS, 80, N_TOPICS, mean_length=40, alpha=0.05, random_state=0)
    vocabulary = np.array(data.vocabulary)
    texts = [" ".join(np.repeat(vocabulary, row)) for row in data.counts.toarray()]
    words = [data.vocabulary[data.labelled_word(topic)] for topic in range(N_TOPICS)]
    files = Files(folder, texts, words, vocabulary[np.argsort(-data.topics)].tolist())
    rows = [{"key": f"d{number}", "stars": number % 5, "review": text} for number, text in enumerate(texts)]
    files.jsonl.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with files.csv.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return files


def make_index(files: Files, *more: object) -> Path:
    path = files.folder / "reviews.index"
    result = invoke("index", files.jsonl, "-o", path, "--text", "review", "--id", "key", *ALL_WORDS, *more)
    assert result.exit_code == 0, result.output
    return path
