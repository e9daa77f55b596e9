"""A small folder in which every file holds the same mark."""

import numpy as np
import polars as pl

from mixsearch.io.folder import open_folder, write_folder

N_ROWS = 20


def write_marked(path, mark=1, overwrite=False):
    with write_folder(path, overwrite=overwrite) as out:
        fill(out, mark)


def fill(out, mark):
    out.facts["mark"] = mark
    out.save("saved", np.full(N_ROWS, mark))
    for _ in range(N_ROWS):
        out.save("group/appended", np.full((1, 2), mark, np.int32))
    out.allocate("group/filled", (N_ROWS,), np.float32)[::-1] = mark
    out.save_frame("columns", pl.DataFrame({"mark": [mark] * N_ROWS}))
    out.save_texts("texts", [str(mark)] * N_ROWS)


def read_mark(path):
    """Read the mark of a folder, after a check that all of its files hold it."""
    folder = open_folder(path)
    folder.verify()
    return check_mark(folder)


def check_mark(folder):
    mark = folder.facts["mark"]
    values = [*folder["saved"], *folder["group/appended"].ravel(), *folder["group/filled"]]
    values += [*folder.table("columns").collect()["mark"], *map(int, folder.texts("texts"))]
    assert set(values) == {mark}
    assert len(values) == 6 * N_ROWS
    return mark
