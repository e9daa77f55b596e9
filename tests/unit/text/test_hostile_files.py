"""Files that misrepresent their content: each is read correctly, or gives one error with a code."""

import gzip

import numpy as np
import pytest
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.io import streams
from mixsearch.table import read_table, write_table
from mixsearch.text import read_corpus

GOOD = '{"text": "sushi rice"}\n'
LONG = "sushi rice fish " * 300_000  # 4.8 million characters
LONGER = "x " * (1 << 21) + "y"  # one more than a document may have


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", f"rice\n{LONGER}\nfish\n"),
        ("a.jsonl", f'{GOOD}{{"text": "{LONG}"}}\n{GOOD}'),
        ("a.csv", f"text\nrice\n{LONG}\nfish\n"),
    ],
)
def test_a_line_that_is_too_long_is_an_error_or_skipped(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    line = 3 if name.endswith("csv") else 2
    with raises("document_too_long", **({} if name.endswith("csv") else {"line": line})):
        read_corpus(tmp_path / name, every_word(memory=1))
    with read_corpus(tmp_path / name, every_word(memory=1, skip_bad_rows=True)) as corpus:
        assert corpus.n_documents == 2
        (note,) = [each for each in corpus.notes if each.code == "skipped_rows"]
        assert note.fields["first_rows"][0]["line"] == line
    with read_corpus(tmp_path / name, every_word()) as corpus:
        assert corpus.n_documents == 3


def test_a_quotation_mark_that_is_never_closed_ends_at_the_limit(tmp_path):
    (tmp_path / "a.csv").write_text('text,n\nrice,1\n"sushi,2\n' + "fish,3\n" * 800_000)
    with raises("invalid_csv", line=3):
        read_corpus(tmp_path / "a.csv", every_word(memory=1))


def test_an_archive_that_grows_a_thousandfold_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MIN_GROWN_BYTES", 1 << 20)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"sushi rice fish\n" * 200_000))
    with raises("grows_too_much", factor=300):
        read_corpus(tmp_path / "a.txt.gz", every_word())


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_table_beyond_the_memory_is_an_error(tmp_path, monkeypatch, name):
    table = pytest.importorskip("pyarrow").table({"x": np.arange(5000.0), "y": np.arange(5000.0)})
    write_table(table, tmp_path / name)
    assert read_table(tmp_path / name).height == 5000
    monkeypatch.setattr("mixsearch.io.tables.available_memory", lambda: 10_000)
    with raises("table_too_large"):
        read_table(tmp_path / name)
