"""Writers and readers of one small folder, for the tests."""

import numpy as np

from mixsearch.storage.publication import write_folder
from mixsearch.storage.reader import open_folder

KIND = "topic index"


def write_marked(path, mark=1, overwrite=False, n_rows=20):
    """Write a folder in which every array contains the mark."""
    with write_folder(path, kind=KIND, version=1, overwrite=overwrite) as out:
        out.facts["mark"] = mark
        out.save("saved", np.full(n_rows, mark))
        with out.stream("group/streamed", np.int32, (2,)) as stream:
            for _ in range(n_rows):
                stream.append(np.full((1, 2), mark, np.int32))
        with out.allocate("group/filled", (n_rows,), np.float32) as filled:
            filled[::-1] = mark
        out.texts("texts").append([str(mark)] * n_rows)


def open_marked(path):
    return open_folder(path, kind=KIND, version=1)


def read_mark(path):
    """Return the mark that all parts of the folder contain, with every byte verified."""
    folder = open_marked(path)
    folder.verify()
    mark = folder.facts["mark"]
    assert set(folder["saved"].tolist()) == {mark}
    assert set(folder["group/streamed"].ravel().tolist()) == {mark}
    assert set(folder["group/filled"].tolist()) == {mark}
    assert set(folder.texts("texts")) == {str(mark)}
    return mark


def generations(path):
    return [entry for entry in path.iterdir() if entry.name.startswith("data-")]
