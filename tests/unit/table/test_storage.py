import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.unit.table.planted import group_of_row, make_patients

from mixsearch import SearchError, TableSearch
from mixsearch.errors import DamagedFolderError, FolderExistsError, ForeignFolderError
from mixsearch.storage import write_folder
from mixsearch.table._storage import KIND, open_fit


@pytest.fixture(scope="module")
def search() -> TableSearch:
    return TableSearch(max_components=6).fit(make_patients(), id="patient")


def test_a_saved_search_answers_as_before(search, tmp_path):
    search.save(tmp_path / "patients.fit")
    loaded = TableSearch.load(tmp_path / "patients.fit")
    for name in ("columns_", "dropped_columns_", "n_components_", "covariance_"):
        assert getattr(loaded, name) == getattr(search, name)
    assert loaded.get_params() == search.get_params()
    assert loaded.table_.equals(search.table_)
    before, after = (each.search([0, 3], not_like=[1]) for each in (search, loaded))
    assert_allclose(after.membership, before.membership, rtol=1e-6)
    assert after.n_members == before.n_members
    assert [each.column for each in after.differences()] == [each.column for each in before.differences()]
    assert after.differences()[0].members == pytest.approx(before.differences()[0].members)
    assert_array_equal(after.predict(), before.predict())
    assert set(group_of_row()[after.predict()]) == {0}


def test_a_loaded_encoder_reads_new_rows(search, tmp_path):
    search.save(tmp_path / "patients.fit")
    loaded = TableSearch.load(tmp_path / "patients.fit")
    rows = make_patients().slice(20, 10)
    assert_allclose(loaded._fit.encoder.transform(rows), search._fit.take_features(np.arange(20, 30)))


def test_a_fit_of_the_first_format_is_read(search, tmp_path):
    """It had the posterior of every row."""
    search.save(tmp_path / "new.fit")
    new, fit = open_fit(tmp_path / "new.fit"), search._fit
    with write_folder(tmp_path / "old.fit", kind=KIND, version=1) as out:
        for name in new:
            if name not in ("mixture/component_sizes", "graph/resp"):
                out.save(name, np.array(new[name]))
        out.save("mixture/resp", fit.posterior(fit.take_features(np.arange(fit.n_rows))))
        out.facts.update(new.facts)
    old, expected = TableSearch.load(tmp_path / "old.fit").search([0, 3]), search.search([0, 3])
    assert_allclose(old.membership, expected.membership, rtol=1e-6)
    assert old.n_members == expected.n_members


@pytest.mark.parametrize("kind", ["array", "mapping", "pandas", "polars"])
def test_every_kind_of_table_can_be_saved(kind, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 20 * (np.arange(60) % 2)[:, None]
    columns = {"a": X[:, 0], "b": X[:, 1]}
    kinds = {"array": lambda: X, "mapping": lambda: columns}
    table = kinds[kind]() if kind in kinds else pytest.importorskip(kind).DataFrame(columns)
    TableSearch().fit(table).save(tmp_path / "some.fit")
    loaded = TableSearch.load(tmp_path / "some.fit")
    members = np.flatnonzero(loaded.search([0, 2]).predict())
    assert len(members) > 2
    assert not (members % 2).any()
    assert_allclose(loaded.table_.column(1).to_numpy(), X[:, 1])


def test_a_table_that_arrow_cannot_hold_is_not_saved(tmp_path):
    table = {"x": list(range(20)), "mixed": ["a", 1] * 10}
    with pytest.raises(SearchError, match="The table cannot be saved: .* of several kinds") as caught:
        TableSearch().fit(table, columns=["x"]).save(tmp_path / "some.fit")
    assert caught.value.code == "table_not_saved"
    assert not (tmp_path / "some.fit").exists()


def test_a_saved_search_is_replaced_only_if_that_is_asked_for(search, tmp_path):
    search.save(tmp_path / "patients.fit")
    with pytest.raises(FolderExistsError):
        search.save(tmp_path / "patients.fit")
    search.save(tmp_path / "patients.fit", overwrite=True)
    assert TableSearch.load(tmp_path / "patients.fit").columns_ == search.columns_


def test_a_folder_of_another_kind_is_no_saved_search(tmp_path):
    with write_folder(tmp_path / "other", kind="topic index", version=1) as out:
        out.save("table", np.zeros(3))
    with pytest.raises(ForeignFolderError, match="holds a topic index, not a fitted table"):
        TableSearch.load(tmp_path / "other")


def test_a_saved_table_that_was_changed_is_said_to_be_damaged(search, tmp_path):
    search.save(tmp_path / "patients.fit")
    file = next((tmp_path / "patients.fit").glob("data-*/table.npy"))
    with open(file, "r+b") as stream:
        stream.seek(384)
        stream.write(b"\x01" * 64)
    with pytest.raises(DamagedFolderError, match="is damaged"):
        TableSearch.load(tmp_path / "patients.fit")
