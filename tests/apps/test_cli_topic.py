import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from tests.apps.cli_corpus import N_TOPICS, Files, invoke, make_files, make_index
from tests.closeness import assert_close

from mixsearch.cli._console import complete_index
from mixsearch.core.separation import verdict_by_confidence
from mixsearch.index import Answer, Query, answer_queries, open_index

KEYS = {
    "alternative",
    "is_doubtful",
    "skipped",
    "hint",
    "weight",
    "separation",
    "verdict",
    "verdict_code",
    "share_of_hint",
    "n_components",
    "n_fitted",
    "words",
    "related_words",
    "documents",
    "alternatives",
    "weight_stderr",
    "n_about",
    "n_about_low",
    "n_about_high",
    "n_holding",
    "confidence",
    "warnings",
    "where",
    "within",
    "n_matching",
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
    result = invoke("topic", index, files.words[1], "--n-words", "6", "--words-by", "probability")
    assert result.exit_code == 0, result.output
    words = [line.split()[0] for line in facts(result.stdout, "word ")]
    assert len(words) == 6
    assert len(set(words) & set(files.likeliest[1][:8])) >= 5
    assert facts(result.stdout, "components") == [f"{N_TOPICS} of {N_TOPICS}"]
    assert "of the corpus" in facts(result.stdout, "weight")[0]
    assert any(verdict_by_confidence(p)[1] in facts(result.stdout, "confidence")[0] for p in (0.1, 0.3, 0.6, 0.9))
    documents = facts(result.stdout, "document")
    assert len(documents) == 5
    row, name = documents[0].split()[:2]
    assert name == f"d{row}"
    assert documents[0].split("  ")[-1].strip("…") in files.texts[int(row)]


def test_a_pipe_gets_no_colours_and_no_boxes(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0])
    assert "\x1b" not in result.output
    assert not set("│─╭╯█") & set(result.output)


def test_a_terminal_gets_a_panel_of_its_width(files: Files, index: Path) -> None:
    shown = invoke("topic", index, files.words[0], FORCE_COLOR="1", COLUMNS="80")
    assert "\x1b[" in shown.stdout
    assert "█" in shown.stdout
    plain = invoke("topic", index, files.words[0], FORCE_COLOR="1", NO_COLOR="1", COLUMNS="80").stdout
    assert "\x1b[3" not in plain  # no colour, though bold letters may stay
    assert "╭─" in plain


def test_json_has_the_same_keys_for_every_hint(files: Files, index: Path) -> None:
    answer = run_json(index, files.words[0])
    assert set(answer) == KEYS
    assert answer["hint"] == files.words[0]
    assert set(answer["words"][0]) == {"word", "probability", "likelier", "probability_stderr"}
    columns = {"title", "link", "date", "columns"}
    assert set(answer["documents"][0]) == {"row", "name", "share", "snippet", *columns}
    assert set(answer["alternatives"][0]) == {"rank", "words", "weight", "share_of_hint"}
    assert answer["words"][0]["likelier"] > 1
    assert 0 < answer["weight"] < 1
    assert_close(answer, run_json(index, files.words[0]))


def test_a_single_topic_has_no_separation_in_json(files: Files, index: Path) -> None:
    assert run_json(index, files.words[0], "-k", "1")["separation"] is None


def test_each_word_can_be_a_hint_of_its_own(files: Files, index: Path) -> None:
    answers = json.loads(invoke("topic", index, *files.words, "--each", "--json").stdout)
    assert [answer["hint"] for answer in answers] == files.words
    for answer, word in zip(answers, files.words, strict=True):
        alone = run_json(index, word)
        # Topics of several words share the documents.
        assert {each["row"] for each in answer["documents"]} == {each["row"] for each in alone["documents"]}
        assert_close({**answer, "documents": []}, {**alone, "documents": []})


def test_a_file_of_hints_is_answered_in_its_order_with_its_names(files: Files, index: Path) -> None:
    one, two, *_ = files.words
    lines = f"# my hints\nfirst: {one} -{two}\n\n{two}^2\n"
    answers = json.loads(invoke("topic", index, "--hints", "-", "--json", input=lines).stdout)
    assert [answer["hint"] for answer in answers] == ["first", f"{two}^2"]
    others = {"hint": "", "documents": []}
    assert_close(answers[0] | others, run_json(index, one, "--not", two) | others)
    assert_close(answers[1] | others, run_json(index, two) | others)


def test_one_bad_hint_leaves_the_others_alone(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0], "zzyzx", "--each", "--json")
    assert result.exit_code == 1
    good, bad = json.loads(result.stdout)
    assert set(good) == KEYS
    assert bad["hint"] == "zzyzx"
    assert bad["error"]["code"] == "unknown_word"
    assert "is not among the" in bad["error"]["message"]
    assert result.stderr.startswith("zzyzx: 'zzyzx' is not among the")
    assert "error,1" in invoke("topic", index, files.words[0], "zzyzx", "--each", "--csv").stdout


def test_an_error_is_json_too_with_its_code_and_fields(index: Path) -> None:
    result = invoke("topic", index, "wordd10", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert set(error) == {"code", "message", "fields"}
    assert error["code"] == "unknown_word"
    assert error["message"] == result.stderr.strip()
    assert error["fields"]["word"] == "wordd10"
    assert "word10" in error["fields"]["suggestions"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("--n-component", "--n-components"), ("--narower", "--narrower"), ("--docments", "--document")],
)
def test_a_misspelt_option_gets_the_nearest_one(index: Path, typed: str, meant: str) -> None:
    result = invoke("topic", index, "word10", typed, "3")
    assert result.exit_code == 2
    assert meant in " ".join(result.stderr.replace("│", " ").split())


def test_words_to_avoid_can_be_given_in_two_ways(files: Files, index: Path) -> None:
    one, two, *_ = files.words
    by_option = run_json(index, one, "--not", two)
    by_minus = json.loads(invoke("topic", index, "--json", "--", one, f"-{two}").stdout)
    assert_close(by_option, by_minus)
    assert by_option["hint"] == f"{one} -{two}"
    assert by_option["share_of_hint"] != run_json(index, one)["share_of_hint"]


def test_weights_phrases_patterns_and_capitals_are_understood(files: Files, index: Path) -> None:
    one = files.words[0]
    assert_close(run_json(index, one.upper())["words"], run_json(index, one)["words"])
    assert run_json(index, f"{one[:-1]}?")["words"]
    phrase = run_json(index, f"{one} {files.likeliest[0][1]}")
    assert phrase["hint"] == f"{one} {files.likeliest[0][1]}"
    assert run_json(index, f"{one}^3", f'"{one} {files.likeliest[0][1]}"')["hint"].startswith(f"{one}^3 ")


def test_a_text_and_documents_are_hints_too(files: Files, index: Path, tmp_path: Path) -> None:
    row = run_json(index, files.words[2])["documents"][0]["row"]
    expected = set(files.likeliest[2][:8])
    (tmp_path / "text.txt").write_text(files.texts[row])
    by_text = run_json(index, "--text", files.texts[row])
    by_file = run_json(index, "--text-file", tmp_path / "text.txt")
    by_row = run_json(index, "--documents", row)
    assert by_text["words"] == by_file["words"]
    assert by_row["hint"] == f"document {row}"
    for answer in (by_text, by_row):
        assert len({word["word"] for word in answer["words"][:6]} & expected) >= 4


def test_broader_and_narrower_halve_and_double_the_components(files: Files, index: Path) -> None:
    word = files.words[0]
    assert run_json(index, word, "--broader")["n_components"] == N_TOPICS // 2
    assert run_json(index, word, "--broader", "--narrower")["n_components"] == N_TOPICS
    assert run_json(index, word, "--n-components", "3")["n_components"] == 3


def test_the_estimate_of_moments_alone_can_be_asked_for(files: Files, index: Path) -> None:
    word = files.words[0]
    assert run_json(index, word, "--no-refine")["words"] != run_json(index, word)["words"]


@pytest.mark.parametrize(("option", "merge"), [("--merge-copies", True), ("--no-merge-copies", False)])
def test_copies_are_merged_as_in_python(files: Files, index: Path, option: str, merge: bool) -> None:
    word = files.words[0]
    merged = open_index(index).search(word, merge_copies=merge)
    shown = {row["word"]: row["probability"] for row in run_json(index, word, option)["words"]}
    assert_close([shown[name] for name, _ in merged.top_words(5)], [p for _, p in merged.top_words(5)])
    assert Query("asked", words={word: 1.0}).key != Query("asked", words={word: 1.0}, merge_copies=True).key


def test_words_can_be_ranked_by_probability(files: Files, index: Path) -> None:
    answer = run_json(index, files.words[0], "--words-by", "probability", "--n-documents", "0", "--n-words", "20")
    probabilities = [word["probability"] for word in answer["words"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert answer["documents"] == []
    assert run_json(index, files.words[0], "--n-words", "0")["words"] == []


def test_csv_has_one_fact_in_each_row(files: Files, index: Path) -> None:
    result = invoke("topic", index, *files.words[:2], "--each", "--csv", "--n-words", "3", "--n-documents", "2")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert list(rows[0]) == [
        "hint",
        "kind",
        "rank",
        "item",
        "value",
        "likelier",
        "name",
        "snippet",
        "title",
        "link",
        "date",
    ]
    first = [row for row in rows if row["hint"] == files.words[0]]
    assert [row["rank"] for row in first if row["kind"] == "word"] == ["1", "2", "3"]
    answer = run_json(index, files.words[0], "--n-words", "3", "--n-documents", "2")
    weight = next(row["value"] for row in first if row["item"] == "weight")
    assert float(weight) == answer["weight"]
    documents = [(int(row["item"]), row["name"], row["snippet"]) for row in first if row["kind"] == "document"]
    assert documents == [(each["row"], each["name"], each["snippet"]) for each in answer["documents"]]


def test_errors_are_told_where_they_are_asked_for(files: Files, index: Path) -> None:
    word = files.words[0]
    topic = open_index(index).search(word)
    plain, answer = run_json(index, word, "--n-words", "3"), run_json(index, word, "--n-words", "3", "--errors")
    assert plain["weight_stderr"] is plain["words"][0]["probability_stderr"] is None
    assert plain["confidence"] == answer["confidence"]
    assert answer["weight_stderr"] == pytest.approx(topic.stderr.weight)
    assert answer["confidence"] == pytest.approx(topic.confidence)
    columns = [open_index(index).vocabulary.index(each["word"]) for each in answer["words"]]
    assert [each["probability_stderr"] for each in answer["words"]] == pytest.approx(topic.stderr.center[columns])


def test_errors_are_a_column_and_a_fact_in_csv(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0], "--csv", "--n-words", "3", "--errors")
    rows = {(row["kind"], row["item"]): row for row in csv.DictReader(io.StringIO(result.stdout))}
    answer = run_json(index, files.words[0], "--n-words", "3", "--errors")
    assert float(rows["fact", "weight"]["stderr"]) == answer["weight_stderr"]
    assert float(rows["fact", "confidence"]["value"]) == answer["confidence"]
    for word in answer["words"]:
        assert float(rows["word", word["word"]]["stderr"]) == word["probability_stderr"]
    assert {row["stderr"] for (kind, _), row in rows.items() if kind == "document"} == {""}


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1", "NO_COLOR": "1", "COLUMNS": "80"}])
def test_errors_are_read_beside_their_numbers(files: Files, index: Path, terminal: dict[str, str]) -> None:
    plain = invoke("topic", index, files.words[0], "--n-documents", "0", **terminal).stdout
    shown = invoke("topic", index, files.words[0], "--n-documents", "0", "--errors", **terminal).stdout
    assert "±" not in plain
    assert shown.count("±") == 11  # of the weight and of ten words


def test_an_unsure_answer_tells_what_else_the_hint_could_mean(files: Files, index: Path) -> None:
    (reply,) = answer_queries(open_index(index), [Query("one", words={files.words[0]: 1.0})])
    assert reply.answer is not None
    sure = replace(reply.answer, separation=1.2, confidence=0.95)
    assert not sure.is_doubtful
    assert replace(sure, confidence=0.4).is_doubtful
    assert replace(sure, confidence=None).is_doubtful
    assert not replace(sure, separation=5.0, confidence=None).is_doubtful


def test_the_only_topic_is_the_one_that_the_hint_means(files: Files, index: Path) -> None:
    assert run_json(index, files.words[0], "-k", "1", "--errors", "--no-refine")["confidence"] == 1


def test_a_weak_hint_is_told_with_what_else_it_could_mean(files: Files, index: Path) -> None:
    # A word of each topic: none of them leads.
    result = invoke("topic", index, *files.words, "--no-refine")
    assert result.exit_code == 0, result.output
    doubtful = [line for line in facts(result.stdout, "could mean") if "of the hint" in line]
    assert 1 <= len(doubtful) <= 3
    assert "Warning" not in result.output


def test_words_left_out_are_a_note_beside_the_answer(files: Files, index: Path) -> None:
    result = invoke("topic", index, files.words[0], "zzyzx", "--json")
    answer = json.loads(result.stdout)
    assert len(answer["warnings"]) == 1
    assert "Skipped: 'zzyzx'" in answer["warnings"][0]["message"]
    assert result.stderr.startswith("Note: Skipped: 'zzyzx'")


@pytest.mark.slow
def test_pictures_are_drawn_of_one_topic_and_of_many(files: Files, index: Path, tmp_path: Path) -> None:
    for name, more in (("one.png", ()), ("many.png", ("--each",))):
        result = invoke("topic", index, *files.words[:2], *more, files.words[0], "--plot", tmp_path / name, "--json")
        whiskers = tmp_path / f"whiskers-{name}"
        invoke("topic", index, *files.words[:2], *more, files.words[0], "--plot", whiskers, "--errors")
        assert result.exit_code == 0, result.output
        assert not np.array_equal(imread(tmp_path / name), imread(whiskers))
        assert json.loads(result.stdout)
        assert f"Figure: {tmp_path / name}" in result.stderr
        assert imread(tmp_path / name).std() > 0.02


@pytest.mark.parametrize(("name", "said"), [("x.foo", "Format 'foo' is not supported"), ("no/x.png", "No such file")])
def test_a_picture_that_cannot_be_written_is_told(
    files: Files, index: Path, tmp_path: Path, name: str, said: str
) -> None:
    result = invoke("topic", index, files.words[0], "--plot", tmp_path / name)
    assert result.exit_code == 1
    assert said in result.stderr
    assert not (tmp_path / name).exists()


def test_without_matplotlib_a_picture_is_refused_with_what_to_install(
    files: Files, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.delitem(sys.modules, "mixsearch.plots", raising=False)
    monkeypatch.delattr("mixsearch.plots", raising=False)
    result = invoke("topic", index, files.words[0], "--plot", tmp_path / "x.png")
    assert result.exit_code == 1
    assert result.stderr == "Plots need matplotlib. Install it with: pip install 'mixsearch[cli]'.\n"
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wordd10",), "'wordd10' is not among the 76 words. Nearest: word10"),
        (("zz*",), "None of the 76 words matches 'zz*'"),
        (("word10^x",), "'x' in 'word10^x' is not a weight"),
        (("",), "'' names no word"),
        (("word10", "--not", "word10"), "'word10' is both wanted and to be avoided"),
        (("Word10", "--not", "word10"), "'word10' is both wanted and to be avoided"),
        (("--documents", "600"), "Row 600 is not a document of this fit"),
        (("--text", "nothing of this is known"), "contain no word of the vocabulary"),
        (("word10", "-k", "5"), "--n-components=5, but this fit has 4 components"),
        (("--hints", "nowhere.txt"), "Cannot read 'nowhere.txt': No such file"),
        (("--text-file", "nowhere.txt"), "Cannot read 'nowhere.txt': No such file"),
    ],
)
def test_a_hint_that_cannot_be_used_is_an_error_of_one_sentence(
    index: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = invoke("topic", index, *arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_another_topic_that_the_hint_could_mean_can_be_asked_for(files: Files, index: Path) -> None:
    found = run_json(index, files.words[0])
    other = run_json(index, files.words[0], "--alternative", 1)
    assert other["alternative"] == 1
    assert other["weight"] == pytest.approx(found["alternatives"][0]["weight"])
    assert [word["word"] for word in other["words"]][:6] == found["alternatives"][0]["words"]
    missing = invoke("topic", index, files.words[0], "--alternative", "99")
    assert missing.exit_code == 1
    assert "Alternative 99 does not exist" in missing.stderr


def test_a_file_without_hints_or_of_other_bytes_is_refused(index: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert "No hint in" in invoke("topic", index, "--hints", tmp_path / "empty").stderr
    assert "is not UTF-8 text" in invoke("topic", index, "--hints", tmp_path / "bytes").stderr
    unclosed = invoke("topic", index, "--hints", "-", input='"new york\n')
    assert unclosed.exit_code == 1
    assert "is not closed" in unclosed.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "got none"),
        (("word10", "--text", "a text"), "got words and --text"),
        (("--documents", "1", "--not", "word10"), "--not and --each need words"),
        (("word10", "--json", "--csv"), "--json or --csv"),
        (("word10", "-k", "2", "--broader"), "--n-components or --broader"),
        (("word10", "--words-by", "luck"), "luck"),
        (("--documents", "first"), "--document"),
    ],
)
def test_a_wrong_command_ends_with_code_2(index: Path, arguments: tuple[str, ...], said: str) -> None:
    result = invoke("topic", index, *arguments)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_an_index_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = invoke("topic", tmp_path / "nowhere.index", "word10")
    assert result.exit_code == 1
    assert "does not exist. Check the path" in result.stderr


def test_a_file_in_place_of_an_index_names_the_command_that_makes_one(tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_text("id,review\n1,Good sushi\n")
    result = invoke("topic", tmp_path / "reviews.csv", "sushi")
    assert result.exit_code == 1
    assert f"To make an index of the file: mixsearch index {tmp_path / 'reviews.csv'}" in result.stderr
    (tmp_path / "by.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "empty.csv").touch()
    for name in ("by.png", "empty.csv"):
        assert "mixsearch index" not in invoke("topic", tmp_path / name, "sushi").stderr


def test_a_wrong_name_names_the_indexes_with_similar_ones(index: Path) -> None:
    (index.parent / "not-an-index").mkdir(exist_ok=True)
    missing = index.with_name(index.name + "x")
    result = invoke("topic", missing, "sushi", "--json")
    assert f"Did you mean '{index}'" in result.stderr
    error = json.loads(result.stdout)["error"]
    assert error["code"] == "folder_missing"
    assert str(index) in error["fields"]["nearest"]
    assert "not-an-index" not in error["message"]


def test_a_star_alone_is_refused(index: Path) -> None:
    result = invoke("topic", index, "*")
    assert result.exit_code == 1
    assert "'*' does not choose a word" in result.stderr


def test_an_index_without_texts_still_names_its_documents(files: Files, tmp_path: Path) -> None:
    bare = Files(tmp_path, files.texts, files.words, files.likeliest)
    bare.jsonl.write_bytes(files.jsonl.read_bytes())
    answer = run_json(make_index(bare, "--no-keep-texts"), files.words[0])
    assert answer["documents"][0]["snippet"] is None
    assert answer["documents"][0]["name"].startswith("d")


def test_answers_can_be_had_without_the_command_line(files: Files, index: Path) -> None:
    queries = [Query("named", words={files.words[0]: 1.0}), Query("unknown", words={"zzyzx": 1.0})]
    good, bad = answer_queries(open_index(index), queries)
    assert isinstance(good.answer, Answer)
    assert json.loads(json.dumps(good.as_dict())) == {**run_json(index, files.words[0]), "hint": "named"}
    assert good.topic is not None
    assert bad.as_dict()["error"] == bad.error.as_dict()


def test_paths_of_indexes_are_completed(files: Files, index: Path, tmp_path: Path) -> None:
    assert complete_index(f"{files.folder}/rev") == [str(index)]
    assert complete_index(str(files.folder)[:-1])[-1].endswith("/")
    assert complete_index(f"{tmp_path}/no/such") == []


def test_the_help_has_examples_in_80_columns() -> None:
    said = invoke("topic", "--help").output
    for example in ("mixsearch topic reviews.index sushi", "-- apple -fruit", "kind (fact, word"):
        assert example in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error_to_speak_of(files: Files, index: Path) -> None:
    arguments = [sys.executable, "-m", "mixsearch", "topic", str(index), *files.words, "--each"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # as head does when it has its line
        said = process.stderr.read()
    assert said == b""
    assert process.returncode in (0, 1)
