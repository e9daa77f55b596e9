import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from tests.apps.cli_corpus import invoke
from tests.unit.table.planted import WEIGHTS, group_of_row, make_patients

from mixsearch import TableSearch, find
from mixsearch.cli.members import print_members
from mixsearch.table import read_table, write_table


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "patients.csv"
    write_table(make_patients(), path)
    return path


def lines_of(output: str, name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in output.splitlines() if line.startswith(f"{name}  ")]


def test_the_members_and_what_sets_them_apart_are_printed(patients: Path) -> None:
    result = invoke("find", patients, "--examples", "0,3", "--examples", "6")
    assert result.exit_code == 0, result.output
    assert lines_of(result.stdout, "examples") == ["0, 3, 6"]
    n = int(re.match(r"about (\d+) of 150 rows", lines_of(result.stdout, "members")[0])[1])
    assert 35 <= n <= 65
    assert "of 3 examples come back among the first" in lines_of(result.stdout, "check")[0]
    columns = {line.partition("  ")[0]: line for line in lines_of(result.stdout, "column")}
    mean, stderr = map(float, re.match(r"weight \(kg\)  ([\d.]+) ± ([\d.]+)", columns["weight (kg)"]).groups())
    assert mean == pytest.approx(WEIGHTS[0], abs=6 * stderr)
    assert "(others north " in columns["ward"]
    assert columns["admitted"].startswith("admitted  2024-01-")
    rows = [int(line.split()[0]) for line in lines_of(result.stdout, "row")]
    assert len(rows) == 10
    assert not group_of_row()[rows].any()
    assert "country: constant" in lines_of(result.stdout, "left out")


def test_json_has_the_names_of_python(patients: Path, tmp_path: Path) -> None:
    output, plot = tmp_path / "out.csv", tmp_path / "members.png"
    options = ("--examples", "0,3", "--not-examples", "1", "-o", output, "--plot", plot, "--json")
    printed = json.loads(invoke("find", patients, *options).stdout)
    found = find(read_table(patients), examples=[0, 3], not_examples=[1])
    assert printed.keys() == found.as_dict().keys() | {"audit", "table", "warnings", "written"}
    assert printed["n_members"] == found.n_members
    assert printed["written"] == [str(output), str(plot)]
    assert plot.read_bytes().startswith(b"\x89PNG")
    labelled = read_table(output)
    assert labelled.columns == [*make_patients().column_names, "score", "membership", "is_member"]
    assert labelled["is_member"].to_list() == found.predict().tolist()
    help_text = " ".join(invoke("find", "--help", COLUMNS="200").stdout.split())
    assert all(key in help_text for key in printed)


def test_options_are_passed_on(tmp_path: Path) -> None:
    names, vectors = [f"Doe, {row}" for row in range(150)], np.eye(3)[group_of_row()].tolist()
    table = make_patients().append_column("name", [names]).append_column("embedding", [vectors])
    write_table(table, tmp_path / "named.parquet")

    def ask(*options: str) -> dict:
        result = invoke("find", tmp_path / "named.parquet", *options, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    by_name = ask("--id", "name", "--examples", '"Doe, 2","Doe, 5"', "--without", "ward,admitted", "--without", "age")
    assert [each["row"] for each in by_name["examples"]] == [2, 5]
    assert by_name["dropped_columns"]["name"] == "it names the rows"
    assert not {"ward", "admitted", "age"} & set(by_name["columns"])
    chosen = ask("--examples", "0", "--columns", "age,ward")
    assert chosen["columns"] == ["age", "ward"]
    by_vector = ask("--examples", "0,3", "--columns", "embedding")
    assert by_vector["columns"] == ["embedding"]
    assert {each["row"] % 3 for each in by_vector["typical_rows"]} == {0}


@pytest.mark.parametrize(
    ("arguments", "code", "fields"),
    [
        (("--examples", "150"), "row_out_of_range", {"argument": "examples", "row": 150, "n_rows": 150}),
        (("--examples", ","), "no_rows_named", {"argument": "examples"}),
        (("--examples", "0", "--without", "wards"), "unknown_column", {"suggestion": "ward"}),
        (("--examples", "0", "-o", "out.docx"), "unknown_format", {"file": "out.docx"}),
    ],
)
def test_an_error_has_a_code_and_fields(
    patients: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: str,
    fields: dict[str, object],
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("find", patients, *arguments, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "named"), [(("--examples", "P-3"), "'P-3'"), (("--examples", "-1"), "-1"), ((), "--examples")]
)
def test_a_wrong_command_ends_with_code_2(patients: Path, arguments: tuple[str, ...], named: str) -> None:
    result = invoke("find", patients, *arguments, COLUMNS="300")
    assert result.exit_code == 2
    assert named in result.stderr


@pytest.mark.parametrize("width", [60, 140])
def test_a_terminal_shows_as_many_columns_as_fit(width: int) -> None:
    table = make_patients().append_column("membership", [pa.array(["[b]old[/b]"] * 150)])
    answer = TableSearch().fit(table, id="patient").search([0, 3])
    console = Console(force_terminal=True, width=width, color_system=None, file=io.StringIO(), highlight=False)
    print_members(console, answer, 0.01)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "Rows like P-0, P-3" in text
    assert all(len(line) == width for line in text.splitlines())
    name = f"P-{answer.typical_rows(1)[0]}"
    row = next(line for line in text.splitlines() if f"│ {name} " in line)
    assert ("[b]old[/b]" in row) == (width == 140)


def test_rows_of_a_wide_table_show_what_sets_the_members_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    X[:50, 24:30] += 20
    write_table(pa.table({f"gene{j}": X[:, j] for j in range(30)}), tmp_path / "genes.csv")
    rows = lines_of(invoke("find", tmp_path / "genes.csv", "--examples", "0,1,2").stdout, "row")
    assert all("gene27=" in row for row in rows)


def test_an_output_never_replaces_the_table(patients: Path) -> None:
    before = patients.read_bytes()
    refused = invoke("find", patients, "--examples", "0,1", "--output", patients, "--json")
    assert json.loads(refused.stdout)["error"]["code"] == "output_is_input"
    assert patients.read_bytes() == before
