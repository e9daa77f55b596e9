"""A fitted `TableSearch` as arrays in a folder, and back, mapped from the files."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, TableLike
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.dask import is_dask
from mixsearch.data.partitions import Layout, LocalPartitions
from mixsearch.errors import DamagedFolderError, SearchError
from mixsearch.gaussian import ShapedMixture
from mixsearch.storage import Folder, open_folder, write_folder
from mixsearch.table._embedding import Embedder
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._features import CategoryFeatures, Features, NumberFeatures, VectorFeatures
from mixsearch.table._fit import TableFit
from mixsearch.table._graph import NeighbourGraph
from mixsearch.table._nodes import NodeRows, Nodes
from mixsearch.table._source import LocalTable
from mixsearch.table._tables import open_table

KIND = "fitted table"
VERSION = 2  # 1 had the posterior of all rows
_MIXTURE = ("weights", "centers", "factors")
_EDGES = ("data", "indices", "indptr")


def save_fit(fit: TableFit, parameters: dict[str, Any], path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fit and the parameters of the search to a new folder."""
    if is_dask(fit.table):
        raise SearchError(
            "The fit of a Dask table cannot be saved: its rows are not in memory. Save the answer, which `to_frame` "
            "returns.",
            code="dask_not_saved",
        )
    table, rows = _to_bytes(fit.table), fit.rows.collect().partition
    with write_folder(path, kind=KIND, version=VERSION, overwrite=overwrite) as out:
        out.save("table", table)
        out.save("features", rows.features)
        out.save("axes", fit.axes)
        for name in _MIXTURE:
            out.save(f"mixture/{name}", getattr(fit.mixture, name))
        out.save("mixture/component_sizes", fit.component_sizes)
        out.save("mixture/whitener", fit.whitener)
        out.save("graph/nodes", fit.nodes.rows)
        out.save("graph/node_of_row", rows.nodes)
        out.save("graph/resp", fit.node_resp)
        out.save("graph/copies", fit.nodes.copies)
        for name in _EDGES:
            out.save(f"graph/{name}", getattr(fit.graph.edges, name))
        out.save("graph/same", fit.graph.same)
        out.facts["search"] = parameters
        out.facts["vectors"] = fit.vectors
        out.facts["id"] = fit.id
        out.facts["encoder"] = _describe_encoder(fit.encoder)
        out.facts["mixture"] = {"shape": fit.mixture.shape, "n_parameters": fit.mixture.n_parameters}
        out.facts["graph"] = {"kept_between": fit.graph.kept_between}


def open_fit(path: str | os.PathLike[str]) -> Folder:
    """Open the folder of a fit."""
    return open_folder(path, kind=KIND, version=VERSION)


def restore_fit(folder: Folder, embedder: Embedder = None) -> TableFit:
    """Load the fit from a folder, with an embedder for texts. Arrays are read when they are used."""
    arrays: dict[str, Any] = {name: folder[f"mixture/{name}"] for name in _MIXTURE}
    mixture = ShapedMixture(**arrays, **folder.facts["mixture"])
    rows = folder["graph/nodes"]
    shape = (len(rows), len(rows))
    edges = sp.csr_array(tuple(folder[f"graph/{name}"] for name in _EDGES), shape=shape, copy=False)
    features, of_row = folder["features"], folder["graph/node_of_row"]
    layout = Layout(len(features), features.shape[1], features.dtype, is_sparse=False)
    if folder.version == 1:
        resp = folder["mixture/resp"]
        component_sizes, node_resp = resp.sum(axis=0), resp[rows]
    else:
        component_sizes, node_resp = folder["mixture/component_sizes"], folder["graph/resp"]
    return TableFit(
        source=LocalTable(_from_bytes(folder["table"])),
        encoder=_restore_encoder(folder.facts["encoder"], embedder),
        rows=LocalPartitions(layout, NodeRows(0, features, of_row)),
        axes=folder["axes"],
        mixture=mixture,
        component_sizes=component_sizes,
        whitener=folder["mixture/whitener"],
        nodes=Nodes(rows, of_row, folder["graph/copies"]),
        node_features=features[rows],
        node_resp=node_resp,
        graph=NeighbourGraph(edges, folder["graph/same"], folder.facts["graph"]["kept_between"]),
        vectors=folder.facts.get("vectors"),
        id=folder.facts.get("id"),
    )


def _describe_encoder(encoder: TableEncoder) -> dict[str, Any]:
    return {
        "parameters": {"max_categories": encoder.max_categories},
        "features": [
            {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in asdict(each).items()}
            for each in encoder._features
        ],
        "dropped": encoder.dropped_columns_,
        "n_columns": encoder._n_columns,
        "is_named": encoder._is_named,
    }


def _restore_encoder(facts: dict[str, Any], embedder: Embedder) -> TableEncoder:
    features = tuple(map(_restore_features, facts["features"]))
    return TableEncoder(**facts["parameters"], embedder=embedder)._set_features(
        features, facts["dropped"], n_columns=facts["n_columns"], is_named=facts["is_named"]
    )


def _restore_features(facts: dict[str, Any]) -> Features:
    if facts["kind"] == "category":
        return CategoryFeatures(**facts | {"levels": tuple(facts["levels"]), "shares": np.array(facts["shares"])})
    if facts["kind"] == "vector":
        return VectorFeatures(**facts | {"center": np.array(facts["center"])})
    return NumberFeatures(**facts | {"limits": tuple(facts["limits"])})


def _to_bytes(table: TableLike) -> Array:
    """Return a table in the streaming format of Arrow, which needs no pickle and is mapped without a copy."""
    arrow = import_pyarrow("Saved tables")
    try:
        columns = table if hasattr(table, "__arrow_c_stream__") else _list_columns(table)
        converted = arrow.table(columns)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise SearchError(
            "The table cannot be saved: {reason}. Leave out the columns whose values are of several kinds.",
            code="table_not_saved",
            reason=str(error).partition("\n")[0].rstrip("."),
        ) from error
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, converted.schema) as writer:
        writer.write_table(converted)
    return np.frombuffer(sink.getvalue(), dtype=np.uint8)


def _list_columns(table: TableLike) -> dict[str, Any]:
    opened = open_table(table)
    return {name: opened.get_raw(j) for j, name in enumerate(opened.names)}


def _from_bytes(data: Array) -> TableLike:
    arrow = import_pyarrow("Saved tables")
    try:
        return arrow.ipc.open_stream(arrow.py_buffer(data)).read_all()
    except (arrow.ArrowException, OSError) as error:
        raise DamagedFolderError("The saved table is damaged. Save the fit again.") from error
