"""AnnData in memory and .h5ad files: genes are words, cells are documents, their annotations are columns."""

import sys
from types import SimpleNamespace

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mixsearch.errors import ArgumentError, SearchError
from mixsearch.index import IndexOptions, build_index, open_index
from mixsearch.text import CorpusOptions, read_corpus

GENES = [f"{kind}{i}" for kind in ("CD", "MS", "NK") for i in range(10)]
TYPES = ("T cell", "B cell", "natural killer")


def simulate(n=240, seed=0):
    """Cells of three types, each with ten genes of its own."""
    rng = np.random.default_rng(seed)
    rates = np.full((3, 30), 0.15)
    for kind in range(3):
        rates[kind, 10 * kind : 10 * kind + 10] = 4
    labels = np.arange(n) % 3
    return rng.poisson(rates[labels]).astype(np.float32), labels


COUNTS, LABELS = simulate()
LOGS = np.log1p(COUNTS / COUNTS.sum(axis=1, keepdims=True) * 1e4)
CELLS = [f"cell {i}" for i in range(len(COUNTS))]
OBS = pd.DataFrame(
    {
        "cell_type": pd.Categorical([TYPES[label] for label in LABELS]),
        "donor": [None if i == 3 else f"donor {i % 2}" for i in range(len(COUNTS))],
        "n_genes": (COUNTS > 0).sum(axis=1),
        "is_doublet": LABELS == 9,
    },
    index=CELLS,
)


def store(group, name, value, kind, **attributes):
    """Write an element as AnnData does: arrays as data sets, others as groups, with their encoding."""
    made = group.create_dataset(name, data=value) if value is not None else group.create_group(name)
    made.attrs.update({"encoding-type": kind, "encoding-version": "0.2.0", **attributes})
    return made


def store_matrix(group, name, counts, kind):
    if kind == "dense":
        store(group, name, counts, "array")
        return
    matrix = sp.csr_array(counts) if kind == "csr" else sp.csc_array(counts)
    made = store(group, name, None, f"{kind}_matrix", shape=np.array(matrix.shape))
    for part in ("data", "indices", "indptr"):
        made.create_dataset(part, data=getattr(matrix, part))


def store_index(group, name, values, columns=()):
    frame = store(group, name, None, "dataframe", **{"_index": "_index"})
    frame.attrs.create("column-order", list(columns), dtype=h5py.string_dtype())
    store(frame, "_index", values, "string-array")
    return frame


def write_h5ad(path, X=COUNTS, kind="csr", layer=None, raw=None, genes=GENES):
    with h5py.File(path, "w") as file:
        file.attrs["encoding-type"] = "anndata"
        store_matrix(file, "X", X, kind)
        obs = store_index(file, "obs", CELLS, OBS.columns)
        kinds = store(obs, "cell_type", None, "categorical", ordered=False)
        store(kinds, "codes", LABELS.astype(np.int8), "array")
        store(kinds, "categories", list(TYPES), "string-array")
        donors = store(obs, "donor", None, "categorical", ordered=False)
        store(donors, "codes", np.where(np.arange(len(COUNTS)) == 3, -1, np.arange(len(COUNTS)) % 2), "array")
        store(donors, "categories", ["donor 0", "donor 1"], "string-array")
        store(obs, "n_genes", OBS["n_genes"].to_numpy(), "array")
        doublets = store(obs, "is_doublet", None, "nullable-boolean")
        store(doublets, "values", OBS["is_doublet"].to_numpy(), "array")
        store(doublets, "mask", np.arange(len(COUNTS)) == 7, "array")
        store_index(file, "var", genes)
        layers = store(file, "layers", None, "dict")
        if layer is not None:
            store_matrix(layers, "counts", layer, kind)
        if raw is not None:
            group = store(file, "raw", None, "raw")
            store_matrix(group, "X", raw, kind)
            store_index(group, "var", genes)
    return path


def make_anndata(X=COUNTS, layer=None, raw=None):
    layers = {} if layer is None else {"counts": layer}
    genes = pd.Index(GENES)
    kept = None if raw is None else SimpleNamespace(X=raw, var_names=genes)
    return SimpleNamespace(X=X, obs=OBS, obs_names=OBS.index, var_names=genes, layers=layers, raw=kept)


def read(source, **options):
    with read_corpus(source, CorpusOptions(**options)) as corpus:
        chunks = list(corpus.chunks())
        names = [name for chunk in chunks for name in chunk.names]
        columns = {} if chunks[0].columns is None else {
            name: [value for chunk in chunks for value in chunk.columns.column(name).to_pylist()]
            for name in chunks[0].columns.schema.names
        }  # fmt: skip
        return corpus, corpus.to_counts().toarray(), names, columns


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
@pytest.mark.parametrize("rows", [7, 4096])
def test_counts_names_and_columns_are_those_of_the_file(tmp_path, monkeypatch, kind, rows):
    monkeypatch.setattr("mixsearch.text.count.annotated._ROWS_PER_CHUNK", rows)
    corpus, counts, names, columns = read(write_h5ad(tmp_path / "cells.h5ad", kind=kind))
    assert corpus.vocabulary == GENES
    assert (counts == COUNTS).all()
    assert names == CELLS
    assert columns["cell_type"] == [TYPES[label] for label in LABELS]
    assert columns["donor"][2:5] == ["donor 0", None, "donor 0"]
    assert columns["n_genes"] == OBS["n_genes"].tolist()
    assert columns["is_doublet"][6:9] == [False, None, False]
    assert corpus.notes == ()


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_an_object_in_memory_is_read_as_its_file(tmp_path, kind):
    _, counts, names, columns = read(make_anndata(kind(COUNTS)))
    assert (counts == COUNTS).all()
    assert names == CELLS
    expected = read(write_h5ad(tmp_path / "cells.h5ad"))[3]
    assert {**columns, "is_doublet": None} == {**expected, "is_doublet": None}


@pytest.mark.parametrize(("where", "place"), [("layer", "layers['counts']"), ("raw", "raw.X")])
def test_normalized_values_are_left_for_the_counts(tmp_path, where, place):
    for source in (write_h5ad(tmp_path / "cells.h5ad", LOGS, **{where: COUNTS}), make_anndata(LOGS, **{where: COUNTS})):
        corpus, counts, *_ = read(source)
        assert (counts == COUNTS).all()
        [note] = corpus.notes
        assert note.code == "counts_elsewhere"
        assert note.fields["place"] == place


def test_without_counts_there_is_one_sentence(tmp_path):
    for source in (write_h5ad(tmp_path / "cells.h5ad", LOGS), make_anndata(LOGS)):
        with pytest.raises(
            SearchError, match=r"no counts in X, but non-negative integers.*layers\['counts'\]"
        ) as caught:
            read(source)
        assert caught.value.code == "not_counts"


def test_a_value_that_is_no_count_is_found_wherever_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("mixsearch.text.count.annotated._N_FIRST_ROWS", 5)
    late = COUNTS.copy()
    late[-1, -1] = 0.5
    with pytest.raises(SearchError, match="has values that are not counts"):
        read(write_h5ad(tmp_path / "late.h5ad", late))


def test_columns_and_names_can_be_chosen(tmp_path):
    path = write_h5ad(tmp_path / "cells.h5ad")
    assert list(read(path, keep=["donor"])[3]) == ["donor"]
    assert read(path, keep=None)[3] == {}
    assert read(path, id="cell_type")[2][:3] == list(TYPES)
    with pytest.raises(SearchError, match="No column 'donors'"):
        read(path, keep=["donors"])
    with pytest.raises(ArgumentError, match="text needs texts"):
        read(path, text="donor")


def test_files_that_are_no_anndata_are_named(tmp_path):
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["x"] = [1, 2]
    (tmp_path / "cut.h5ad").write_bytes(write_h5ad(tmp_path / "cells.h5ad").read_bytes()[:4000])
    for name in ("other.h5ad", "cut.h5ad"):
        with pytest.raises(SearchError, match=f"Cannot read.*{name}.*AnnData") as caught:
            read(tmp_path / name)
        assert caught.value.code == "unreadable_file"


def test_repeated_genes_get_names_of_their_own(tmp_path):
    genes = ["CD3", "CD3", *GENES[2:]]
    assert read(write_h5ad(tmp_path / "cells.h5ad", genes=genes))[0].vocabulary[:2] == ["CD3", "CD3 (2)"]


def test_without_h5py_the_extra_is_named(tmp_path, monkeypatch):
    path = write_h5ad(tmp_path / "cells.h5ad")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(SearchError, match=r"pip install 'mixsearch\[anndata\]'"):
        read(path)


def test_a_marker_gene_finds_the_cells_of_its_type(tmp_path):
    build_index(write_h5ad(tmp_path / "cells.h5ad"), tmp_path / "cells.index", IndexOptions(n_components=3))
    index = open_index(tmp_path / "cells.index")
    found = index.documents([row for row, _ in index.search("MS4").documents(40)])
    assert {document.columns["cell_type"] for document in found} == {"B cell"}
