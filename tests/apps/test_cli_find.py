import csv
import io
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from tests.apps.cli_corpus import invoke
from tests.unit.table.planted import WEIGHTS, group_of_row, make_patients

from mixsearch import TableSearch, find
from mixsearch.cli._members import print_members
from mixsearch.errors import DoubtfulExamplesWarning
from mixsearch.table import describe_members, read_table, write_table


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "patients.csv"
    write_table(make_patients(), path)
    return path


def lines_of(output: str, name: str) -> list[str]:
    return [line.removeprefix(name).strip() for line in output.splitlines() if line.startswith(f"{name}  ")]


def test_the_members_and_what_sets_them_apart_are_printed(patients: Path) -> None:
    result = invoke("find", patients, "--like", "0,3", "--like", "6", "--n-rows", "4")
    assert result.exit_code == 0, result.output
    assert lines_of(result.stdout, "like") == ["0, 3, 6"]
    n, low, high = map(
        int, re.match(r"(\d+) \((\d+) to (\d+)\) of 150 rows", lines_of(result.stdout, "members")[0]).groups()
    )
    assert low <= 50 <= high
    assert low <= n <= high
    assert lines_of(result.stdout, "confidence")[0].partition(": ")[2] in ("clear", "likely")
    columns = {line.partition("  ")[0]: line for line in lines_of(result.stdout, "column")}
    mean, stderr = map(float, re.match(r"weight \(kg\)  ([\d.]+) ± ([\d.]+)", columns["weight (kg)"]).groups())
    assert mean == pytest.approx(WEIGHTS[0], abs=6 * stderr)
    assert "north" in columns["ward"]
    assert "(all rows north 33%" in columns["ward"]
    assert "2024-01-" in columns["admitted"]
    assert "days" in columns["admitted"]
    rows = [int(line.split()[0]) for line in lines_of(result.stdout, "row")]
    assert len(rows) == 4
    assert not group_of_row()[rows].any()
    assert len(lines_of(result.stdout, "next")) == 4
    assert "country: constant" in lines_of(result.stdout, "left out")


def test_ids_name_rows(patients: Path) -> None:
    result = invoke("find", patients, "--id", "patient", "--like", "P-1, P-4", "--not-like", "P-0", "--n-rows", "3")
    assert result.exit_code == 0, result.output
    assert lines_of(result.stdout, "not like") == ["P-0"]
    typical = [line.split()[0] for line in lines_of(result.stdout, "row")]
    assert {int(each.removeprefix("P-")) % 3 for each in typical} == {1}
    assert "patient: it names the rows" in lines_of(result.stdout, "left out")


def test_an_id_with_a_comma_is_quoted(tmp_path: Path) -> None:
    names = [f"Doe, {row}" for row in range(150)]
    write_table(make_patients().append_column("name", [names]), tmp_path / "named.csv")
    printed = json.loads(
        invoke("find", tmp_path / "named.csv", "--id", "name", "--like", '"Doe, 2","Doe, 5"', "--json").stdout
    )
    assert [each["row"] for each in printed["like"]] == [2, 5]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_the_table_is_written_with_its_members(patients: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"labelled.{suffix}"
    result = invoke("find", patients, "--like", "0,3,6", "-o", output)
    assert result.exit_code == 0, result.output
    assert f"Written: {output}" in result.stderr
    labelled, expected = read_table(output), find(read_table(patients), like=[0, 3, 6])
    assert labelled.column_names == [*make_patients().column_names, "membership", "is_member"]
    assert labelled["is_member"].to_pylist() == expected.predict().tolist()
    np.testing.assert_allclose(labelled["membership"].to_pylist(), expected.membership, atol=1e-6)


def test_a_table_that_has_its_members_gets_new_ones(patients: Path, tmp_path: Path) -> None:
    output = tmp_path / "labelled.csv"
    invoke("find", patients, "--like", "0,3,6", "-o", output)
    columns = "weight (kg),age"
    result = invoke("find", output, "--like", "1,4,7", "--columns", columns, "-o", output, "--n-rows", "1")
    assert result.exit_code == 0, result.output
    header = next(csv.reader(io.StringIO(output.read_text())))
    assert header.count("membership") == header.count("is_member") == 1
    members = np.flatnonzero(read_table(output)["is_member"].to_pylist())
    assert set(group_of_row()[members]) == {1}


def test_json_has_the_names_of_python(patients: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    printed = json.loads(invoke("find", patients, "--like", "0,3", "--not-like", "1", "-o", output, "--json").stdout)
    answer = describe_members(TableSearch().fit(make_patients()).search([0, 3], not_like=[1]))
    assert printed.keys() == answer.as_dict().keys() | {"table", "warnings", "written"}
    assert printed["n_members"]["n"] == answer.n_members.n
    assert printed["written"] == [str(output)]
    assert (printed["table"], printed["n_table_rows"], printed["id"]) == (str(patients), 150, None)
    assert [each["row"] for each in printed["like"]] == [0, 3]
    help_text = " ".join(invoke("find", "--help", COLUMNS="200").stdout.split())
    assert all(key in help_text for key in printed)


def test_only_the_named_columns_count(patients: Path) -> None:
    printed = json.loads(invoke("find", patients, "--like", "0", "--columns", "age,ward", "--json").stdout)
    assert printed["columns"] == ["age", "ward"]
    assert {each["column"] for each in printed["differences"]} == {"age", "ward"}


def test_numbers_with_a_few_other_values_are_numbers(patients: Path, tmp_path: Path) -> None:
    rows = list(csv.reader(io.StringIO(patients.read_text(encoding="utf-8"))))
    weight = rows[0].index("weight (kg)")
    for row, text in ((5, "n/a"), (40, "unknown"), (90, "$12.50")):
        rows[row][weight] = text
    mixed, saved = tmp_path / "mixed.csv", tmp_path / "mixed.fit"
    with mixed.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    outputs = ("-o", tmp_path / "out.csv", "--plot", tmp_path / "out.png", "--save", saved)
    result = invoke("find", mixed, "--like", "0,3,6", "--json", *outputs)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert "weight (kg)" in answer["columns"]
    (note,) = answer["warnings"]
    assert note["code"] == "text_among_numbers"
    assert note["fields"]["values"] == ["$12.50", "unknown"]
    weights = next(each for each in answer["differences"] if each["column"] == "weight (kg)")
    assert weights["members"] == pytest.approx(WEIGHTS[0], abs=6 * weights["stderr"])
    assert "$12.50" in (tmp_path / "out.csv").read_text(encoding="utf-8")  # the table is not changed
    again = invoke("find", saved, "--like", "0,3,6", "--json")
    assert json.loads(again.stdout)["differences"] == answer["differences"]
    new_rows = read_table(mixed).take([0, 3, 6])
    assert TableSearch.load(saved).search(new_rows).n_members.n > 3


def test_columns_are_left_out(patients: Path) -> None:
    result = invoke("find", patients, "--like", "0,3,6", "--without", "ward,admitted", "--without", "patient", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["columns"] == ["weight (kg)", "age"]


def test_all_rows_have_nothing_that_sets_them_apart(patients: Path) -> None:
    answer = describe_members(find(make_patients(), like=range(0, 150, 3)))
    assert any(each.effect for each in answer.differences)
    same = replace(answer, differences=[each._replace(effect=0.0) for each in answer.differences])
    for width in (None, 100):
        console = Console(file=io.StringIO(), width=width or 80, force_terminal=width is not None)
        print_members(console, same, 0.1)
        printed = console.file.getvalue()
        assert "none sets the members apart from all rows" in printed
        assert "█" not in printed
        assert "0.00 sd" not in printed


def test_a_saved_fit_answers_without_the_file(patients: Path, tmp_path: Path) -> None:
    saved = tmp_path / "patients.fit"
    first = invoke("find", patients, "--like", "0,3", "--save", saved, "--json")
    assert first.exit_code == 0, first.output
    printed = json.loads(invoke("find", saved, "--like", "P-1,P-4", "--id", "patient", "--json").stdout)
    assert [each["row"] for each in printed["like"]] == [1, 4]
    assert {each["row"] % 3 for each in printed["typical_rows"]} == {1}
    again = invoke("find", patients, "--like", "0,3", "--save", saved)
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr
    assert invoke("find", patients, "--like", "0,3", "--save", saved, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--like", "150"), 1, "--like names row 150, but the table has 150 rows, from 0 to 149."),
        (("--like", "0", "--not-like", "999"), 1, "--not-like names row 999"),
        (("--like", "0,3", "--not-like", "3"), 1, "Rows cannot be given both as members and as non-members: 3."),
        (("--like", ","), 1, "--like names no row."),
        (("--like", "P-3"), 2, "'P-3' is not the number of a row. If it is an id, name its column with --id."),
        (("--like", "P-3,X-1", "--id", "patient"), 1, "1 of 2 ids is in none of the 150 rows: X-1."),
        (("--like", "0", "--id", "nobody"), 1, "The table has no column 'nobody'."),
        (("--like", "0", "--columns", "age,height"), 1, "The table has no column 'height'."),
        (("--like", "0", "--without", "wards"), 1, "The table has no column 'wards'."),
        (("--like", "0", "--without", "wards"), 1, "Did you mean 'ward'?"),
        (("--like", "-1"), 2, "Numbers of rows start at 0, got -1."),
        (("--like", "0", "--not-like", "3,-2"), 2, "Numbers of rows start at 0, got -2."),
        (("--like", "0", "--columns", "country"), 1, "The table has no column that can be used"),
        (("--like", "0", "-o", "out.docx"), 1, "Cannot write a table to 'out.docx'"),
        ((), 2, "--like"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    patients: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("find", patients, *arguments, COLUMNS="300")
    assert result.exit_code == code
    assert sentence in result.stderr
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_an_error_is_json_too(patients: Path) -> None:
    result = invoke("find", patients, "--like", "150", "--json")
    assert json.loads(result.stdout)["error"]["code"] == "row_out_of_range"


def test_a_file_or_a_fit_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "No file" in invoke("find", tmp_path / "no.csv", "--like", "0").stderr
    assert "no.fit" in invoke("find", tmp_path / "no.fit", "--like", "0").stderr
    (tmp_path / "empty").mkdir()
    result = invoke("find", tmp_path / "empty", "--like", "0", COLUMNS="300")
    assert result.exit_code == 1
    assert "empty" in result.stderr


def test_a_saved_fit_has_its_columns(tmp_path: Path) -> None:
    result = invoke("find", tmp_path / "some.fit", "--like", "0", "--columns", "age", COLUMNS="300")
    assert result.exit_code == 2
    assert "leave out --columns" in result.stderr


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_terminal_shows_as_many_columns_as_fit(width: int) -> None:
    table = make_patients().append_column("membership", [pa.array(["[b]old[/b]"] * 150)])
    answer = describe_members(TableSearch().fit(table).search([0, 3]), n_rows=2, id="patient")
    console = Console(force_terminal=True, width=width, color_system=None, file=io.StringIO(), highlight=False)
    print_members(console, answer, 0.01)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "Rows like P-0, P-3" in text
    assert all(len(line) == width for line in text.splitlines())
    rows = [line for line in text.splitlines() if f"│ {answer.typical_rows[0].id} " in line]
    assert rows  # among the typical rows, and perhaps among those to look at next
    assert ("[b]old[/b]" in rows[0]) == (width == 140)


def test_rows_of_a_wide_table_show_what_sets_the_members_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    X[:50, 27] += 20
    write_table(pa.table({f"gene{j}": X[:, j] for j in range(30)}), tmp_path / "genes.csv")
    rows = lines_of(invoke("find", tmp_path / "genes.csv", "--like", "0,1,2").stdout, "row")
    assert all("gene27=" in row for row in rows)


def test_a_figure_is_drawn(patients: Path, tmp_path: Path) -> None:
    result = invoke("find", patients, "--like", "0,3", "--plot", tmp_path / "members.png", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["written"] == [str(tmp_path / "members.png")]
    assert (tmp_path / "members.png").read_bytes().startswith(b"\x89PNG")


def test_vectors_are_searched_but_not_printed(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(90, 6)) + 20 * np.eye(3, 6)[np.arange(90) % 3]
    write_table(
        pa.table({"name": [f"n{row}" for row in range(90)], "embedding": vectors.tolist()}), tmp_path / "e.parquet"
    )
    for arguments in ((), ("--json",)):
        result = invoke(
            "find",
            tmp_path / "e.parquet",
            "--like",
            "0,3",
            "--n-rows",
            "2",
            "--save",
            tmp_path / "e.fit",
            "--overwrite",
            *arguments,
        )
        assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["columns"] == ["embedding"]
    assert printed["typical_rows"][0]["values"]["embedding"] == pytest.approx(
        vectors[printed["typical_rows"][0]["row"]]
    )
    printed = invoke("find", tmp_path / "e.fit", "--like", "0,3", "--n-rows", "2").stdout
    assert "name=n" in printed
    assert "embedding" not in printed


def test_a_doubt_is_noted_beside_the_answer(patients: Path) -> None:
    with pytest.warns(DoubtfulExamplesWarning) as warned:
        find(read_table(patients), like=[0, 3, 6, 9, 12, 15, 1])
    result = invoke("find", patients, "--like", "0,3,6,9,12,15,1", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["warnings"][0]["message"] == str(warned[0].message)
    assert "Note: " in result.stderr


class NumberModel:
    """A stand-in for an embedding model: the vector of a text is the number in it."""

    @classmethod
    def from_pretrained(cls, name):
        return cls()

    def encode(self, texts):
        return np.array([np.eye(3)[int(re.search(r"\d", text)[0])] for text in texts])


@pytest.fixture
def model2vec(monkeypatch):
    module = ModuleType("model2vec")
    module.StaticModel = NumberModel
    monkeypatch.setitem(sys.modules, "model2vec", module)


def test_texts_describe_members(tmp_path: Path, model2vec) -> None:
    groups = group_of_row()
    vectors = np.eye(3)[groups] + 0.05 * np.random.default_rng(0).normal(size=(len(groups), 3))
    notes = [f"note {group} of row {chr(97 + row % 26)}" for row, group in enumerate(groups)]
    table, kept = tmp_path / "notes.parquet", tmp_path / "notes.fit"
    write_table(pa.table({"note": notes, "embedding": list(vectors)}), table)
    model = ("--embedder", "model2vec:tiny")
    hint = ("--like-text", "about 1", "--not-like-text", "about 2", "--json")
    for which in (("--vectors", "embedding", "--save", kept), ("--vectors", "note")):
        result = invoke("find", table, *which, *hint, *model)
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        assert (answer["like_texts"], answer["not_like_texts"]) == (["about 1"], ["about 2"])
        assert set(groups[[row["row"] for row in answer["typical_rows"]]]) == {1}
        assert answer["columns"] == [which[1]]
    again = invoke("find", kept, "--like-text", "about 0", *model)
    assert again.exit_code == 0, again.output
    assert lines_of(again.stdout, "like") == ["'about 0'"]
    refused = invoke("find", table, "--vectors", "embedding", "--like-text", "about 0")
    assert refused.exit_code == 1
    assert "pass --embedder" in refused.stderr


def test_a_shape_and_a_number_of_components_are_passed_on(patients: Path) -> None:
    options = ("--covariance", "tied", "--max-components", "2", "--json")
    answer = json.loads(invoke("find", patients, "--like", "0,3", *options).stdout)
    assert answer["covariance"] == "tied"
    assert answer["n_components"] <= 2
    refused = invoke("find", patients, "--like", "0", "--covariance", "round")
    assert refused.exit_code == 1
    assert "--covariance must be" in refused.stderr


def test_rows_or_texts_are_needed(patients: Path) -> None:
    result = invoke("find", patients)
    assert result.exit_code == 2
    assert "--like-text" in result.stderr


@pytest.mark.parametrize("option", [("--vectors", "x"), ("--covariance", "tied"), ("--max-components", "3")])
def test_a_saved_fit_has_its_mixture(tmp_path: Path, option) -> None:
    result = invoke("find", tmp_path / "some.fit", "--like", "0", *option)
    assert result.exit_code == 2
    assert f"leave out {option[0]}" in " ".join(result.stderr.replace("│", " ").split())
