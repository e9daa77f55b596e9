"""`mixsearch topic`: hints, options, output for people and programs, groups, errors."""

import json
import sys

import polars as pl
import pytest
from matplotlib.image import imread
from tests.apps.cli import invoke
from tests.closeness import assert_close
from tests.dated_corpus import YEARS, draw_rows, make_index
from tests.served_corpus import SUBJECTS

from mixsearch.cli.console import complete_index
from mixsearch.topics import open_index

ROWS = draw_rows()
KEYS = {
    *("hint", "read_as", "sentence", "n_documents", "n_members", "about", "share", "n_containing", "match", "check"),
    *("words", "alternatives", "documents", "warnings", "audit"),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("topic"))


def run(*arguments, code=0, **more):
    result = invoke("topic", *arguments, **more)
    assert result.exit_code == code, result.output
    return result


def run_json(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more).stdout)


def test_people_read_a_sentence_words_on_one_line_and_documents_that_show_why(index):
    answer = run_json(index, "sushi")
    name, sentence, check, words, *documents = run(index, "sushi").stdout.splitlines()
    assert (name, sentence) == ("sushi", answer["sentence"])
    assert check[1:] == f"{answer['check']}."[1:]
    assert words == f"Words: {', '.join(word['word'] for word in answer['words'])}"
    assert len([line for line in documents if line]) == 5
    for line, document in zip(documents, answer["documents"], strict=False):
        assert line.split()[0] == str(document["row"])
        assert line.endswith(document["snippet"])
        assert f"{document['title']} ({document['date']})" in line
    assert run(index, "sushi", NO_COLOR="1", FORCE_COLOR="1").stdout.count("\x1b[3") == 0


def test_json_has_the_numbers_of_the_library(index):
    answer, topic = run_json(index, "sushi", "--n-documents", 3), open_index(index).search("sushi")
    assert set(answer) == KEYS
    assert answer["n_members"] == pytest.approx(topic.n_members)
    assert answer["sentence"] == topic.sentence
    assert [word["word"] for word in answer["words"]] == [word.word for word in topic.words(10)]
    assert [document["row"] for document in answer["documents"]] == [row for row, _ in topic.documents(3)]
    assert {*answer["documents"][0]} == {"row", "name", "membership", "snippet", "title", "link", "date", "columns"}


def test_a_file_of_hints_is_answered_in_its_order_and_a_bad_one_leaves_the_others_alone(index):
    lines = "# my hints\nfirst: sushi -court\n\njudge^2\nzzyzx\n"
    result = run(index, "--hints", "-", "--json", input=lines, code=1)
    first, second, bad = json.loads(result.stdout)
    assert (first["hint"], second["hint"], bad["hint"]) == ("first", "judge^2", "zzyzx")
    assert bad["error"]["code"] == "unknown_word"
    assert result.stderr == f"zzyzx: {bad['error']['message']} [unknown_word]\n"
    assert_close(first | {"hint": ""}, run_json(index, "sushi", "--not", "court") | {"hint": ""})
    assert json.loads(run(index, "--hints", "-", "--json", input="#\n", code=1).stdout)["error"]["code"] == "no_hints"


@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_options_of_the_search_reach_it(index):
    opened = open_index(index)
    law = next(i for i, row in enumerate(ROWS) if "on law" in row["title"])
    for options, hint in (
        (("--text", " ".join(SUBJECTS["law"])), {"text": " ".join(SUBJECTS["law"])}),
        (("--documents", law), {"documents": [law]}),
        (("sushi", "--narrower", "-1"), {"words": "sushi", "narrower": -1}),
        (
            ("goal", "--documents", law, "--not-documents", 0),
            {"words": "goal", "documents": [law], "not_documents": [0]},
        ),
    ):
        answer, topic = run_json(index, *options), opened.search(**hint)
        assert [document["row"] for document in answer["documents"]] == [row for row, _ in topic.documents(5)]
    filtered = run_json(index, "judge", "--where", "year = 2017", "--n-documents", "30")
    assert filtered["n_documents"] == sum(row["year"] == 2017 for row in ROWS)
    assert {document["columns"]["year"] for document in filtered["documents"]} == {2017}


def test_groups_over_time_and_by_a_column_have_their_members(index, tmp_path):
    wanted = open_index(index).group(["sushi", "judge"], over="year")
    output = tmp_path / "groups.csv"
    printed = json.loads(run(index, "sushi", "judge", "--over", "year", "--json", "-o", output).stdout)
    assert [topic["hint"] for topic in printed["topics"]] == ["sushi", "judge"]
    members = [group["n_members"] for topic in printed["topics"] for group in topic["groups"]]
    assert members == pytest.approx([group.n_members for topic in wanted.topics for group in topic.groups])
    assert pl.read_csv(output)["n_members"].to_list() == pytest.approx(members)
    lines = run(index, "sushi", "judge", "--over", "year").stdout.splitlines()
    assert [line.split()[0] for line in lines if line[:4].isdigit()] == [*map(str, YEARS), *map(str, YEARS)]
    crossed = run(index, "sushi", "--over", "year", "--every", "5", "--by", "shop").stdout
    assert {"Oslo", "Rome"} <= set(crossed.split())
    assert "2015 to <2020" in crossed


def test_a_table_of_documents_and_pictures_are_written(index, tmp_path):
    result = run(index, "sushi", "-o", tmp_path / "documents.parquet", "--plot", tmp_path / "one.png")
    assert "documents.parquet" in result.stderr
    frame = pl.read_parquet(tmp_path / "documents.parquet")
    assert frame.height == len(ROWS)
    assert frame["sushi"].is_sorted(descending=True)
    run(index, "sushi", "judge", "--by", "shop", "--plot", tmp_path / "shops.svg")
    assert imread(tmp_path / "one.png").std() > 0.02
    assert "<svg" in (tmp_path / "shops.svg").read_text()
    assert run(index, "sushi", "--plot", tmp_path / "x.foo", code=1).stderr
    assert "--plot" in run(index, "sushi", "judge", "--each", "--plot", tmp_path / "two.png", code=2).stderr
    assert not (tmp_path / "two.png").exists()


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(index, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.delitem(sys.modules, "mixsearch.show.plots", raising=False)
    monkeypatch.delattr("mixsearch.show.plots", raising=False)
    error = json.loads(run(index, "sushi", "--plot", "x.png", "--json", code=1).stdout)["error"]
    assert (error["code"], error["fields"]["package"]) == ("extra_missing", "matplotlib")


@pytest.mark.parametrize("arguments", [("-q", "topic"), ("topic", "-q")])
def test_quiet_and_verbose_change_what_is_printed_besides_the_answer(index, arguments, tmp_path):
    output = ("sushi", "-o", tmp_path / "x.csv")
    answer, verbose = run(index, *output), run(index, *output, "-v")
    quiet = invoke(*arguments, index, *output)
    assert answer.stdout == quiet.stdout == verbose.stdout
    assert (quiet.stderr, len(answer.stderr.splitlines()), len(verbose.stderr.splitlines())) == ("", 1, 2)
    assert "unknown_word" in invoke(*arguments, index, "sushy").stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("sushy",), "unknown_word"),
        (("--documents", "90000"), "unknown_row"),
        (("sushi", "--where", "yeer = 3"), "unknown_column"),
        (("sushi", "--over", "shop"), "not_ordered"),
        (("--hints", "nowhere.txt"), "cannot_read"),
    ],
)
def test_a_hint_that_cannot_be_used_is_one_line_with_a_code(index, arguments, code):
    result = run(index, *arguments, "--json", code=1)
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert result.stderr == f"{error['message']} [{code}]\n"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ((), "--documents"),
        (("sushi", "--text", "a text"), "--text"),
        (("sushi", "--every", "month"), "--every"),
        (("sushi", "--narower", "3"), "--narrower"),
    ],
)
def test_a_wrong_command_ends_with_code_2(index, arguments, option):
    result = run(index, *arguments, "--json", code=2)
    error = json.loads(result.stdout)["error"]
    assert option in error["message"]
    assert result.stderr == f"{error['message']} [wrong_usage]\n"


def test_an_error_about_an_index_has_a_next_step(index, tmp_path):
    (tmp_path / "reviews.csv").write_text("id,review\n1,Good sushi\n")
    error = json.loads(run(tmp_path / "reviews.csv", "sushi", "--json", code=1).stdout)["error"]
    assert error["code"] == "folder_foreign"
    assert error["fields"]["command"] == f"mixsearch index {tmp_path / 'reviews.csv'}"
    error = json.loads(run(index.with_name(f"{index.name}x"), "sushi", "--json", code=1).stdout)["error"]
    assert error["code"] == "folder_missing"
    assert str(index) in error["fields"]["nearest"]


def test_paths_of_indexes_are_completed(index, tmp_path):
    assert complete_index(f"{index.parent}/da") == [str(index)]
    assert complete_index(str(index.parent)[:-1])[-1].endswith("/")
    assert complete_index(f"{tmp_path}/no/such") == []
