"""`mixsearch add`, `remove` and `refresh`."""

import json

import pytest
from mixsearch.index import open_index
from tests.apps.cli_corpus import invoke
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

FIRST, MORE = make_reviews(list_subjects(200), 0), make_reviews(list_subjects(30), 1000)


@pytest.fixture
def path(tmp_path):
    return build_reviews(tmp_path, FIRST)


@pytest.fixture
def more(tmp_path):
    return write_reviews(tmp_path / "today.parquet", MORE)


def test_documents_are_added_and_counted(path, more):
    result = invoke("add", path, more)
    assert result.exit_code == 0, result.output
    assert "27 documents; left out: 3 with too few words" in result.stdout
    assert open_index(path).n_documents == 207
    again = invoke("add", path, more, "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout)["error"]["code"] == "documents_exist"
    answer = json.loads(invoke("add", path, more, "--existing", "skip", "--json").stdout)
    assert (answer["n_documents"], answer["n_skipped"], answer["n_all"]) == (0, 30, 207)


def test_new_words_lead_to_the_advice_to_refresh_and_a_refresh_learns_them(path, tmp_path):
    space = write_reviews(tmp_path / "space.parquet", make_reviews(["space"] * 60, 5000))
    assert f"mixsearch refresh {path}" in invoke("add", path, space).stderr
    shown = invoke("info", path)
    assert " added, 0 removed since the topics were learned" in " ".join(shown.stdout.split())
    assert f"mixsearch refresh {path}" in shown.stderr
    result = invoke("refresh", path)
    assert result.exit_code == 0, result.output
    assert open_index(path).has_feature("rocket")
    assert invoke("info", path).stderr == ""


def test_documents_are_removed_by_condition_id_and_row(path, tmp_path):
    result = invoke("remove", path, "--where", "stars = 5")
    assert result.exit_code == 0, result.output
    n = open_index(path).n_documents
    first, second = list(open_index(path).names())[:2]
    (tmp_path / "ids.txt").write_text(f"{second}\n\nnobody\n")
    answer = json.loads(invoke("remove", path, "--id", first, "--ids-from", tmp_path / "ids.txt", "--json").stdout)
    assert (answer["n_documents"], answer["n_all"]) == (2, n - 2)
    assert [note["code"] for note in answer["warnings"]] == ["unknown_ids"]
    row = int(open_index(path).topics.kept_rows_[0])
    assert invoke("remove", path, "--row", row).exit_code == 0
    assert invoke("remove", path, "--row", row).exit_code == 1
    assert invoke("remove", path).exit_code == 1
