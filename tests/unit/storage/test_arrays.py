"""What is written comes back: arrays of every shape, in a stream or out of order, and the facts."""

import errno

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.unit.storage.writers import KIND, open_marked, write_marked

from mixsearch.storage import open_folder, write_folder

ARRAYS = {
    "floats": np.linspace(0, 1, 7),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "every_second": np.arange(20, dtype=np.int16)[::2],
    "backwards": np.arange(6)[::-1],
    "cube": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "no_rows": np.empty((0, 3), np.float32),
    "no_columns": np.empty((3, 0)),
    "flags": np.array([True, False]),
    "words": np.array(["one", "twenty", ""]),
    "days": np.array(["2020-01-01"], "datetime64[D]"),
    "big_endian": np.arange(3, dtype=">i4"),
    "many_dimensions": np.ones((1,) * 30),
}


def write_array(path, array):
    with write_folder(path, kind=KIND, version=1) as out:
        out.save("group/array", array)
    return open_marked(path)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_equal_mapped_and_read_only(tmp_path, name):
    folder = write_array(tmp_path / "index", ARRAYS[name])
    found = folder["group/array"]
    assert_array_equal(found, ARRAYS[name])
    assert found.dtype == ARRAYS[name].dtype
    assert not found.flags.writeable
    assert isinstance(found.base, np.memmap)
    folder.verify()


@pytest.mark.parametrize("name", ARRAYS)
def test_numpy_reads_the_files_without_this_package(tmp_path, name):
    write_array(tmp_path / "index", ARRAYS[name])
    (file,) = tmp_path.glob("index/data-*/group/array.npy")
    assert_array_equal(np.load(file, allow_pickle=False), ARRAYS[name])


def test_blocks_appended_to_a_stream_come_back_as_one_array(tmp_path):
    blocks = [np.arange(n * 3, dtype=np.int32).reshape(n, 3) for n in (2, 0, 5, 1)]
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        with out.stream("closed", np.int32, (3,)) as closed:
            for block in blocks:
                closed.append(block)
        left_open = out.stream("left_open", np.int64)
        left_open.append(np.arange(3, dtype=np.int8))
        left_open.append([])
        left_open.append([7])
    folder = open_marked(tmp_path / "index")
    assert_array_equal(folder["closed"], np.concatenate(blocks))
    assert_array_equal(folder["left_open"], [0, 1, 2, 7])
    folder.verify()


def test_a_block_larger_than_a_chunk_is_written_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("mixsearch.storage.arrays.CHUNK_BYTES", 100)
    array = np.random.default_rng(0).normal(size=(50, 3)).T
    folder = write_array(tmp_path / "index", array)
    assert_array_equal(folder["group/array"], array)
    folder.verify()


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
    folder.verify()


def refuse_to_reserve(handle, start, length):
    raise OSError(errno.EOPNOTSUPP, "Operation not supported")


@pytest.mark.parametrize("there", [False, True])
def test_where_room_cannot_be_reserved_it_is_filled_with_zeros(tmp_path, monkeypatch, there):
    monkeypatch.setattr("os.posix_fallocate", refuse_to_reserve, raising=False)
    if not there:
        monkeypatch.delattr("os.posix_fallocate")
    monkeypatch.setattr("mixsearch.storage.disk.CHUNK_BYTES", 100)
    write_marked(tmp_path / "index", 3)
    folder = open_marked(tmp_path / "index")
    assert_array_equal(folder["group/filled"], [3] * 20)
    folder.verify()


def test_an_array_given_up_within_its_own_block_can_be_begun_again(tmp_path):
    with write_folder(tmp_path / "index", kind=KIND, version=1) as out:
        for begin in (
            lambda: out.stream("a", np.int8),
            lambda: out.allocate("b", (3,), np.int8),
            lambda: out.texts("c"),
        ):
            with pytest.raises(ZeroDivisionError), begin():
                raise ZeroDivisionError
        out.save("a", np.arange(2))
    assert list(open_marked(tmp_path / "index")) == ["a"]


def test_facts_and_descriptions_come_back(tmp_path):
    with write_folder(tmp_path / "index", kind="other kind", version=3) as out:
        out.facts.update(count=np.int64(3), share=np.float32(0.5), names=["ü", "\ud800"], nested={"none": None})
    folder = open_folder(tmp_path / "index", kind="other kind", version=5)
    assert folder.facts == {"count": 3, "share": 0.5, "names": ["ü", "\ud800"], "nested": {"none": None}}
    assert (folder.kind, folder.version) == ("other kind", 3)
    assert folder.written_by[0].isdigit()
    assert folder.created.endswith("+00:00")


def test_a_folder_is_a_mapping_that_knows_its_sizes(tmp_path):
    write_marked(tmp_path / "index")
    folder = open_marked(tmp_path / "index")
    assert set(folder) == {"saved", "group/streamed", "group/filled", "texts/bytes", "texts/blocks", "texts/ends"}
    assert "saved" in folder
    assert "lost" not in folder
    on_disk = {path: path.stat().st_size for path in tmp_path.glob("index/data-*/**/*.npy")}
    assert set(folder.sizes()) == {"saved", "group", "texts"}
    assert sum(folder.sizes().values()) == sum(on_disk.values())
    assert folder.sizes()["saved"] == folder.arrays["saved"].size
    assert repr(folder) == f"<Folder '{tmp_path / 'index'}': topic index, 6 arrays, {sum(on_disk.values()):,} bytes>"


def test_the_written_version_is_unknown_where_the_package_is_not_installed(tmp_path, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def find_nothing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("mixsearch.storage.writer.find_version", find_nothing)
    write_marked(tmp_path / "index")
    assert open_marked(tmp_path / "index").written_by == "unknown"
