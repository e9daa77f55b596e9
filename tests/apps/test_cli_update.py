"""`mixsearch add`, `remove` and `refresh`, and the columns that `mixsearch index` keeps."""

import json
import threading

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.apps.cli_corpus import invoke
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews

from mixsearch.cli import _follow
from mixsearch.index import open_index

FIRST, MORE = make_reviews(list_subjects(200), 0), make_reviews(list_subjects(30), 1000)


@pytest.fixture
def path(tmp_path):
    return build_reviews(tmp_path, FIRST)


@pytest.fixture
def more(tmp_path):
    return write_reviews(tmp_path / "today.parquet", MORE)


def test_columns_are_found_and_listed(tmp_path):
    source = write_reviews(tmp_path / "r.parquet", FIRST)
    result = invoke("index", source, "--text", "review", "-o", tmp_path / "found", "-k", "3", "--max-df", "0.9")
    assert result.exit_code == 0, result.output
    assert "stars (number), day (date), shop (category)" in result.stdout
    result = invoke("index", source, "--text", "review", "-o", tmp_path / "named", "-k", "3", "--keep", "day, stars")
    assert result.exit_code == 0, result.output
    assert open_index(tmp_path / "named").columns.names == ["row", "day", "stars"]
    result = invoke("index", source, "--text", "review", "-o", tmp_path / "none", "-k", "3", "--keep", "none", "--json")
    assert json.loads(result.stdout)["columns"] == []
    result = invoke("index", source, "--text", "review", "-o", tmp_path / "bad", "--keep", "starz")
    assert result.exit_code == 1
    assert "No column 'starz'" in result.stderr
    assert not (tmp_path / "bad").exists()


def test_documents_are_added_and_counted(path, more):
    result = invoke("add", path, more)
    assert result.exit_code == 0, result.output
    assert "27 documents; left out: 3 with too few words" in result.stdout
    assert open_index(path).n_documents == 207
    result = invoke("add", path, more)
    assert result.exit_code == 1
    assert "are in the index" in result.stderr
    answer = json.loads(invoke("add", path, more, "--existing", "skip", "--json").stdout)
    assert (answer["n_documents"], answer["n_skipped"], answer["n_all"]) == (0, 30, 207)


def test_new_words_lead_to_the_advice_to_refresh_and_a_refresh_learns_them(path, tmp_path):
    space = write_reviews(tmp_path / "space.parquet", make_reviews(["space"] * 60, 5000))
    result = invoke("add", path, space)
    assert "Refit the topics" in result.stderr
    assert f"mixsearch refresh {path}" in result.stderr
    shown = invoke("info", path)
    assert " added, 0 removed since the topics were learned" in " ".join(shown.stdout.split())
    assert "Refit the topics" in shown.stderr
    result = invoke("refresh", path)
    assert result.exit_code == 0, result.output
    assert open_index(path).has_feature("rocket")
    assert "Refit the topics" not in invoke("info", path).stderr


def test_documents_are_removed_by_condition_id_and_row(path, tmp_path):
    result = invoke("remove", path, "--where", "stars = 5")
    assert result.exit_code == 0, result.output
    n = open_index(path).n_documents
    assert 5 not in open_index(path).columns.table["stars"].to_pylist()
    first, second = list(open_index(path).names())[:2]
    (tmp_path / "ids.txt").write_text(f"{second}\n\n")
    answer = json.loads(invoke("remove", path, "--id", first, "--ids-from", tmp_path / "ids.txt", "--json").stdout)
    assert answer["n_documents"] == 2
    assert answer["n_all"] == n - 2
    row = int(open_index(path).topics.kept_rows_[0])
    assert invoke("remove", path, "--row", row).exit_code == 0
    assert invoke("remove", path, "--row", row).exit_code == 1
    assert invoke("remove", path).exit_code == 1


def test_ids_to_remove_that_the_index_lacks_are_noted(path):
    first, second = list(open_index(path).names())[:2]
    result = invoke("remove", path, "--id", first, "--id", "nobody")
    assert result.exit_code == 0, result.output
    assert "Note: 1 id is not in the index: nobody." in result.stderr
    answer = json.loads(invoke("remove", path, "--id", second, "--id", "nobody", "--json").stdout)
    assert [note["code"] for note in answer["warnings"]] == ["unknown_ids"]
    assert invoke("remove", path, "--id", "nobody").exit_code == 1


def test_a_folder_is_followed(tmp_path, monkeypatch):
    texts = tmp_path / "mails"
    texts.mkdir()
    for i, text in enumerate(FIRST["review"].to_pylist()[:60]):
        (texts / f"m{i:03d}.txt").write_text(text)
    path = tmp_path / "mails.index"
    assert invoke("index", texts, "-o", path, "-k", "3", "--max-df", "0.9").exit_code == 0
    before = open_index(path).n_documents
    n_sleeps = []

    def sleep(_):
        n_sleeps.append(1)
        if len(n_sleeps) == 2:
            (texts / "new.txt").write_text(MORE["review"][0].as_py())
        if len(n_sleeps) == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(_follow, "sleep", sleep)
    result = invoke("add", path, texts, "--follow")
    assert result.exit_code == 130
    assert open_index(path).n_documents == before + 1
    assert "new.txt" in set(open_index(path).names())


def test_only_a_folder_is_followed(path, more):
    result = invoke("add", path, more, "--follow")
    assert result.exit_code == 1
    assert "needs one folder" in result.stderr


def test_others_would_read_the_columns_as_pandas_does(path):
    import pandas as pd

    [file] = path.glob("data-*/documents.parquet")
    frame = pd.read_parquet(file)
    assert frame["stars"].tolist() == [s for i, s in enumerate(FIRST["stars"].to_pylist()) if i % 10 != 9]
    assert frame["id"].tolist() == list(open_index(path).names())
    assert parquet.read_schema(file).field("day").type == pa.date32()


def test_a_reader_and_a_writer_do_not_disturb_each_other(path, more):
    errors, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                open_index(path).search("judge").documents(3)
            except Exception as error:
                errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        invoke("add", path, more)
        invoke("remove", path, "--where", "stars = 1")
        invoke("refresh", path)
    finally:
        done.set()
        reader.join()
    assert errors == []
