from pathlib import Path

import numpy as np
import pytest

from mixsearch import SearchError
from mixsearch.errors import DiskError
from mixsearch.experiments import Row, Rows, read_rows, write_rows


def row(**changed: object) -> Row:
    values = {
        "experiment": "e",
        "setting": {"moments": "paper's", "sigma": 0.4, "n": 6000},
        "seed": 1,
        "method": "whitening, ours",
        "metric": "error",
        "target": "5%",
        "value": 0.1 + 0.2,
        "note": 'a "b", c\nd',
        "version": "1.0",
        "quick": True,
    }
    return Row(**{**values, **changed})


def test_rows_come_back_from_a_file_as_they_were(tmp_path: Path) -> None:
    rows = [row(), row(value=1e-300, note="", quick=False, setting={"moments": "our", "sigma": 1.0, "n": 3})]
    write_rows(tmp_path / "rows.csv", rows)
    back = list(read_rows(tmp_path / "rows.csv"))
    assert back == rows
    assert type(back[0].setting["n"]) is int


def test_a_number_that_is_none_comes_back_as_that(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.csv", [row(value=float("nan"))])
    assert np.isnan(read_rows(tmp_path / "rows.csv").values).all()


def test_writing_leaves_no_other_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.csv", [row()])
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="Could not write .*missing"):
        write_rows(tmp_path / "missing" / "rows.csv", [row()])


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("experiment,color\na,b\n", encoding="utf-8")
    with pytest.raises(SearchError, match="has no column 'seed', so it isn't a file"):
        read_rows(other)


def test_rows_narrow_down_by_columns_of_the_setting_and_of_every_row() -> None:
    rows = Rows([row(seed=seed, setting={"n": n}, value=float(n + seed)) for n in (10, 20) for seed in (0, 1)])
    assert rows.levels("n") == [10, 20]
    assert rows.where(n=20).mean == 20.5
    assert rows.where(n=20, seed=1).values.tolist() == [21.0]
    assert rows.where(n=20).stderr == pytest.approx(0.5)
    assert np.isnan(rows.where(n=99).mean)
    assert np.isnan(rows.where(n=20, seed=1).stderr)
