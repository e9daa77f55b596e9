"""The examples of a search: positions in the table, a mask, or new rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.walk import Visits, start_at
from mixsearch.errors import DoubtfulExamplesWarning, HintError, Option
from mixsearch.table._embedding import Embedder
from mixsearch.table._fit import TableFit
from mixsearch.table._rows import check_positions, find_rows
from mixsearch.table._tables import get_values
from mixsearch.table._texts import place_texts

# An example is doubted if fewer other examples than this are expected in its group, or if its group is that of most
# examples with a lower probability.
MIN_SAME = 0.05
MAX_LISTED = 10


class Examples(NamedTuple):
    """Rows that a search starts from."""

    positions: Array  # in the table, each once; none if they are rows of their own
    texts: tuple[str, ...]
    nodes: Array  # the node that stands for each example, (q,)
    starts: sp.csc_array  # how much of the walk from each example starts at each node, (m, q)
    resp: Array  # (q, k)

    @property
    def names(self) -> list[Any]:
        """The position of each example, or its text; its number if it is a new row."""
        rows = self.positions.tolist() or list(range(len(self.nodes) - len(self.texts)))
        return [*rows, *map(repr, self.texts)]

    def list_positions(self) -> tuple[int, ...]:
        """Return the positions as a tuple."""
        return tuple(self.positions.tolist())


def read_examples(argument: str, rows: Any, texts: Iterable[str], fit: TableFit, embedder: Embedder) -> Examples:
    """Return the examples that an argument names, positions, a mask or a table with rows, and texts."""
    placed = place_texts(f"{argument}_texts", texts, fit, embedder)
    if _is_table(rows):
        positions = np.empty(0, dtype=np.intp)
        nodes, resp = fit.find_nodes(rows)
    else:
        positions = _read_positions(argument, rows, fit)
        nodes, resp = fit.nodes.of_row[positions], fit.posterior(fit.take_features(positions))
    return Examples(
        positions,
        placed.texts,
        np.concatenate([nodes, placed.nodes]),
        sp.csc_array(sp.hstack([start_at(nodes, len(fit.node_resp)), placed.starts])),
        np.concatenate([resp, placed.resp]),
    )


def check_examples(like: Examples, not_like: Examples) -> None:
    """Raise an error if there is no example, or a row is both a member and no member."""
    if not len(like.nodes):
        raise HintError("{argument} names no row.", code="no_rows_named", argument=Option("like"))
    both = np.intersect1d(like.positions, not_like.positions)
    if len(both):
        raise HintError(
            "Rows cannot be given both as members and as non-members: {rows}.",
            code="contradicting_rows",
            rows=", ".join(map(str, both.tolist())),
        )


def expected_size(examples: Examples, visits: Visits, fit: TableFit) -> float:
    """Return the number of rows in the component of an example, the geometric mean over examples.

    Of rows that walks from rows that are not members visit as well, only a part counts.
    """
    weights = fit.nodes.sizes[:, None] * fit.node_resp
    part = visits.part() @ weights / np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
    return float(np.exp(np.mean(np.log(np.maximum(examples.resp @ (fit.component_sizes * part), 1.0)))))


def find_doubts(examples: Examples, fit: TableFit) -> list[DoubtfulExamplesWarning]:
    """Return the doubt that some examples are in other groups of rows than the others, if there are such.

    They have no other example in their group, or are not in that of most examples.
    """
    of_group = examples.resp @ fit.groups
    n_in_group = of_group.sum(axis=0)
    n_same = np.einsum("ij,ij->i", of_group, n_in_group - of_group)
    far = np.flatnonzero((n_same < MIN_SAME) | (of_group[:, np.argmax(n_in_group)] < MIN_SAME)).tolist()
    return [_far_from_others(examples, far)] if far and len(n_same) > 1 else []


def _far_from_others(examples: Examples, far: list[int]) -> DoubtfulExamplesWarning:
    rows = [examples.names[index] for index in far]
    listed = ", ".join(map(str, rows[:MAX_LISTED])) + (", ..." if len(rows) > MAX_LISTED else "")
    if len(rows) == len(examples.nodes):
        sentence = "The {n_examples} examples are far from each other: rows {listed}. Search for each group by itself."
    elif len(rows) > 1:
        sentence = (
            "Of the {n_examples} examples, {n_far} are far from the others: rows {listed}. Leave out those that may be "
            "wrong, or search for each group by itself."
        )
    else:
        sentence = (
            "Of the {n_examples} examples, one is far from all others: row {listed}. Leave it out if it may be wrong."
        )
    return DoubtfulExamplesWarning(
        sentence,
        code="examples_disagree",
        n_examples=len(examples.nodes),
        n_far=len(rows),
        listed=listed,
        rows=rows,
    )


def _is_table(rows: Any) -> bool:
    if isinstance(rows, np.ndarray):
        return rows.ndim == 2 or rows.dtype.names is not None
    if isinstance(rows, list | tuple):
        return bool(rows) and isinstance(rows[0], list | tuple | np.ndarray)
    return isinstance(rows, Mapping) or hasattr(rows, "columns")


def _read_positions(argument: str, rows: Any, fit: TableFit) -> Array:
    """Return positions of rows, each once and in order."""
    n_rows = fit.n_rows
    if isinstance(rows, str) or (isinstance(rows, int | np.integer) and not isinstance(rows, bool)):
        rows = [rows]
    if isinstance(rows, bytes) or not isinstance(rows, Iterable):
        raise _bad_rows(argument, rows)
    rows = rows if isinstance(rows, np.ndarray) else list(rows)
    if fit.id is not None and len(rows) and all(isinstance(row, str) for row in rows):
        return np.unique(find_rows(get_values(fit.table, fit.id), rows))
    positions = np.asarray(rows)
    if positions.size == 0:
        return np.empty(0, dtype=np.intp)
    if positions.ndim != 1 or positions.dtype.kind not in "iub":
        raise _bad_rows(argument, positions.ravel()[:3].tolist())
    if positions.dtype.kind == "b":
        return _check_mask(argument, positions, n_rows)
    return np.unique(check_positions(argument, positions, n_rows))


def _check_mask(argument: str, mask: Array, n_rows: int) -> Array:
    if len(mask) != n_rows:
        raise HintError(
            "{argument} is a mask of {length} booleans, but the table has {n_rows} rows.",
            code="bad_mask",
            argument=Option(argument),
            length=len(mask),
            n_rows=n_rows,
        )
    return np.flatnonzero(mask)


def _bad_rows(argument: str, value: Any) -> HintError:
    return HintError(
        "{argument} must be positions of rows, as integers, a mask or a table with rows, got {value!r}.",
        code="bad_rows",
        argument=Option(argument),
        value=value,
    )
