"""`mixsearch add` and `mixsearch remove`."""

import json

import pytest
from tests.apps.cli import invoke
from tests.unit.topics.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

from mixsearch.topics import open_index

FIRST, MORE = make_reviews(list_subjects(200), 0), make_reviews(list_subjects(30), 1000)


@pytest.fixture
def path(tmp_path):
    return build_reviews(tmp_path, FIRST)


@pytest.fixture
def more(tmp_path):
    return write_reviews(tmp_path / "today.parquet", MORE)


def run(*arguments, code=0):
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    return result


def test_documents_are_added_and_counted(path, more):
    assert "30 documents" in run("add", path, more).stdout
    assert open_index(path).n_documents == 230
    error = json.loads(run("add", path, more, "--json", code=1).stdout)["error"]
    assert error["code"] == "documents_exist"
    answer = json.loads(run("add", path, more, "--existing", "skip", "--json").stdout)
    assert (answer["n_documents"], answer["n_skipped"], answer["n_all"]) == (0, 30, 230)
    run("add", path, code=2)


def test_new_words_lead_to_the_advice_to_refit_and_a_refit_learns_them(path, tmp_path):
    space = write_reviews(tmp_path / "space.parquet", make_reviews(["space"] * 60, 5000))
    assert f"mixsearch add {path} --refit" in run("add", path, space).stderr
    shown = run("info", path)
    assert "60 added, 0 removed since the fit to 200 documents" in shown.stdout
    assert f"mixsearch add {path} --refit" in shown.stderr
    run("add", path, "--refit")
    assert open_index(path).document_frequency("rocket") > 0
    assert run("info", path).stderr == ""


def test_documents_are_removed_by_condition_and_id(path):
    run("remove", path, "--where", "stars = 5")
    opened = open_index(path)
    first, second = opened.columns.read_names()[:2]
    answer = json.loads(run("remove", path, "--id", first, "--id", second, "--id", "nobody", "--json").stdout)
    assert (answer["n_documents"], answer["n_all"]) == (2, opened.n_documents - 2)
    assert [note["code"] for note in answer["warnings"]] == ["unknown_ids"]
    row = int(open_index(path).corpus.rows[0])
    run("remove", path, "--where", f"row = {row}")
    run("remove", path, "--where", f"row = {row}", code=1)
    run("remove", path, code=1)
