import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixsearch.errors import DiskError
from mixsearch.storage import CompressedTexts, Texts, compress_texts, open_folder, write_folder


def test_an_array_in_pieces_is_the_array_that_is_saved_at_once(tmp_path):
    values = np.arange(30, dtype=np.float32).reshape(10, 3)
    with write_folder(tmp_path / "x", kind="test", version=1) as out:
        array = out.share("pieces", values.shape, values.dtype)
        for first, last in ((4, 10), (0, 3), (3, 4)):
            array.write(first, values[first:last])
        out.adopt("pieces", array.finish())
        out.save("whole", values)
    folder = open_folder(tmp_path / "x", kind="test", version=1)
    folder.verify()
    np.testing.assert_array_equal(folder["pieces"], values)
    assert folder.arrays["pieces"] == folder.arrays["whole"]


def test_an_array_in_pieces_may_be_empty(tmp_path):
    with write_folder(tmp_path / "x", kind="test", version=1) as out:
        array = out.share("none", (0, 3), np.float32)
        array.write(0, np.empty((0, 3), dtype=np.float32))
        out.adopt("none", array.finish())
    assert open_folder(tmp_path / "x", kind="test", version=1)["none"].shape == (0, 3)


def test_a_piece_that_comes_too_late_does_not_come_back(tmp_path):
    with pytest.raises(KeyboardInterrupt), write_folder(tmp_path / "x", kind="test", version=1) as out:  # noqa: PT012
        array = out.share("late", (3,), np.float32)
        raise KeyboardInterrupt
    with pytest.raises(DiskError, match="Could not write '.*late.npy'"):
        array.write(0, np.zeros(3, dtype=np.float32))
    assert not (tmp_path / "x").exists()


def test_rows_that_do_not_fit_are_refused(tmp_path):
    with write_folder(tmp_path / "x", kind="test", version=1) as out:
        array = out.share("some", (3, 2), np.float32)
        with pytest.raises(ValueError, match="Rows of shape \\(2, 2\\) do not fit .* shape \\(3, 2\\) at index 2"):
            array.write(2, np.zeros((2, 2), dtype=np.float32))
        out.adopt("some", array.finish())


@given(texts=st.lists(st.text(max_size=20), max_size=30), cut=st.integers(0, 30))
def test_compressed_blocks_one_after_the_other_are_those_of_all_texts(texts, cut):
    parts = [compress_texts(texts[:cut]), compress_texts(texts[cut:])]
    before = [np.zeros(2, dtype=np.int64), parts[0].blocks[-1]]
    whole = CompressedTexts(
        np.concatenate([part.bytes for part in parts]),
        np.concatenate([part.blocks[:-1] + first for part, first in zip(parts, before, strict=True)]),
        np.concatenate([part.ends for part in parts]),
    )
    totals = [[len(whole.bytes), len(texts)]]
    arrays = {"t/bytes": whole.bytes, "t/blocks": np.concatenate([whole.blocks, totals]), "t/ends": whole.ends}
    assert list(Texts(arrays, "t")) == texts
