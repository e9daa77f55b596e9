import json
from pathlib import Path

import numpy as np
import pytest
from tests.apps.cli_corpus import invoke

from mixsearch.table import get_numbers, read_table, write_table

# Two lines, with coefficients of area and rooms, an intercept and noise.
LINES = np.array([[1.5, 35.0], [3.2, 20.0]])
INTERCEPTS = np.array([10.0, 50.0])
NOISE, N_ROWS, SHARE = 12.0, 600, 0.35


@pytest.fixture(scope="module")
def labels() -> np.ndarray:
    return (np.random.default_rng(1).random(N_ROWS) < SHARE).astype(int)


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory, labels: np.ndarray) -> Path:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.lognormal(4, 0.4, N_ROWS), rng.integers(1, 6, N_ROWS)])
    price = np.sum(X * LINES[labels], axis=1) + INTERCEPTS[labels] + NOISE * rng.standard_normal(N_ROWS)
    area = [None if row == 7 else float(each) for row, each in enumerate(X[:, 0])]
    path = tmp_path_factory.mktemp("tables") / "sales.csv"
    names = [f"F{row}" for row in range(N_ROWS)]
    table = {"flat": names, "city": ["Rome"] * N_ROWS, "area": area, "rooms": X[:, 1], "price": price}
    write_table(table, path)
    return path


def examples(labels: np.ndarray, line: int, prefix: str = "") -> str:
    rows = [row for row in np.flatnonzero(labels == line) if row != 7][:6]
    return ",".join(f"{prefix}{row}" for row in rows)


@pytest.mark.parametrize("n_components", ["auto", "2"])
@pytest.mark.parametrize("line", [0, 1])
def test_the_line_of_the_examples_is_found_in_the_units_of_the_table(sales, labels, line, n_components):
    result = invoke(
        *("regress", sales, "--y", "price", "--x", "area,rooms", "--like", examples(labels, line)),
        *("-k", n_components, "--json"),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    for name, truth in zip(("area", "rooms"), LINES[line], strict=True):
        found = printed["coefficients"][name]
        assert abs(found["value"] - truth) < 4 * found["stderr"] < 2 * abs(truth)
    assert abs(printed["intercept"]["value"] - INTERCEPTS[line]) < 4 * printed["intercept"]["stderr"]
    assert printed["noise"] == pytest.approx(NOISE, rel=0.2)
    assert printed["n_components"] == 2
    assert printed["n_members"]["low"] < np.sum(labels == line) < printed["n_members"]["high"]
    assert printed["confidence"] > 0.8
    assert printed["verdict"] == "clear"
    assert (printed["n_rows"], printed["n_left_out"], printed["warnings"]) == (N_ROWS - 1, 1, [])
    shown = {row["row"] for row in printed["typical_rows"]}
    assert len(shown) == 5
    assert all(labels[row] == line for row in shown)
    assert not shown & set(map(int, examples(labels, line).split(",")))
    assert all(0.2 <= row["membership"] <= 0.8 for row in printed["doubtful_rows"])


def test_members_are_written_and_drawn(sales, labels, tmp_path):
    out, figure = tmp_path / "members.csv", tmp_path / "lines.png"
    result = invoke(
        *("regress", sales, "--y", "price", "--x", "area", "--x", "rooms", "--id", "flat"),
        *("--like", examples(labels, 1, "F"), "-o", out, "--plot", figure),
    )
    assert result.exit_code == 0, result.output
    membership = get_numbers(read_table(out), ["membership"])[:, 0]
    assert np.flatnonzero(np.isnan(membership)).tolist() == [7]
    is_known = ~np.isnan(membership)
    assert np.mean((membership[is_known] > 0.5) == labels[is_known]) > 0.9
    assert read_table(out).column_names == ["flat", "city", "area", "rooms", "price", "membership"]
    assert figure.stat().st_size > 0
    assert "members.csv" in result.stderr
    assert "lines.png" in result.stderr
    lines = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert lines["like"].startswith("F")
    assert lines["coefficient"].startswith("rooms ")
    assert lines["left"] == "out    1 rows that lack a number in price, area, rooms"


def test_doubted_examples_are_named_by_their_rows(sales, labels):
    area = get_numbers(read_table(sales), ["area"])[:, 0]
    wrong = np.argsort(np.where(labels == 0, -area, np.inf))[:2]  # where the lines are far apart
    typed = [*examples(labels, 1).split(","), *map(str, wrong)]
    arguments = ("regress", sales, "--y", "price", "--x", "area,rooms", "--like", ",".join(typed))
    (doubt,) = json.loads(invoke(*arguments, "--json").stdout)["warnings"]
    assert doubt["code"].startswith("examples")
    named = ", ".join(typed[index] for index in doubt["fields"]["rows"])
    assert f"In the table: {named}." in invoke(*arguments).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--x", "area", "--like", "7,8"), 1, "--like names row 7, which lacks a number in area, price."),
        (("--x", "area", "--like", "8,900"), 1, "--like names row 900, but the table has 600 rows, from 0 to 599."),
        (("--x", "area", "--like", ","), 1, "--like names no row."),
        (("--x", "area,city", "--like", "1,2"), 1, "--x needs columns of numbers, but 'city' is not numeric."),
        (("--x", "area,price", "--like", "1,2"), 1, "Column 'price' cannot be both --y and --x."),
        (("--x", "size", "--like", "1,2"), 1, "The table has no column 'size'."),
        (("--x", "area", "--like", "F1"), 2, "name its column with --id"),
        (("--x", "area", "--like", "1", "-k", "many"), 2, "'many' is neither a positive integer nor 'auto'"),
        (("--x", ",", "--like", "1"), 2, "Name at least one column with --x"),
    ],
)
def test_errors_are_spelt_as_the_command_spells_them(sales, arguments, code, sentence):
    result = invoke("regress", sales, "--y", "price", *arguments)
    assert result.exit_code == code
    assert sentence in " ".join(result.stderr.replace("│", " ").split())


def test_an_error_is_json_too(sales):
    result = invoke("regress", sales, "--y", "price", "--x", "area", "--id", "flat", "--like", "F1,G2", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "unknown_rows"


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory, labels: np.ndarray) -> Path:
    """Write a table of two lines, one of them with larger areas."""
    rng = np.random.default_rng(2)
    area = 60 + 40 * labels + 8 * rng.standard_normal(N_ROWS)
    price = np.array([300.0, 500.0])[labels] + np.array([2.0, -1.0])[labels] * area + 15 * rng.standard_normal(N_ROWS)
    path = tmp_path_factory.mktemp("tables") / "groups.csv"
    write_table({"area": area, "price": price}, path)
    return path


def test_columns_that_differ_between_lines_are_named(groups, labels):
    arguments = ("regress", groups, "--y", "price", "--x", "area", "--like", examples(labels, 1), "-k", "2")
    answers = [json.loads(invoke(*arguments, *more, "--json").stdout) for more in ((), ("--no-joint",))]
    assert [answer["joint"] for answer in answers] == [True, False]
    assert answers[0]["coefficients"]["area"]["value"] == pytest.approx(-1, abs=0.5)
    assert "one of 2, between which area differs" in invoke(*arguments).stdout
    assert "differ" not in invoke(*arguments, "--no-joint").stdout


def test_doubts_name_no_attribute_of_python(sales, labels):
    rows = f"{examples(labels, 0)},{examples(labels, 1)}"
    result = invoke("regress", sales, "--y", "price", "--x", "area,rooms", "--like", rows, "-k", "2")
    assert result.exit_code == 0, result.output
    assert "Note:" in result.stderr
    assert "alternatives" not in result.stderr
    assert "`" not in result.stderr
