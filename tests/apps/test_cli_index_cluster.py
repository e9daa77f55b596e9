"""A cluster of two worker processes, connected by TCP, builds the same index as this machine."""

import json
import logging

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster
from tests.apps.cli_corpus import N_TOPICS, invoke, make_files
from tests.every_word import every_word

import mixsearch.index.build.cluster as build_cluster
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text.count import partitions

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

READING = every_word(text="review", id="key", drop_duplicates="exact", stop_words="auto", phrases=True)
FIT = IndexOptions(n_components=N_TOPICS)


@pytest.fixture(scope="module")
def scheduler():
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as started:
        yield started.scheduler_address


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    made = make_files(tmp_path_factory.mktemp("cluster"))
    # Some have a phrase, and stop words beside it, and some a name with a number.
    ends = ["", " and the machine translation", " of GPT-4"]
    rows = [
        {"key": f"d{i}", "review": text + ends[i % 3], "stars": i % 5, "shop": ("Oslo", "Rome", None)[i % 3]}
        for i, text in enumerate(made.texts)
    ]
    # An earlier document again, in another file; one of too few words, and one without any.
    rows[500]["review"], rows[7]["review"], rows[8]["review"] = rows[20]["review"], "alone", ""
    for number, some in enumerate((rows[:250], rows[250:])):
        lines = "".join(json.dumps(row) + "\n" for row in some)
        (made.folder / f"part{number}.jsonl").write_text(lines, encoding="utf-8")
        columns = {name: [row[name] for row in some] for name in rows[0]}
        pq.write_table(pa.table(columns), made.folder / f"part{number}.parquet", row_group_size=60)
    return made


@pytest.mark.parametrize(("pattern", "sees_folder"), [("part*.jsonl", True), ("part*.parquet", False)])
def test_an_index_from_a_cluster_is_the_one_from_this_machine(
    scheduler, files, tmp_path, monkeypatch, pattern, sees_folder
):
    monkeypatch.setattr(partitions, "MIN_BYTES", 1 << 14)  # several partitions of a small corpus
    if not sees_folder:
        monkeypatch.setattr(build_cluster, "on_every_worker", lambda *_: {"worker": False})
    source = f"{files.folder}/{pattern}"
    built = build_index(f"file://{source}", tmp_path / "spread.index", FIT, READING, scheduler=scheduler)
    expected = build_index(source, tmp_path / "local.index", FIT, READING)
    counts = ("n_documents", "n_short", "n_duplicates", "n_words", "n_nonzeros")
    assert [getattr(built, name) for name in counts] == [getattr(expected, name) for name in counts]
    index, other = open_index(built.path), open_index(expected.path)
    index.verify()
    assert index.vocabulary == other.vocabulary
    assert index.columns.table.equals(other.columns.table)
    rows = index.topics.kept_rows_
    assert index.documents(rows) == other.documents(rows)
    word = files.words[0]
    found, there = index.search(word), other.search(word)
    np.testing.assert_allclose(found.probabilities, there.probabilities, atol=1e-4)
    assert [row for row, _ in found.documents(10)] == [row for row, _ in there.documents(10)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["-"], "stdin_on_cluster"), (["{jsonl}", "--n-jobs", "2"], "local_option"), (["no*.jsonl"], "file_missing")],
)
def test_what_a_cluster_cannot_do_is_an_error_before_one_is_asked(files, tmp_path, arguments, code):
    named = [each.format(jsonl=files.jsonl) for each in arguments]
    result = invoke("index", *named, "-o", tmp_path / "x", "--scheduler", "tcp://127.0.0.1:9", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == code
    assert list(tmp_path.iterdir()) == []
