"""A small folder in which every file holds the same mark."""

import numpy as np
import polars as pl

from mixsearch.io.folder import open_folder, write_folder

KIND, VERSION, N_ROWS = "topic index", 2, 20


def write_marked(path, mark=1, overwrite=False):
    with write_folder(path, kind=KIND, version=VERSION, overwrite=overwrite) as out:
        fill(out, mark)


def fill(out, mark):
    out.facts["mark"] = mark
    out.save("saved", np.full(N_ROWS, mark))
    with out.stream("group/streamed", np.int32, (2,)) as stream:
        for _ in range(N_ROWS):
            stream.append(np.full((1, 2), mark, np.int32))
    with out.allocate("group/filled", (N_ROWS,), np.float32) as filled:
        filled[::-1] = mark
    out.frame("columns", pl.DataFrame({"mark": [mark] * N_ROWS}))
    out.texts("texts").append([str(mark)] * N_ROWS)


def open_marked(path):
    return open_folder(path, kind=KIND, version=VERSION)


def read_mark(path):
    """Read the mark of a folder, after a check that all of its files hold it."""
    folder = open_marked(path)
    folder.verify()
    return check_mark(folder)


def check_mark(folder):
    mark = folder.facts["mark"]
    values = [*folder["saved"], *folder["group/streamed"].ravel(), *folder["group/filled"]]
    values += [*folder.table("columns").collect()["mark"], *map(int, folder.texts("texts"))]
    assert set(values) == {mark}
    assert len(values) == 6 * N_ROWS
    return mark
