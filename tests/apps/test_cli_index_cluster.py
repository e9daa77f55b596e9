"""A cluster of two worker processes, connected by TCP, builds the same index as this machine."""

import gzip
import json
import logging
import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from tests.apps.cli_corpus import ALL_WORDS, N_TOPICS, make_files
from tests.every_word import every_word
from tests.unit.index.same_answers import assert_same_answers
from typer.testing import CliRunner

import mixsearch.index.build.cluster as build_cluster
import mixsearch.index.build.cluster as cluster_writer
from mixsearch import SearchError
from mixsearch.cli.app import app
from mixsearch.data.dask import cluster as cluster
from mixsearch.data.dask.cluster import connected
from mixsearch.index import IndexOptions, add_documents, build_index, open_index
from mixsearch.storage import SharedArray, open_folder
from mixsearch.text import read_corpus
from mixsearch.text.count import partitions
from mixsearch.topics import _segments

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

# Which of the arrays depend on the order of a sum.
SUMS = (
    "mean_document",
    "frame/",
    "documents/projected",
    "documents/pair",
    "documents/triple",
    "words/own",
    "words/word_mean",
)
# How texts are cut into compressed blocks is nobody's concern.
PACKED = ("texts/", "names/", "short/")


@pytest.fixture(scope="module")
def workers():
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as started:
        yield started


@pytest.fixture(scope="module")
def scheduler(workers):
    return workers.scheduler_address


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    """Make partitions small, so that a small corpus has several."""
    monkeypatch.setattr(partitions, "_MIN_BYTES", 1 << 14)


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
        (made.folder / f"packed{number}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
        columns = {name: [row[name] for row in some] for name in rows[0]}
        pq.write_table(pa.table(columns), made.folder / f"part{number}.parquet", row_group_size=60)
    return made


READING = every_word(text="review", id="key", drop_duplicates="exact", stop_words="auto", phrases=True)
FIT = IndexOptions(n_components=N_TOPICS)


@pytest.fixture(scope="module")
def local(files):
    path = files.folder / "local.index"
    return build_index(str(files.folder / "part*.jsonl"), path, FIT, READING)


def assert_same(built, expected):
    assert (built.n_documents, built.n_short, built.n_duplicates) == (
        expected.n_documents,
        expected.n_short,
        expected.n_duplicates,
    )
    index, other_index = open_index(built.path), open_index(expected.path)
    index.verify()
    one, other = (open_folder(each.path, kind="topic index", version=2) for each in (built, expected))
    assert list(one) == list(other)
    for name in other:
        if name.startswith(SUMS):
            tol = 1e-4 * np.abs(other[name]).max()
            np.testing.assert_allclose(one[name], other[name], rtol=0, atol=tol, err_msg=name)
        elif not name.startswith(PACKED):
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert one.facts == other.facts
    rows = index.topics.kept_rows_
    assert index.documents(rows) == other_index.documents(rows)
    assert index.columns.names == other_index.columns.names
    if index.columns.names:
        assert index.columns.table.equals(other_index.columns.table)


@pytest.mark.parametrize("pattern", ["part*.jsonl", "packed*.jsonl.gz", "part*.parquet"])
def test_an_index_from_a_cluster_is_the_one_from_this_machine(scheduler, files, local, tmp_path, pattern):
    steps = {}
    built = build_index(
        f"file://{files.folder}/{pattern}",
        tmp_path / "spread.index",
        FIT,
        READING,
        scheduler=scheduler,
        on_progress=lambda step, done, total, unit: steps.__setitem__(step, (done, total, unit)),
    )
    assert built.n_short == 2
    assert built.n_duplicates == 1
    assert_same(built, local)
    assert open_index(built.path).columns.names == ["row", "id", "stars", "shop"]
    words = open_index(built.path).vocabulary
    assert ("machine translation" in words, "the" in words) == (True, False)
    assert list(steps) == ["Reading", "Sorting words", "Storing", "Listing words", "Fitting topics"]
    assert steps["Reading"][2] == "bytes"
    assert steps["Storing"] == (built.n_documents, built.n_documents, "documents")


def test_dropped_words_from_a_cluster_are_those_from_this_machine(scheduler, files, tmp_path):
    reading = replace(READING, min_df=30, max_df=0.3, ngrams=(1, 2), stop_words=["word3"])
    source = str(files.folder / "part*.jsonl")
    built = build_index(source, tmp_path / "spread.index", FIT, reading, scheduler=scheduler)
    assert_same(built, build_index(source, tmp_path / "local.index", FIT, reading))
    folder = open_folder(built.path, kind="topic index", version=2)
    assert set(np.asarray(folder["dropped/reasons"]).tolist()) == {0, 1, 3}


@pytest.mark.parametrize("sees_folder", [True, False])
def test_more_counts_than_a_segment_holds_become_several(scheduler, files, tmp_path, monkeypatch, sees_folder):
    reading = replace(READING, min_df=5, max_df=0.3)
    source = str(files.folder / "part*.jsonl")
    one = open_index(build_index(source, tmp_path / "local.index", FIT, reading).path)
    limit = one.contents().n_nonzeros // 3
    monkeypatch.setattr(_segments, "MAX_NONZEROS", limit)
    if not sees_folder:
        monkeypatch.setattr(cluster_writer, "on_every_worker", lambda *_: {"worker": False})
    built = build_index(source, tmp_path / "spread.index", FIT, reading, scheduler=scheduler)
    several = open_index(built.path)
    sizes = [segment.by_document.nnz for segment in several.fitted.segments]
    assert len(sizes) >= 4
    assert max(sizes) <= limit
    assert_same_answers(one, several, one.vocabulary[:6:2], rtol=1e-4, atol=1e-5)
    rows = one.topics.kept_rows_
    assert several.documents(rows) == one.documents(rows)
    assert several.columns.table.equals(one.columns.table)
    assert several.fitted.common_words == one.fitted.common_words
    for word in [*list(one.fitted.common_words)[:3], "alone"]:
        assert several.fitted.count_dropped(word) == one.fitted.count_dropped(word)
    assert add_documents(built.path, ["word1 word2 word3 word4 word5"]).n_all == one.n_documents + 1


def test_texts_and_counts_are_written_by_the_workers(scheduler, files, tmp_path, monkeypatch):
    here = []
    write = SharedArray.write
    monkeypatch.setattr(SharedArray, "write", lambda self, *what: (here.append(self.path.stem), write(self, *what)))
    build_index(str(files.folder / "part*.jsonl"), tmp_path / "x.index", FIT, READING, scheduler=scheduler)
    assert sorted(here) == ["blocks", "blocks", "indptr"]


def test_where_workers_do_not_see_the_folder_the_blocks_come_here(scheduler, files, local, tmp_path, monkeypatch):
    ask = cluster_writer.on_every_worker
    monkeypatch.setattr(cluster_writer, "on_every_worker", lambda check, marker, token: ask(check, marker, "another"))
    built = build_index(str(files.folder / "part*.jsonl"), tmp_path / "x.index", FIT, READING, scheduler=scheduler)
    assert_same(built, local)
    assert "The workers do not see the folder" in str(built.notes[0])


def test_files_that_are_documents_keep_their_names(scheduler, files, tmp_path, monkeypatch):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, text in enumerate(files.texts[:60]):
        (folder / f"{number:03}.txt").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for source in ("texts", "texts/0*.txt"):
        built, expected = (
            build_index(source, tmp_path / name, IndexOptions(n_components=2, overwrite=True), scheduler=where)
            for name, where in (("spread.index", scheduler), ("here.index", None))
        )
        assert_same(built, expected)


def test_the_command_says_what_it_did(scheduler, files, tmp_path):
    arguments = [files.csv, "-o", tmp_path / "x.index", "--text", "review", "--scheduler", scheduler, "--json"]
    result = CliRunner().invoke(app, ["index", *map(str, arguments), *ALL_WORDS])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["n_documents"] == len(files.texts)
    found = open_index(said["index"]).search(files.words[0]).top_words(1)
    assert found[0][0] in {likeliest[0] for likeliest in files.likeliest}


def test_ctrl_c_leaves_nothing_on_disk_or_on_the_cluster(scheduler, files, tmp_path):
    def stop(step, *_):
        if step == "Storing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index(
            str(files.folder / "part*.jsonl"), tmp_path / "x.index", FIT, READING, scheduler=scheduler, on_progress=stop
        )
    assert list(tmp_path.iterdir()) == []
    with Client(scheduler) as client:
        assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_an_error_of_a_worker_is_its_sentence_and_leaves_nothing(scheduler, files, tmp_path):
    broken = tmp_path / "broken.jsonl"
    # Beyond the rows that are looked at here to find columns.
    broken.write_text(8 * (files.folder / "part1.jsonl").read_text() + '{"review": \n')
    with pytest.raises(SearchError, match="Line .* is not valid JSON .* Lines are numbered from byte"):
        build_index(str(broken), tmp_path / "x.index", FIT, READING, scheduler=scheduler)
    assert list(tmp_path.iterdir()) == [broken]


def test_a_file_that_only_the_client_sees_is_named(scheduler, tmp_path):
    store = fsspec.filesystem("memory")
    store.pipe_file("/here.txt", b"good sushi\ngood ramen\n")
    try:
        with pytest.raises(SearchError, match="'memory:///here.txt' exists here, but 2 of the workers cannot read it"):
            build_index("memory://here.txt", tmp_path / "x.index", scheduler=scheduler)
    finally:
        store.store.clear()
    assert list(tmp_path.iterdir()) == []


def test_a_scheduler_out_of_reach_is_named(files, tmp_path, monkeypatch):
    monkeypatch.setattr(build_cluster, "connected", partial(connected, timeout=0.5))
    result = CliRunner().invoke(
        app,
        ["index", str(files.jsonl), "-o", str(tmp_path / "x"), "--text", "review", "--scheduler", "tcp://127.0.0.1:9"],
    )
    assert result.exit_code == 1
    assert "No Dask scheduler answers at 'tcp://127.0.0.1:9' within 0.5 seconds" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_local_is_a_cluster_of_this_machine(workers, files, local, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_local_cluster", lambda: nullcontext(workers))
    built = build_index(str(files.folder / "part*.jsonl"), tmp_path / "x.index", FIT, READING, scheduler="local")
    assert_same(built, local)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-"], "A cluster cannot read standard input. Name files, or leave out --scheduler."),
        (["{jsonl}", "--n-jobs", "2"], "--n-jobs has no effect on a cluster, because workers have their own threads"),
        (["{jsonl}", "--memory", "1GB"], "--memory has no effect on a cluster, whose workers have their own limit"),
        (["{jsonl}", "--drop-duplicates", "near"], "--drop-duplicates can only be 'exact' on a cluster"),
        (["{npz}"], "A cluster reads texts, but the files hold ready-made counts (npz). Leave out --scheduler"),
        (["no*.jsonl"], "No file 'no*.jsonl'"),
        (["{jsonl}", "--text", "reviw"], "Did you mean 'review'?"),
    ],
)
def test_what_a_cluster_cannot_do_is_said_before_one_is_asked(files, tmp_path, arguments, sentence):
    npz = tmp_path / "counts.npz"
    npz.write_bytes(b"")
    named = [each.format(jsonl=files.jsonl, npz=npz) for each in arguments]
    result = CliRunner().invoke(app, ["index", *named, "-o", str(tmp_path / "x"), "--scheduler", "tcp://127.0.0.1:9"])
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == [npz]


def test_what_is_on_this_machine_stays_here(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("good sushi\ngood ramen\n")
    with read_corpus(texts) as corpus, pytest.raises(SearchError, match="A Corpus is on this machine"):
        build_index(corpus, tmp_path / "x.index", scheduler="local")


def test_an_index_is_no_url(files):
    result = CliRunner().invoke(app, ["index", str(files.jsonl), "-o", "s3://bucket/x.index"])
    assert result.exit_code == 1
    assert "An index needs a folder in a file system, got the URL 's3://bucket/x.index'" in result.stderr


def test_a_worker_that_dies_changes_nothing(scheduler, files, local, tmp_path):
    died = []

    def kill_one(step, *_):
        if step == "Fitting topics" and not died:
            with Client(scheduler, set_as_default=False) as client:
                died.append(min(client.scheduler_info()["workers"]))
                client.run(os._exit, 1, workers=died, on_error="ignore")

    built = build_index(
        str(files.folder / "part*.jsonl"), tmp_path / "x.index", FIT, READING, scheduler=scheduler, on_progress=kill_one
    )
    assert died
    assert_same(built, local)
