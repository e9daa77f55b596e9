"""Counts of cells by genes with their annotations: AnnData in memory, and .h5ad files, of which only parts are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.arrow import has_pyarrow, import_pyarrow
from mixsearch.data.chunks import row_slices
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.rows import make_package_error
from mixsearch.data.files.streams import check_growth, make_unreadable_error, name_file
from mixsearch.data.files.types import flatten_types, rename_repeated
from mixsearch.errors import SearchError, SearchWarning
from mixsearch.text.count.checks import are_counts, check_sparse, merge_duplicates
from mixsearch.text.count.matrix_files import CountMatrix, check_options, to_chunk
from mixsearch.text.read.columns import Columns, check_column, choose_kept, to_text
from mixsearch.text.read.documents import ReadState
from mixsearch.text.read.frames import read_pandas
from mixsearch.text.read.summary import N_SAMPLE_ROWS

FORMAT = "h5ad"
ANNDATA = "the AnnData object"
_NEEDED = "an .h5ad file of AnnData 0.7 or newer"
_ROWS_PER_CHUNK = 4096
# Rows in which values are looked at to learn whether they are counts.
_N_FIRST_ROWS = 512

# From a slice of rows to their counts.
_ReadRows = Callable[[slice], sp.csr_array]
# How to read the rows of each matrix, and where its words are.
_Openers = dict[str, tuple[_ReadRows, Any]]


def is_anndata(source: Any) -> bool:
    """Return whether a source is an AnnData object."""
    return all(hasattr(source, name) for name in ("X", "obs", "obs_names", "var_names", "layers"))


def read_anndata(source: Any, state: ReadState) -> CountMatrix:
    """Return the counts of an AnnData object: X, or if its values are not counts, the layer "counts" or raw."""
    raw = getattr(source, "raw", None)
    choices: dict[str, tuple[Any, Any]] = {"X": (source.X, source.var_names)}
    if "counts" in source.layers:
        choices["layers['counts']"] = (source.layers["counts"], source.var_names)
    if raw is not None:
        choices["raw.X"] = (raw.X, raw.var_names)
    openers: _Openers = {name: (partial(_read_memory, matrix), words) for name, (matrix, words) in choices.items()}
    n_rows = len(source.obs_names)
    read, words = _choose_counts(openers, n_rows, ANNDATA, state)
    return _make_matrix(
        read, list(map(str, words)), list(map(str, source.obs_names)), read_pandas(source.obs), state, ANNDATA
    )


@contextmanager
def open_h5ad(path: File, state: ReadState) -> Iterator[CountMatrix]:
    """Open the counts of an .h5ad file; rows are read as they are needed."""
    try:
        import h5py
    except ImportError as error:
        raise make_package_error("h5py", ".h5ad files", "anndata") from error
    try:
        with path.open("rb") as raw, h5py.File(raw, "r") as file:
            file.visititems(partial(_check_growth, path))
            yield _open_groups(file, path, state)
    except SearchError:
        raise
    # Damaged files raise errors of many kinds.
    except (OSError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, ArithmeticError) as error:
        raise make_unreadable_error(path, error, _NEEDED) from error


def _check_growth(path: File, _: str, stored: Any) -> None:
    """Raise if an array is far larger than its file: one without values takes no space."""
    if hasattr(stored, "nbytes"):
        check_growth(path, get_size(path) or 0, stored.nbytes)


def _open_groups(file: Any, path: File, state: ReadState) -> CountMatrix:
    names = _read_index(file["obs"])
    openers: _Openers = {}
    for name, (matrix, var) in {
        "X": ("X", "var"),
        "layers['counts']": ("layers/counts", "var"),
        "raw.X": ("raw/X", "raw/var"),
    }.items():
        if matrix in file:
            openers[name] = (_open_matrix(file[matrix]), file[var])
    read, var = _choose_counts(openers, len(names), name_file(path), state)
    return _make_matrix(read, _read_index(var), names, _read_columns(file["obs"]), state, name_file(path))


def _choose_counts(openers: _Openers, n_rows: int, source: str, state: ReadState) -> tuple[_ReadRows, Any]:
    """Return the first matrix of counts, with a note if it is not X."""
    first = slice(0, min(n_rows, _N_FIRST_ROWS))
    for name, (read, words) in openers.items():
        if not are_counts(read(first).data):
            continue
        if name != "X":
            sentence = "The values of X in {source!r} are no counts, so those of {place} are read."
            state.notes.append(SearchWarning(sentence, code="counts_elsewhere", source=source, place=name))
        return read, words
    raise SearchError(
        "{source!r} has no counts in {places}, but non-negative integers are needed. Keep the counts in "
        "layers['counts'] before you normalize X.",
        code="not_counts",
        source=source,
        places=", ".join(openers) or "X",
    )


def _make_matrix(
    read: _ReadRows, words: list[str], names: list[str], obs: Any, state: ReadState, source: str
) -> CountMatrix:
    check_options(state.options, allowed=("id", "keep"))
    id, keep = state.options.id, state.options.keep
    if id is not None:
        check_column(id, obs.schema.names, source)
        names = list(map(to_text, obs.column(id).to_pylist()))
    columns = Columns((), id)
    kept = choose_kept(obs.slice(0, N_SAMPLE_ROWS), columns, keep if has_pyarrow() else None, source)
    check = partial(_check, source, len(words))
    chunks = (to_chunk(check(rows, read(rows))) for rows in row_slices(len(names), _ROWS_PER_CHUNK))
    return CountMatrix(rename_repeated(words), chunks, names, flatten_types(obs.select(list(kept))) if kept else None)


def _check(source: str, n_words: int, rows: slice, counts: sp.csr_array) -> sp.csr_array:
    if counts.shape != (rows.stop - rows.start, n_words):
        raise make_unreadable_error(source, "its counts have another shape than its names")
    if not are_counts(counts.data):
        raise SearchError(
            "{source!r} has values that are not counts, but non-negative integers are needed.",
            code="not_counts",
            source=source,
        )
    return merge_duplicates(counts)


def _read_memory(matrix: Any, rows: slice) -> sp.csr_array:
    return sp.csr_array(matrix[rows])


def _open_matrix(group: Any) -> _ReadRows:
    """Return how to read rows of a stored matrix: dense, by rows, or by columns, which is read as a whole."""
    kind = group.attrs.get("encoding-type", "array")
    if kind == "array":
        return partial(_read_memory, group)
    n_rows, n_words = map(int, group.attrs["shape"])
    if kind == "csc_matrix":
        whole = sp.csc_array((group["data"][:], group["indices"][:], group["indptr"][:]), shape=(n_rows, n_words))
        check_sparse(whole)
        return partial(_read_memory, whole.tocsr())
    return partial(_read_csr, group, group["indptr"][:], n_words)


def _read_csr(group: Any, bounds: Array, n_words: int, rows: slice) -> sp.csr_array:
    own = bounds[rows.start : rows.stop + 1]
    part = slice(int(own[0]), int(own[-1]))
    counts = sp.csr_array((group["data"][part], group["indices"][part], own - own[0]), shape=(len(own) - 1, n_words))
    check_sparse(counts)
    return counts


def _read_index(frame: Any) -> list[str]:
    return list(map(str, _read_strings(frame[frame.attrs["_index"]])))


def _read_columns(frame: Any) -> Any:
    """Return the columns of a stored data frame as a record batch."""
    arrow = import_pyarrow("Columns of .h5ad files")
    names = [str(name) for name in frame.attrs["column-order"]]
    arrays = {name: _read_column(frame[name], arrow) for name in names}
    known = {name: array for name, array in arrays.items() if array is not None}
    n_rows = len(frame[frame.attrs["_index"]])
    return (
        arrow.RecordBatch.from_pydict(known)
        if known
        else arrow.RecordBatch.from_struct_array(arrow.array([{}] * n_rows, arrow.struct([])))
    )


def _read_column(stored: Any, arrow: Any) -> Any | None:
    kind = stored.attrs.get("encoding-type", "array")
    if kind == "categorical":
        codes = stored["codes"][:].astype(np.int64)
        categories = _read_column(stored["categories"], arrow)
        return None if categories is None else categories.take(arrow.array(codes, mask=codes < 0))
    if kind.startswith("nullable-"):
        values = stored["values"]
        plain = _read_strings(values) if values.dtype.kind == "O" else values[:]
        return arrow.array(plain, mask=stored["mask"][:])
    if kind == "string-array":
        return arrow.array(_read_strings(stored), arrow.string())
    values = stored[:]
    return arrow.array(values, from_pandas=True) if values.ndim == 1 and values.dtype.kind in "biuf" else None


def _read_strings(stored: Any) -> Sequence[str]:
    if hasattr(stored, "attrs") and str(stored.attrs.get("encoding-type", "")).startswith("nullable-"):
        stored = stored["values"]
    texts: Sequence[str] = stored.asstr()[:].tolist() if stored.dtype.kind in "OS" else list(map(str, stored[:]))
    return texts
