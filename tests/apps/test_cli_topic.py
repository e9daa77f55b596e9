"""`mixsearch topic`: hints, options, output formats, errors."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread
from mixsearch.confidence import verdict_by_confidence
from mixsearch.index import open_index
from tests.apps.cli_corpus import N_TOPICS, Files, invoke, make_files, make_index
from tests.closeness import assert_close

from mixsearch.cli.console import complete_index

KEYS = {
    *("alternative", "is_doubtful", "skipped", "hint", "weight", "separation", "verdict", "verdict_code"),
    *("share_of_hint", "n_components", "n_fitted", "words", "related_words", "documents", "alternatives"),
    *("weight_stderr", "n_about", "n_about_low", "n_about_high", "n_holding", "confidence", "warnings"),
    *("where", "within", "n_matching"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def index(files: Files) -> Path:
    return make_index(files)


def facts(text: str, name: str) -> list[str]:
    return [line[12:] for line in text.splitlines() if line.startswith(name)]


def run_json(*arguments: object, **more: str) -> dict:
    result = invoke("topic", *arguments, "--json", **more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_word_finds_its_topic_with_its_documents(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[1], "--n-words", "6")
    assert result.exit_code == 0, result.output
    words = [line.split()[0] for line in facts(result.stdout, "word ")]
    assert len(words) == 6
    assert facts(result.stdout, "components") == [f"{N_TOPICS} of {N_TOPICS}"]
    assert "of the corpus" in facts(result.stdout, "weight")[0]
    assert any(verdict_by_confidence(p)[1] in facts(result.stdout, "confidence")[0] for p in (0.1, 0.3, 0.6, 0.9))
    documents = facts(result.stdout, "document")
    assert len(documents) == 5
    row, name = documents[0].split()[:2]
    assert name == f"d{row}"
    assert documents[0].split("  ")[-1].strip("…") in files.texts[int(row)]
    assert not set("\x1b│─╭╯█") & set(result.output)


def test_a_terminal_gets_a_panel_of_its_width(files: Files, index: Path) -> None:
    shown = invoke("topic", index, files.words[0], "--errors", FORCE_COLOR="1", COLUMNS="80").stdout
    assert {"\x1b", "█", "╭"} <= set(shown)
    assert shown.count("±") == 11  # of the weight and of ten words


def test_json_has_the_same_keys_for_every_hint(files: Files, index: Path) -> None:
    answer = run_json(index, files.words[0], "--errors")
    assert set(answer) == KEYS
    assert answer["hint"] == files.words[0]
    assert set(answer["words"][0]) == {"word", "probability", "likelier", "probability_stderr"}
    columns = {"title", "link", "date", "columns"}
    assert set(answer["documents"][0]) == {"row", "name", "share", "snippet", *columns}
    assert set(answer["alternatives"][0]) == {"rank", "words", "weight", "share_of_hint"}
    topic = open_index(index).search(files.words[0])
    assert answer["weight_stderr"] == pytest.approx(topic.stderr.weight)
    assert answer["confidence"] == pytest.approx(topic.confidence)


def test_a_file_of_hints_is_answered_in_its_order_with_its_names(files: Files, index: Path) -> None:
    one, two, *_ = files.words
    lines = f"# my hints\nfirst: {one} -{two}\n\n{two}^2\n"
    answers = json.loads(invoke("topic", index, "--hints", "-", "--json", input=lines).stdout)
    assert [answer["hint"] for answer in answers] == ["first", f"{two}^2"]
    others = {"hint": "", "documents": []}
    assert_close(answers[0] | others, run_json(index, one, "--not", two) | others)
    by_minus = json.loads(invoke("topic", index, "--json", "--", one, f"-{two}").stdout)
    assert_close(answers[0] | others, by_minus | others)
    assert_close(answers[1] | others, run_json(index, two) | others)
    empty = invoke("topic", index, "--hints", "-", "--json", input="# nothing\n")
    assert json.loads(empty.stdout)["error"]["code"] == "no_hints"


def test_one_bad_hint_leaves_the_others_alone(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0], "zzyzx", "--each", "--json")
    assert result.exit_code == 1
    good, bad = json.loads(result.stdout)
    assert set(good) == KEYS
    assert bad["hint"] == "zzyzx"
    assert bad["error"]["code"] == "unknown_word"
    assert result.stderr == f"zzyzx: {bad['error']['message']}\n"
    assert "error,1" in invoke("topic", index, files.words[0], "zzyzx", "--each", "--csv").stdout


def test_a_text_and_documents_are_hints_too(files: Files, index: Path) -> None:
    row = run_json(index, files.words[2])["documents"][0]["row"]
    expected = set(files.likeliest[2][:8])
    by_text = run_json(index, "--text", files.texts[row])
    by_row = run_json(index, "--documents", row)
    assert by_row["hint"] == f"document {row}"
    for answer in (by_text, by_row):
        assert len({word["word"] for word in answer["words"][:6]} & expected) >= 4


def test_options_of_the_search_reach_it(files: Files, index: Path) -> None:
    word = files.words[0]
    found = run_json(index, word)
    assert run_json(index, word, "--broader")["n_components"] == N_TOPICS // 2
    assert run_json(index, word, "--broader", "--narrower")["n_components"] == N_TOPICS
    assert run_json(index, word, "--n-components", "3")["n_components"] == 3
    assert run_json(index, word, "--no-refine")["words"] != found["words"]
    assert run_json(index, word, "--n-words", "0")["words"] == []
    other = run_json(index, word, "--alternative", 1)
    assert other["weight"] == pytest.approx(found["alternatives"][0]["weight"])


def test_csv_has_one_fact_in_each_row(files: Files, index: Path) -> None:
    options = ("--n-words", "3", "--n-documents", "2", "--errors")
    rows = list(
        csv.DictReader(io.StringIO(invoke("topic", index, *files.words[:2], "--each", "--csv", *options).stdout))
    )
    first = [row for row in rows if row["hint"] == files.words[0]]
    assert [row["rank"] for row in first if row["kind"] == "word"] == ["1", "2", "3"]
    answer = run_json(index, files.words[0], *options)
    weight = next(row for row in first if row["item"] == "weight")
    assert (float(weight["value"]), float(weight["stderr"])) == (answer["weight"], answer["weight_stderr"])
    documents = {(int(row["item"]), row["name"], row["snippet"]) for row in first if row["kind"] == "document"}
    assert documents == {(each["row"], each["name"], each["snippet"]) for each in answer["documents"]}


def test_words_left_out_are_a_note_beside_the_answer(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0], "zzyzx", "--json")
    (warning,) = json.loads(result.stdout)["warnings"]
    assert warning["code"] == "skipped_words"
    assert result.stderr == f"Note: {warning['message']}\n"


@pytest.mark.slow
def test_pictures_are_drawn_of_one_topic_and_of_many(files: Files, index: Path, tmp_path: Path) -> None:
    for name, more in (("one.png", ()), ("many.png", ("--each",))):
        result = invoke("topic", index, *files.words[:2], *more, "--plot", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert imread(tmp_path / name).std() > 0.02
    for name in ("x.foo", "no/x.png"):
        assert invoke("topic", index, files.words[0], "--plot", tmp_path / name).exit_code == 1


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(
    files: Files, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.delitem(sys.modules, "mixsearch.show.plots", raising=False)
    monkeypatch.delattr("mixsearch.show.plots", raising=False)
    result = invoke("topic", index, files.words[0], "--plot", tmp_path / "x.png", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert (error["code"], error["fields"]["extra"]) == ("extra_missing", "cli")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("wordd10",), "unknown_word"),
        (("zz*",), "unknown_word"),
        (("word10^x",), "bad_weight"),
        (("word10^1e50",), "weight_out_of_range"),
        (("Word10", "--not", "word10"), "contradicting_words"),
        (("--documents", "600"), "unknown_row"),
        (("word10", "-k", "5"), "too_many_components"),
        (("--hints", "nowhere.txt"), "cannot_read"),
    ],
)
def test_a_hint_that_cannot_be_used_is_an_error_with_a_code(index: Path, arguments: tuple[str, ...], code: str) -> None:
    result = invoke("topic", index, *arguments, "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["code"] == code
    assert result.stderr == error["message"] + "\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "--documents"),
        (("word10", "--text", "a text"), "--text"),
        (("--documents", "1", "--not", "word10"), "--not"),
        (("word10", "--json", "--csv"), "--csv"),
        (("word10", "--narower", "3"), "--narrower"),
    ],
)
def test_a_wrong_command_ends_with_code_2(index: Path, arguments: tuple[str, ...], named: str) -> None:
    result = invoke("topic", index, *arguments, COLUMNS="300")
    assert result.exit_code == 2
    assert named in result.stderr


def test_an_error_about_an_index_has_a_next_step(index: Path, tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text("id,review\n1,Good sushi\n")
    result = invoke("topic", tmp_path / "reviews.csv", "sushi", "--json")
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "folder_foreign"
    assert error["fields"]["command"] == f"mixsearch index {tmp_path / 'reviews.csv'}"
    result = invoke("topic", index.with_name(index.name + "x"), "sushi", "--json")
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "folder_missing"
    assert str(index) in error["fields"]["nearest"]


def test_paths_of_indexes_are_completed(files: Files, index: Path, tmp_path: Path) -> None:
    assert complete_index(f"{files.folder}/rev") == [str(index)]
    assert complete_index(str(files.folder)[:-1])[-1].endswith("/")
    assert complete_index(f"{tmp_path}/no/such") == []


def test_a_minus_within_a_phrase_is_refused(files: Files, index: Path) -> None:
    refused = invoke("topic", index, f"{files.words[0]} -{files.words[1]}", "--json")
    assert json.loads(refused.stdout)["error"]["code"] == "operator_in_phrase"
