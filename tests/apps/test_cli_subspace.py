import json
from pathlib import Path

import numpy as np
import pytest
from tests.apps.cli_corpus import invoke
from tests.unit.subspace.planted import draw_loops

from mixsearch.datasets import make_subspaces
from mixsearch.table import get_numbers, read_table, write_table

N_ROWS, N_COLUMNS, DIM = 600, 8, 2
DATA = make_subspaces(N_ROWS, N_COLUMNS, 3, dim=DIM, random_state=0)
COLUMNS = [f"c{j}" for j in range(N_COLUMNS)]


def write_tracks(path: Path, units: np.ndarray | float = 1.0) -> Path:
    X = DATA.X * units
    numbers = {name: X[:, j].tolist() for j, name in enumerate(COLUMNS)}
    numbers["c0"][7] = None
    names = [f"T{row}" for row in range(N_ROWS)]
    write_table({"track": names, "kind": ["walk"] * N_ROWS, **numbers}, path)
    return path


@pytest.fixture(scope="module")
def tracks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tracks(tmp_path_factory.mktemp("tables") / "tracks.csv")


def examples(component: int, prefix: str = "") -> str:
    rows = [row for row in np.flatnonzero(DATA.labels == component) if row != 7]
    lengths = np.linalg.norm(DATA.X[rows], axis=1)
    # Near zero, where all subspaces meet, a row may be of any.
    return ",".join(f"{prefix}{rows[index]}" for index in np.argsort(-lengths)[:5])


@pytest.mark.parametrize("options", [(), ("--dim", "2", "-k", "3")])
@pytest.mark.parametrize("component", range(3))
def test_the_subspace_of_the_examples_is_found(tracks, component, options):
    result = invoke("subspace", tracks, "--like", examples(component), "--json", *options)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["dim"], printed["n_components"], printed["scaled"], printed["centered"]) == (DIM, 3, False, False)
    basis = np.array([[axis["loadings"][name] for name in COLUMNS] for axis in printed["basis"]]).T
    truth = DATA.bases[component]
    assert np.linalg.norm(basis @ basis.T - truth @ truth.T, 2) < 0.2
    assert printed["n_members"]["low"] < np.sum(DATA.labels == component) < printed["n_members"]["high"]
    assert printed["verdict"] == "clear"
    assert (printed["n_rows"], printed["n_left_out"], printed["warnings"]) == (N_ROWS - 1, 1, [])
    assert (printed["columns"], printed["left_out_columns"]) == (COLUMNS, ["track", "kind"])
    assert all(DATA.labels[row["row"]] == component for row in printed["typical_rows"])


def test_members_are_written(tracks, tmp_path):
    out = tmp_path / "members.parquet"
    result = invoke("subspace", tracks, "--id", "track", "--like", examples(1, "T"), "-o", out)
    assert result.exit_code == 0, result.output
    membership = get_numbers(read_table(out), ["membership"])[:, 0]
    assert np.flatnonzero(np.isnan(membership)).tolist() == [7]
    is_known = ~np.isnan(membership)
    assert np.mean((membership[is_known] > 0.5) == (DATA.labels[is_known] == 1)) > 0.9
    lines = result.stdout.splitlines()
    assert lines[0].split()[1].startswith("T")
    assert lines[1].split() == ["dimension", "2", "of", "8", "columns"]
    assert lines[2].split() == ["through", "zero"]
    assert sum(line.startswith("direction") for line in lines) == DIM
    assert lines[-2:] == ["left out    1 row that lacks a number", "left out    columns without numbers: kind"]


def test_columns_of_different_units_are_scaled(tmp_path):
    units = np.array([1000.0, 1, 1, 1, 0.01, 1, 1, 1])
    path = write_tracks(tmp_path / "units.csv", units)
    arguments = ("subspace", path, "--like", examples(0), "-o", tmp_path / "out.csv", "--json")
    printed = json.loads(invoke(*arguments).stdout)
    assert printed["scaled"]
    membership = get_numbers(read_table(tmp_path / "out.csv"), ["membership"])[:, 0]
    is_known = ~np.isnan(membership)
    assert np.mean((membership[is_known] > 0.5) == (DATA.labels[is_known] == 0)) > 0.85
    assert not json.loads(invoke(*arguments, "--no-scale").stdout)["scaled"]


def test_rows_off_the_origin_are_taken_relative_to_their_mean(tmp_path):
    path = tmp_path / "shifted.csv"
    write_table({name: DATA.X[:, j] + 5 for j, name in enumerate(COLUMNS)}, path)
    printed = json.loads(invoke("subspace", path, "--like", examples(0), "--json").stdout)
    assert printed["centered"]
    assert (printed["dim"], printed["verdict"], printed["warnings"]) == (DIM, "clear", [])


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--like", "7"), 1, "--like names row 7, which lacks a number in c0"),
        (("--like", "-700"), 2, "Numbers of rows start at 0, got -700."),
        (
            ("--like", "1,2", "--columns", "c1,kind"),
            1,
            "--columns needs columns of numbers, but 'kind' is not numeric.",
        ),
        (("--like", "1,2", "--dim", "9"), 1, "subspaces of dimension 9 and noise need at least 10 features"),
        (("--like", "1,2", "-k", "8"), 1, "8 subspaces of dimension 1 and noise need at least 9 features"),
        (("--like", "one"), 2, "'one' is not the number of a row."),
    ],
)
def test_errors_are_spelt_as_the_command_spells_them(tracks, arguments, code, sentence):
    result = invoke("subspace", tracks, *arguments)
    assert result.exit_code == code
    assert sentence in " ".join(result.stderr.replace("│", " ").split())


def test_a_table_without_numbers_has_no_subspaces(tmp_path):
    write_table({"kind": ["walk", "run"]}, tmp_path / "kinds.csv")
    result = invoke("subspace", tmp_path / "kinds.csv", "--like", "0", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "no_columns"


def test_rows_that_express_each_other_carry_the_answer_where_no_subspace_suits(tmp_path):
    X, labels = draw_loops()
    write_table({f"c{j}": X[:, j] for j in range(X.shape[1])}, tmp_path / "loops.csv")
    arguments = ("subspace", tmp_path / "loops.csv", "--like", "70,85,100", "-k", "6", "--dim", "1")
    printed = json.loads(invoke(*arguments, "--json").stdout)
    assert printed["carried_by"] == "self-expression"
    assert (printed["weight"]["stderr"], printed["n_members"]["low"], printed["n_members"]["high"]) == (
        None,
        None,
        None,
    )
    assert all(labels[row["row"]] == 1 for row in printed["typical_rows"])
    lines = invoke(*arguments).stdout.splitlines()
    assert "carried by  rows that express each other" in lines
