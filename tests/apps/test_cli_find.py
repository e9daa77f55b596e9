import json
import re

import numpy as np
import pytest
from tests.apps.cli import invoke
from tests.unit.table.planted import WEIGHTS, group_of_row, make_patients

from mixsearch import find
from mixsearch.table import read_table, write_table


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "patients.csv"
    write_table(make_patients(), path)
    return path


def test_the_members_and_what_sets_them_apart_are_printed(patients):
    result = invoke("find", patients, "--examples", "0,3", "--examples", "6")
    assert result.exit_code == 0, result.output
    assert invoke("find", "-", "--examples", "0,3,6", input=patients.read_text()).stdout == result.stdout
    title, sentence, *lines = result.stdout.splitlines()
    assert title == "Rows like 0, 3, 6"
    assert 35 <= int(re.match(r"About (\d+) of 150 rows\.", sentence)[1]) <= 65
    assert "of 3 examples come back among the first" in sentence
    weight = next(line for line in lines if line.startswith("weight (kg)"))
    mean, stderr = map(float, re.search(r"([\d.]+) ± ([\d.]+)", weight).groups())
    assert mean == pytest.approx(WEIGHTS[0], abs=6 * stderr)
    rows = [int(line.split()[0]) for line in lines if re.match(r"\d+ ", line)]
    assert len(rows) == 10
    assert not group_of_row()[rows].any()
    assert "country (constant)" in lines[-1]


def test_json_has_the_names_of_python(patients, tmp_path):
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


def test_options_are_passed_on(tmp_path):
    names, vectors = [f"Doe, {row}" for row in range(150)], np.eye(3)[group_of_row()].tolist()
    table = make_patients().append_column("name", [names]).append_column("embedding", [vectors])
    write_table(table, tmp_path / "named.parquet")

    def ask(*options):
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
        (("--examples", "0", "--without", "wards"), "unknown_column", {"suggestion": "ward"}),
        (("--examples", "0", "-o", "out.docx"), "unknown_format", {"file": "out.docx"}),
    ],
)
def test_an_error_has_a_code_and_fields(patients, tmp_path, monkeypatch, arguments, code, fields):
    monkeypatch.chdir(tmp_path)
    result = invoke("find", patients, *arguments, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("width", [60, 140])
def test_a_terminal_shows_as_many_columns_as_fit(patients, width):
    options = ("--examples", "P-0,P-3", "--id", "patient")
    shown = invoke("find", patients, *options, FORCE_COLOR="1", COLUMNS=str(width)).stdout
    lines = re.sub(r"\x1b\[[\d;]*m", "", shown).splitlines()
    assert lines[0] == "Rows like P-0 (row 0), P-3 (row 3)"
    assert max(map(len, lines)) <= width
    header = next(line for line in lines if line.startswith("row "))
    assert (len(re.split(r"\s{2,}", header)) > 5) == (width == 140)


def test_an_output_never_replaces_the_table(patients):
    before = patients.read_bytes()
    refused = invoke("find", patients, "--examples", "0,1", "--output", patients, "--json")
    assert json.loads(refused.stdout)["error"]["code"] == "output_is_input"
    assert patients.read_bytes() == before
