import csv
import json

import numpy as np
import polars as pl
import pytest
from tests.apps.cli import invoke
from tests.dated_corpus import make_index

N, N_MEMBERS = 300, 60


@pytest.fixture
def table(tmp_path):
    """A clear group of 60 rows, p0 to p59, among 300."""
    X = np.random.default_rng(0).normal(size=(N, 4))
    X[:N_MEMBERS] += 6
    columns = {"id": [f"p{row}" for row in range(N)], "shop": ["Rome", "Oslo"] * (N // 2)}
    path = tmp_path / "table.csv"
    pl.DataFrame({**columns, **{f"x{j}": X[:, j] for j in range(4)}}).write_csv(path)
    return path


def run(table, *options):
    found = ("find", table, "--id", "id", "--examples", "p0,p1,p2,p3,p4", "--without", "shop")
    return invoke(*found, "--audit", table.with_name("audit.csv"), "--json", *options)


def fill(table, spell=lambda row: "yes" if row < N_MEMBERS else "no"):
    """Judge all rows of the file, and return their numbers."""
    path = table.with_name("audit.csv")
    with path.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    with path.open("w", newline="") as lines:
        csv.writer(lines).writerows([header, *([row, spell(int(row)), *cells] for row, _, *cells in rows)])
    return [int(row[0]) for row in rows]


def test_rows_are_written_judged_and_read_back(table):
    assert json.loads(run(table).stdout)["audit"] is None
    first = fill(table)
    assert len(set(first)) == 40
    assert min(first) >= 5  # examples are known
    audit = json.loads(run(table).stdout)["audit"]
    assert audit["n_judged"] == 40
    assert audit["n_members"]["low"] <= N_MEMBERS <= audit["n_members"]["high"]
    # More rows keep those that are judged.
    assert json.loads(run(table, "--n-audit", "1000").stdout)["audit"]["n_judged"] == 40
    assert fill(table)[:40] == first
    exact = json.loads(run(table).stdout)["audit"]
    assert exact["n_members"] == {"estimate": N_MEMBERS, "low": N_MEMBERS, "high": N_MEMBERS}


def test_a_person_is_told_what_to_do_and_what_came_out(table):
    path = table.with_name("audit.csv")
    options = ("find", table, "--examples", "0,1,2,3,4", "--audit", path)
    assert "Write yes or no in the column member of " in invoke(*options).stdout
    unjudged = invoke(*options)
    assert unjudged.exit_code == 1
    assert "No row is judged yet." in unjudged.output
    fill(table)
    assert "40 judged rows: about " in invoke(*options).stdout


def test_documents_of_a_topic_are_judged_and_groups_have_intervals(tmp_path):
    index, audit = make_index(tmp_path), tmp_path / "audit.csv"
    options = ("topic", index, "sushi", "--audit", audit, "--json")
    assert json.loads(invoke(*options).stdout)["audit"] is None
    with audit.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    assert header[:4] == ["row", "member", "name", "text"]
    with audit.open("w", newline="") as lines:
        judged = ([row, "yes" if "sushi" in cells[1] else "no", *cells] for row, _, *cells in rows)
        csv.writer(lines).writerows([header, *judged])
    result = json.loads(invoke(*options).stdout)["audit"]
    assert result["n_judged"] == 40
    assert result["n_members"]["low"] < result["n_members"]["estimate"] < result["n_members"]["high"]
    assert "(95%: " in invoke(*options[:-1]).stdout
    (topic,) = json.loads(invoke(*options, "--by", "shop").stdout)["topics"]
    assert all(group["low"] <= group["estimate"] <= group["high"] for group in topic["groups"])


@pytest.mark.parametrize(
    ("old", "new", "code", "fields"),
    [
        (",,p", ",maybe,p", "bad_judgement", {"line": 2}),
        (",,p", ",yes,q", "bad_judged_file", {}),
        ("\n", "\n77,yes,p77\n77,no,p77\n", "bad_judgement", {"line": 3, "row": "77"}),
    ],
)
def test_what_is_wrong_in_the_file_is_an_error(table, old, new, code, fields):
    run(table)
    path = table.with_name("audit.csv")
    path.write_text(path.read_text(encoding="utf-8").replace("\r\n", "\n").replace(old, new, 1), encoding="utf-8")
    result = run(table)
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()
