"""`mixsearch index`."""

import json
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from tests.apps.cli import invoke

from mixsearch.datasets import make_topics
from mixsearch.topics import open_index

KEYS = {
    *("index", "n_documents", "n_empty", "n_missing", "n_words", "n_features", "n_nonzeros"),
    *("n_components", "n_bytes", "columns", "bytes_per_document", "seconds", "warnings", "next"),
}


N_DOCUMENTS, N_TOPICS = 600, 4
# Every word of the corpus counts, however rare.
ALL_WORDS = ("--min-df", "1", "--stop-words", "none", "--n-components", str(N_TOPICS))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Documents of known topics, and the files that have them."""
    data = make_topics(N_DOCUMENTS, 80, N_TOPICS, mean_length=40, alpha=0.05, random_state=0)
    folder = tmp_path_factory.mktemp("files")
    texts = [" ".join(np.repeat(data.vocabulary, row)) for row in data.counts.toarray()]
    rows = [{"key": f"d{number}", "stars": number % 5, "review": text} for number, text in enumerate(texts)]
    pl.DataFrame(rows).write_ndjson(folder / "reviews.jsonl")
    pl.DataFrame(rows).write_csv(folder / "reviews.csv")
    return SimpleNamespace(texts=texts, jsonl=folder / "reviews.jsonl", csv=folder / "reviews.csv")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_the_summary_says_what_was_indexed_and_what_to_type_next(files):
    result = invoke("index", files.jsonl, "--text", "review", *ALL_WORDS)
    assert result.exit_code == 0, result.output
    facts = {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1] for line in result.stdout.splitlines()}
    n_empty = open_index("reviews.index").contents().n_empty
    counted = f"{N_DOCUMENTS}, {n_empty} of them without words to compare"
    assert (facts["index"], facts["documents"]) == ("reviews.index", counted)
    assert invoke(*facts["next"].split()[1:]).exit_code == 0


def test_standard_input_several_files_a_folder_and_a_pattern_are_read(files, here):
    (here / "notes").mkdir()
    for number, text in enumerate(files.texts[:40]):
        (here / "notes" / f"{number:02}.txt").write_text(text)
    few = ("--min-df", "1", "-k", "2", "--json")
    by_input = invoke("index", "-", *few, input="\n".join(files.texts[:40]))
    table = "".join(f'{number % 3},"{text}, and more"\n' for number, text in enumerate(files.texts[:40]))
    by_table = invoke("index", "-", "-o", "table.index", *few, input=f"stars,text\n{table}")
    assert [column["name"] for column in json.loads(by_table.stdout)["columns"]] == ["stars"]
    by_files = invoke("index", *sorted((here / "notes").iterdir()), "-o", "files.index", *few)
    by_folder = invoke("index", "notes", *few)
    by_pattern = invoke("index", "notes/*.txt", "-o", "pattern.index", *few)
    sums = [json.loads(result.stdout) for result in (by_input, by_files, by_folder, by_pattern, by_table)]
    assert [each["n_documents"] for each in sums] == [40] * 5
    names = ["texts.index", "files.index", "notes.index", "pattern.index", "table.index"]
    assert [each["index"] for each in sums] == names
    inside = invoke("index", ".", "--json")
    assert json.loads(inside.stdout)["error"]["code"] == "index_inside_source"


def test_json_has_every_number_and_nothing_else_is_on_standard_output(files, tmp_path):
    result = invoke("index", files.jsonl, "-o", tmp_path / "i", "--id", "key", *ALL_WORDS, "--json")
    printed = json.loads(result.stdout)
    assert set(printed) == KEYS
    assert printed["n_documents"] == N_DOCUMENTS
    (warning,) = printed["warnings"]
    assert (warning["code"], warning["fields"]["argument"]) == ("text_column_guessed", "text")
    assert "--text" in warning["message"]


def test_options_of_reading_reach_the_index(tmp_path):
    table = tmp_path / "t.jsonl"
    rows = [{"title": f"Alpha beta{n % 3}", "body": "<b>Gamma</b> delta the end"} for n in range(3)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "t.index"
    result = invoke(
        *("index", table, "-o", path, "--text", "title", "--text", "body", "--stop-words", "en"),
        *("--min-df", "1", "-k", "2", "--json"),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["n_documents"] == 3
    index = open_index(path)
    words = index.corpus.words
    assert {"alpha", "gamma", "beta1"} <= {*words}
    assert "b" not in words


def test_columns_to_keep_are_found_named_or_none(files, tmp_path):
    for keep, names in (("auto", ["id", "stars"]), ("stars, key", ["id", "stars", "key"]), ("none", ["id"])):
        arguments = ("index", files.csv, "--text", "review", "--keep", keep, "--overwrite", "-o", tmp_path / "i")
        printed = json.loads(invoke(*arguments, *ALL_WORDS, "--json").stdout)
        assert [column["name"] for column in printed["columns"]] == names


@pytest.mark.parametrize(
    ("options", "code", "fields"),
    [
        (("--min-df", "five"), "bad_argument", {"argument": "min_df", "value": "five"}),
        (("--text", "reviw"), "column_missing", {"column": "reviw", "suggestion": "review"}),
        (("--text", "review", "--min-df", "601"), "no_words_left", {"lower": 601, "upper": 180, "n_documents": 600}),
    ],
)
def test_what_cannot_be_indexed_is_an_error_with_a_code(files, tmp_path, options, code, fields):
    result = invoke("index", files.jsonl, "-o", tmp_path / "i", *options, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()
    assert result.stderr == f"{error['message']} [{code}]\n"
    assert not (tmp_path / "i").exists()


def test_progress_is_shown_on_a_terminal_only(files, tmp_path):
    arguments = ("index", files.jsonl, "--text", "review", "--id", "key", *ALL_WORDS)
    plain = invoke(*arguments, "-o", tmp_path / "plain")
    assert plain.stderr == ""
    assert "\x1b" not in plain.output
    shown = invoke(*arguments, "-o", tmp_path / "shown", FORCE_COLOR="1")
    for step in ("Reading", "Storing", "Listing words", "Fitting topics"):
        assert step in shown.stderr
