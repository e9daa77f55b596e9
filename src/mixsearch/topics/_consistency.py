"""Do the stored arrays of a search fit together? Compiled code that reads them trusts row pointers and shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mixsearch._typing import Array
from mixsearch.storage import Folder, damage_error
from mixsearch.topics._segments import BY_DOCUMENT, BY_WORD, DOCUMENTS, Segment

# Indices of up to this many counts are compared with their bounds now; those of more when they are first read.
MAX_CHECKED = 1 << 20


def check_arrays(folder: Folder, segments: Sequence[Segment]) -> None:
    """Raise `DamagedFolderError` unless shapes agree and row pointers rise, in a time that hardly depends on size."""
    d, k = _measure(folder)
    for name, shape in _list_shapes(folder, segments, d, k):
        if folder.arrays[name].shape != shape:
            raise damage_error(
                "'{path}' is damaged: {name} has the shape {found}, but {needed} fits the other arrays.",
                path=str(folder.path),
                name=name,
                found=folder.arrays[name].shape,
                needed=shape,
            )
    for segment in segments:
        _check_counts(folder, segment.place(BY_DOCUMENT), segment.n_documents, d)
        _check_counts(folder, segment.place(BY_WORD), d, segment.n_documents)


def _measure(folder: Folder) -> tuple[int, int]:
    """Return the numbers of words and of components."""
    shape = folder.arrays["frame/basis"].shape
    if len(shape) != 2:
        raise damage_error(
            "'{path}' is damaged: {name} is no matrix.", path=str(folder.path), name="frame/basis", found=shape
        )
    return shape


def _list_shapes(folder: Folder, segments: Sequence[Segment], d: int, k: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the arrays that every search has, and those that it may have, with their shapes."""
    yield from ((f"words/{name}", (d,)) for name in ("word_mean", "own_pairs", "own_triples"))
    yield from {"words/own_crossed": (d, k), "frame/values": (k,), "frame/metric": (d,), "frame/mean": (k,)}.items()
    optional = {"frame/idf": (d,), "mean_document/tfidf": (d,), "mean_document/deviation": (d,)}
    yield from ((name, shape) for name, shape in optional.items() if name in folder)
    for segment in segments:
        n = segment.n_documents
        yield segment.place("documents/projected"), (n, k)
        # Before 0.9 the lengths of tf-idf vectors were not stored.
        names = (segment.place(f"documents/{name}") for name in DOCUMENTS)
        yield from ((name, (n,)) for name in names if name in folder)
        for group, length in ((BY_DOCUMENT, n), (BY_WORD, d)):
            yield segment.place(f"{group}/indptr"), (length + 1,)
            yield segment.place(f"{group}/data"), folder.arrays[segment.place(f"{group}/indices")].shape


def _check_counts(folder: Folder, group: str, n_rows: int, n_columns: int) -> None:
    starts, indices = folder[f"{group}/indptr"], folder.map(f"{group}/indices")
    if not (_is_integer(starts) and _is_integer(indices) and indices.ndim == 1):
        reason = "its pointers and indices are no whole numbers"
    elif starts[0] != 0 or starts[-1] != len(indices) or (starts[1:] < starts[:-1]).any():
        reason = "its row pointers do not rise from 0 to the number of counts"
    elif len(indices) <= MAX_CHECKED and len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:
        reason = "an index is out of range"
    else:
        return
    raise damage_error(
        "'{path}' is damaged: {name} cannot be read, {reason}.", path=str(folder.path), name=group, reason=reason
    )


def _is_integer(array: Array) -> bool:
    return bool(np.issubdtype(array.dtype, np.signedinteger))
