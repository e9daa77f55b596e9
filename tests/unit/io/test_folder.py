"""What is written comes back, completely or not at all, whatever happens to the writer."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from tests.coded import raises
from tests.unit.io.marked_folders import check_mark, fill, read_mark, write_marked

from mixsearch.errors import BusyFolderError
from mixsearch.io import folder as folder_module
from mixsearch.io.folder import open_folder, read_manifest, update_folder, write_folder
from mixsearch.io.parquet import FILE_ROWS

ARRAYS = {
    "floats": np.linspace(0, 1, 7),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "no_rows": np.empty((0, 3), np.float32),
    "flags": np.array([True, False]),
    "words": np.array(["one", "twenty", ""]),
    "many_dimensions": np.ones((1,) * 30),
}
any_text = st.none() | st.text(st.characters(exclude_categories=()), max_size=30)
posix = pytest.mark.skipif(os.name == "nt", reason="limits and signals of POSIX")


def test_arrays_come_back_equal_mapped_and_read_only_and_numpy_reads_the_files(tmp_path):
    with write_folder(tmp_path / "index") as out:
        for name, array in ARRAYS.items():
            out.save(f"group/{name}", array)
        out.save("appended", np.arange(3))
        out.save("appended", np.array([7], dtype=np.int8))
        for rows in (np.ones(2), np.ones((2, 1), int), [None]):
            with pytest.raises(TypeError):
                out.save("appended", rows)
        assert_array_equal(out.read("group/floats"), ARRAYS["floats"])
    folder = open_folder(tmp_path / "index")
    folder.verify()
    assert_array_equal(folder["appended"], [0, 1, 2, 7])
    for name, array in ARRAYS.items():
        found = folder[f"group/{name}"]
        assert_array_equal(found, array)
        assert found.dtype == array.dtype
        assert not found.flags.writeable
        assert isinstance(found.base, np.memmap)  # joblib passes it to other processes by name
        (file,) = tmp_path.glob(f"index/data-*/group/{name}.npy")
        assert_array_equal(np.load(file, allow_pickle=False), array)


def test_facts_and_tables_come_back(tmp_path):
    n, facts = FILE_ROWS + 5, {"share": 0.5, "names": ["ü", "\ud800"], "nested": {"none": None}}
    frame = pl.DataFrame({"row": range(n), "none": [None] * n}).with_columns(pl.date(2024, 2, 29).alias("day"))
    with write_folder(tmp_path / "index") as out:
        out.facts.update(facts, count=np.int64(3))
        out.save("group/one", np.arange(3))
        out.save_frame("columns", frame)
        out.save_frame("empty", pl.DataFrame({"x": []}))
    folder = open_folder(tmp_path / "index")
    assert folder.facts == {**facts, "count": 3}
    table, rows = folder.table("columns"), [FILE_ROWS + 1, 0, 7, FILE_ROWS - 1, 7]
    assert len(table) == n
    assert table.collect().equals(frame)
    assert table.collect(["row", "absent"]).columns == ["row"]
    assert table.take(rows, ["day", "row"]).equals(frame.select("day", "row")[rows])
    assert table.take([]).schema == frame.schema
    with pytest.raises(IndexError):
        table.take([n])
    assert folder.table("empty").collect().shape == (0, 1)


@given(texts=st.lists(any_text, max_size=30), cut=st.integers(0, 30), data=st.data())
def test_texts_come_back_in_any_order_with_lone_surrogates_replaced(texts, cut, data):
    expected = ["".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text or "") for text in texts]
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
        patch.setattr("mixsearch.io.folder.FILE_BYTES", 60)
        patch.setattr("os.fsync", lambda handle: None)
        with write_folder(Path(home) / "index") as out:
            out.save_texts("first", texts[:cut])
            for text in texts[cut:]:
                out.save_texts("others", [text])
            out.save_texts("others", [])
        column = open_folder(Path(home) / "index").texts("first", "others")
        assert list(column) == expected
        assert len(column) == len(texts)
        rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)) if texts else []
        assert column.read(rows) == [expected[row] for row in rows]


def write_and_fail(path, error, options):
    with write_folder(path, **options) as out:
        fill(out, 9)
        raise error


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_folder_or_none_and_nothing_else(tmp_path, error):
    write_marked(tmp_path / "index", 1)
    for name, options in (("index", {"overwrite": True}), ("new", {})):
        with pytest.raises(error):
            write_and_fail(tmp_path / name, error, options)
    assert read_mark(tmp_path / "index") == 1
    assert len([*tmp_path.glob("index/data-*")]) == 1
    assert not (tmp_path / "new").exists()


def test_a_writer_killed_at_any_step_leaves_the_old_or_the_new_and_the_next_one_clears_up(tmp_path, monkeypatch):
    """A copy of the folder is what a writer leaves that is killed at this step."""
    path, copies, replace = tmp_path / "index", [], os.replace

    def copy(expected):
        copies.append((shutil.copytree(path, tmp_path / f"killed-{len(copies)}"), expected))

    def replace_between_copies(source, target):
        copy(1)
        replace(source, target)
        copy(2)

    write_marked(path, 1)
    monkeypatch.setattr("os.replace", replace_between_copies)
    with write_folder(path, overwrite=True) as out:
        copy(1)
        fill(out, 2)
        copy(1)
    copy(2)
    monkeypatch.setattr("os.replace", replace)
    assert len(copies) == 5
    for left, expected in copies:
        assert read_mark(left) == expected
        write_marked(left, 3, overwrite=True)
        assert read_mark(left) == 3
        assert len([*left.glob("data-*")]) == 1


def start_writer(code, path):
    header = "import os, resource, sys, time\nfrom tests.unit.io.marked_folders import *\npath = sys.argv[1]\n"
    command = [sys.executable, "-c", header + code, str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@posix
def test_a_killed_writer_leaves_the_old_and_a_free_lock_even_if_a_worker_outlives_it(tmp_path):
    write_marked(tmp_path / "index", 1)
    code = (
        "with write_folder(path, overwrite=True) as out:\n"
        "    fill(out, 2)\n    worker = os.fork()\n    if worker: print(worker, flush=True)\n    time.sleep(600)"
    )
    with start_writer(code, tmp_path / "index") as writer:
        worker = int(writer.stdout.readline())
        try:
            with pytest.raises(BusyFolderError):
                write_marked(tmp_path / "index", 3, overwrite=True)
            writer.kill()
            writer.wait()
            assert read_mark(tmp_path / "index") == 1
            write_marked(tmp_path / "index", 4, overwrite=True)
        finally:
            os.kill(worker, signal.SIGKILL)
    assert read_mark(tmp_path / "index") == 4


def test_a_second_writer_is_told_to_wait(tmp_path):
    with write_folder(tmp_path / "index"), raises("folder_busy", path=str(tmp_path / "index")):
        write_marked(tmp_path / "index", overwrite=True)
    write_marked(tmp_path / "index", 2, overwrite=True)
    with update_folder(tmp_path / "index"), raises("folder_busy"), update_folder(tmp_path / "index"):
        pass
    assert read_mark(tmp_path / "index") == 2


def test_a_reader_keeps_the_generation_that_it_opened(tmp_path):
    write_marked(tmp_path / "index", 1)
    before = open_folder(tmp_path / "index")
    write_marked(tmp_path / "index", 2, overwrite=True)
    assert check_mark(before) == 1
    assert read_mark(tmp_path / "index") == 2
    with raises("folder_replaced"):
        before.verify()


def test_a_reader_whose_manifest_was_replaced_meanwhile_tries_again(tmp_path, monkeypatch):
    write_marked(tmp_path / "index", 1)
    stale = [read_manifest(tmp_path / "index")]
    write_marked(tmp_path / "index", 2, overwrite=True)
    monkeypatch.setattr(folder_module, "read_manifest", lambda *given: stale.pop() if stale else read_manifest(*given))
    assert open_folder(tmp_path / "index").facts["mark"] == 2


def test_an_update_replaces_adds_and_removes_and_links_the_other_files(tmp_path):
    write_marked(tmp_path / "index", 1)
    [before] = [path.stat() for path in tmp_path.rglob("filled.npy")]
    for mark in (2, 3):
        with update_folder(tmp_path / "index") as (now, out):
            out.facts["mark"] = mark
            out.save("saved", np.full(3, mark))
            out.save("added/here", now["group/filled"] + 100)
            out.save_texts("texts", [str(mark)])
            out.remove("group/appended")
            out.remove("columns")
    folder = open_folder(tmp_path / "index")
    folder.verify()
    assert {name: set(folder[name]) for name in folder} == {"saved": {3}, "added/here": {101}, "group/filled": {1}}
    assert list(folder.texts("texts")) == ["3"]
    assert "columns" not in folder.tables
    [after] = [path.stat() for path in tmp_path.rglob("filled.npy")]
    assert os.path.samestat(after, before)
    assert len([path for path in tmp_path.glob("index/data-*/**/*") if path.is_file()]) == 4
    with pytest.raises(ZeroDivisionError), update_folder(tmp_path / "index") as (_, out):
        out.facts["mark"] = 1 / 0
    assert open_folder(tmp_path / "index").generation == folder.generation
