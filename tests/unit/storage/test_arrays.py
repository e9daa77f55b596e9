"""What is written comes back: arrays of every shape, in a stream or out of order, and the facts."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.unit.storage.writers import KIND, open_marked

from mixsearch.errors import StorageError
from mixsearch.storage.publication import write_folder
from mixsearch.storage.reader import open_folder

ARRAYS = {
    "floats": np.linspace(0, 1, 7),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "every_second": np.arange(20, dtype=np.int16)[::2],
    "cube": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "no_rows": np.empty((0, 3), np.float32),
    "no_columns": np.empty((3, 0)),
    "flags": np.array([True, False]),
    "words": np.array(["one", "twenty", ""]),
    "big_endian": np.arange(3, dtype=">i4"),
    "many_dimensions": np.ones((1,) * 30),
}


def test_arrays_come_back_equal_mapped_and_read_only_and_numpy_reads_the_files(tmp_path, monkeypatch):
    monkeypatch.setattr("mixsearch.storage.arrays.CHUNK_BYTES", 20)
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        for name, array in ARRAYS.items():
            out.save(f"group/{name}", array)
    folder = open_marked(tmp_path / "index")
    folder.verify()
    for name, array in ARRAYS.items():
        found = folder[f"group/{name}"]
        assert_array_equal(found, array)
        assert found.dtype == array.dtype
        assert not found.flags.writeable
        assert isinstance(found.base, np.memmap)
        (file,) = tmp_path.glob(f"index/data-*/group/{name}.npy")
        assert_array_equal(np.load(file, allow_pickle=False), array)


def test_rows_appended_to_a_stream_come_back_as_one_array(tmp_path):
    parts = [np.arange(n * 3, dtype=np.int32).reshape(n, 3) for n in (2, 0, 5, 1)]
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        with out.stream("closed", np.int32, (3,)) as closed:
            for part in parts:
                closed.append(part)
        left_open = out.stream("left_open", np.int64)
        left_open.append(np.arange(3, dtype=np.int8))
        left_open.append([7])
    folder = open_marked(tmp_path / "index")
    assert_array_equal(folder["closed"], np.concatenate(parts))
    assert_array_equal(folder["left_open"], [0, 1, 2, 7])


def test_an_allocated_array_can_be_filled_out_of_order_and_is_closed_after_that(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        with out.allocate("filled", (4, 2), np.float32) as filled:
            filled[3], filled[0] = 3, 1
        with pytest.raises(ValueError, match="read-only"):
            filled[1] = 2
        with out.allocate("empty", (0, 2), np.float32):
            pass
    folder = open_marked(tmp_path / "index")
    assert_array_equal(folder["filled"], [[1, 1], [0, 0], [0, 0], [3, 3]])
    assert folder["empty"].shape == (0, 2)


def test_an_array_that_processes_write_in_pieces_is_the_array_that_is_saved_at_once(tmp_path):
    values = np.arange(30, dtype=np.float32).reshape(10, 3)
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        array = out.share("pieces", values.shape, values.dtype)
        for first, last in ((4, 10), (0, 3), (3, 4)):
            array.write(first, values[first:last])
        with pytest.raises(StorageError) as caught:
            array.write(8, values[:3])
        assert caught.value.code == "bad_shape"
        out.adopt("pieces", array.finish())
        out.save("whole", values)
    folder = open_marked(tmp_path / "index")
    folder.verify()
    assert_array_equal(folder["pieces"], values)
    assert folder.arrays["pieces"] == folder.arrays["whole"]


def test_facts_and_sizes_come_back(tmp_path):
    with write_folder(tmp_path / "index", kind="other kind", version=3) as out:
        out.facts.update(count=np.int64(3), share=np.float32(0.5), names=["ü", "\ud800"], nested={"none": None})
        out.save("group/one", np.arange(3))
        out.save("group/two", np.arange(4))
        with out.file("columns.parquet") as path:
            path.write_bytes(b"columns")
    folder = open_folder(tmp_path / "index", kind="other kind", version=5)
    assert folder.facts == {"count": 3, "share": 0.5, "names": ["ü", "\ud800"], "nested": {"none": None}}
    assert (folder.kind, folder.version) == ("other kind", 3)
    assert folder.file("columns.parquet")[:] == b"columns"
    on_disk = [path.stat().st_size for path in tmp_path.glob("index/data-*/group/*.npy")]
    assert folder.sizes() == {"group": sum(on_disk), "columns": 7}
