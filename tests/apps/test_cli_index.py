import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from tests.apps.cli_corpus import ALL_WORDS, N_DOCUMENTS, N_TOPICS, Files, invoke, make_files, make_index

from mixsearch.index import open_index
from mixsearch.storage import write_folder

KEYS = {
    "index",
    "n_documents",
    "n_short",
    "n_duplicates",
    "n_missing",
    "n_words",
    "n_nonzeros",
    "n_components",
    "n_bytes",
    "columns",
    "bytes_per_document",
    "seconds",
    "warnings",
    "next",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("files"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words_of(path: Path) -> list[str]:
    return open_index(path).vocabulary


def test_the_summary_says_what_was_indexed_and_what_to_type_next(files: Files, here: Path) -> None:
    result = invoke("index", files.jsonl, "--text", "review", *ALL_WORDS)
    assert result.exit_code == 0, result.output
    facts = {line.split(maxsplit=1)[0]: line.split(maxsplit=1)[1] for line in result.stdout.splitlines()}
    assert facts["index"] == "reviews.index"
    assert facts["documents"] == f"{N_DOCUMENTS}"
    assert facts["topics"] == f"{N_TOPICS}"
    assert "bytes per document" in facts["size"]
    assert facts["next"].startswith("mixsearch topic reviews.index word")
    assert invoke(*facts["next"].split()[1:]).exit_code == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_format_gives_the_same_index(files: Files, tmp_path: Path, kind: str) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        pandas = pytest.importorskip("pandas")
        pandas.read_json(files.jsonl, lines=True).to_parquet(files.parquet)
    path = tmp_path / "other.index"
    result = invoke(
        "index", files.folder / f"reviews.{kind}", "-o", path, "--text", "review", "--id", "key", *ALL_WORDS
    )
    assert result.exit_code == 0, result.output
    index = open_index(path)
    assert index.n_documents == N_DOCUMENTS
    document = index.documents([7])[0]
    assert (document.row, document.name, document.text) == (7, "d7", files.texts[7])
    assert document.columns == {"stars": 2}


def test_standard_input_several_files_a_folder_and_a_pattern_are_read(files: Files, here: Path) -> None:
    (here / "notes").mkdir()
    for number, text in enumerate(files.texts[:40]):
        (here / "notes" / f"{number:02}.txt").write_text(text)
    few = ("--min-df", "1", "--max-df", "1.0", "-k", "2", "--json")
    by_input = invoke("index", "-", "--format", "lines", *few, input="\n".join(files.texts[:40]))
    by_files = invoke("index", *sorted((here / "notes").iterdir()), "-o", "files.index", *few)
    by_folder = invoke("index", "notes", *few)
    by_pattern = invoke("index", "notes/*.txt", "-o", "pattern.index", *few)
    sums = [json.loads(result.stdout) for result in (by_input, by_files, by_folder, by_pattern)]
    assert [each["n_documents"] for each in sums] == [40] * 4
    assert [each["index"] for each in sums] == ["texts.index", "files.index", "notes.index", "pattern.index"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("data/reviews.jsonl.gz", "reviews.index"),
        ("reviews.csv", "reviews.index"),
        ("news/*.txt", "news.index"),
        ("-", "texts.index"),
    ],
)
def test_an_index_is_called_after_its_source(source: str, name: str) -> None:
    from mixsearch.cli._index_report import name_index

    assert name_index([source]) == Path(name)


def test_json_has_every_number_and_nothing_else_is_on_standard_output(files: Files, tmp_path: Path) -> None:
    result = invoke("index", files.jsonl, "-o", tmp_path / "i", "--id", "key", *ALL_WORDS, "--json")
    printed = json.loads(result.stdout)
    assert set(printed) == KEYS
    assert printed["n_documents"] + printed["n_short"] == N_DOCUMENTS
    assert printed["n_bytes"] == sum(file.stat().st_size for file in (tmp_path / "i").rglob("*") if file.is_file())
    assert "Set --text to read another column" in printed["warnings"][0]["message"]


def test_options_of_reading_reach_the_index(files: Files, tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    rows = [{"title": f"Alpha beta{n % 3}", "body": "<b>Gamma</b> delta the end"} for n in range(30)] * 2
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "t.index"
    result = invoke(
        *("index", table, "-o", path, "--text", "title", "--text", "body", "--strip-tags", "--stop-words", "english"),
        *("--ngrams", "2", "--no-lowercase", "--no-keep-texts", "--drop-duplicates", "exact", "--min-df", "1"),
        *(
            "--max-df",
            "1.0",
            "-k",
            "2",
            "--memory",
            "500MB",
            "--n-jobs",
            "1",
            "--no-damping",
            "--json",
        ),
    )
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert (printed["n_documents"], printed["n_duplicates"]) == (3, 57)
    index = open_index(path)
    assert {"Alpha", "Gamma", "Gamma delta", "beta1"} <= set(index.vocabulary)
    assert not {"b", "the", "alpha"} & set(index.vocabulary)
    assert index.documents([0])[0].text is None
    assert not index.topics.damping


def test_rare_and_common_words_are_left_out_by_default(tmp_path: Path) -> None:
    texts = [f"common {'rare' if n < 4 else 'middle'} topic{'abcde'[n % 5]} also{'abcde'[n % 5]}" for n in range(60)]
    (tmp_path / "t.txt").write_text("\n".join(texts))
    result = invoke("index", tmp_path / "t.txt", "-o", tmp_path / "i", "-k", "3", "--max-words", "9")
    assert result.exit_code == 1  # two words are left in each document, and an index needs three
    assert "--max-df" in result.stderr
    (tmp_path / "t.txt").write_text("\n".join(text + " " + text for text in texts))
    result = invoke("index", tmp_path / "t.txt", "-o", tmp_path / "i", "-k", "3", "--max-words", "9")
    assert result.exit_code == 0, result.output
    assert not {"common", "rare", "middle"} & set(words_of(tmp_path / "i"))
    assert len(words_of(tmp_path / "i")) == 9


def test_what_was_left_out_is_said_with_its_reason(files: Files, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join([*files.texts[:50], *files.texts[:3], "one two"]))
    result = invoke("index", tmp_path / "t.txt", "-o", tmp_path / "i", *ALL_WORDS, "--drop-duplicates", "near")
    assert "50; left out: 1 with too few words, 3 duplicates" in result.stdout
    assert "Each line of" in result.stderr
    assert "Set --format to 'files' to read the file as one document" in result.stderr


def test_fewer_topics_than_asked_for_are_a_note(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(["aa bb cc dd", "ee ff gg hh"] * 20))
    result = invoke("index", tmp_path / "t.txt", "-o", tmp_path / "i", "--max-df", "1.0", "-k", "8")
    assert result.exit_code == 0, result.output
    assert "but 8 were requested" in result.stderr
    assert "Warning" not in result.output


def test_an_index_is_replaced_only_when_asked(files: Files, tmp_path: Path) -> None:
    arguments = ("index", files.jsonl, "-o", tmp_path / "i", "--id", "key", *ALL_WORDS)
    assert invoke(*arguments).exit_code == 0
    again = invoke(*arguments)
    assert again.exit_code == 1
    assert "already holds a topic index" in again.stderr
    assert "--overwrite" in again.stderr
    assert invoke(*arguments, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--text", "reviw"), "No column 'reviw'.* Did you mean 'review'"),
        (("--text", "review", "--min-df", "601"), r"Lower --min-df \(601\) or raise --max-df \(0.3\)"),
        (("--text", "review", "--stop-words", "nowhere.txt"), "No file 'nowhere.txt'. --stop-words must be 'auto'"),
        (("--text", "review", "--token-pattern", "("), r"--token-pattern must be a regular expression, got '\('"),
        (("--text", "review", "--max-df", "1.5"), "--max-df must be a number of documents .* got 1.5"),
        (("--text", "review", "--n-jobs", "0"), "--n-jobs must be a positive integer, got 0"),
        (
            ("--text", "review", "--encoding", "utf-9"),
            "--encoding must be .* that Python knows, .* got 'utf-9'",
        ),
        (("--text", "review", "--alpha0", "-1"), "--alpha0 must be a positive number or 'auto', got -1"),
        (("--text", "review", "--metric", "2"), "--metric must be a number from 0 to 1, got 2"),
        (
            ("--text", "review", "--max-df", "1.0", "-k", "81"),
            "81 topics need at least 81 features",
        ),
    ],
)
def test_what_cannot_be_indexed_is_an_error_of_one_sentence(
    files: Files, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    result = invoke("index", files.jsonl, "-o", tmp_path / "i", *options)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert re.search(said, result.stderr), result.stderr
    assert not (tmp_path / "i").exists()


def test_columns_to_choose_from_are_told(files: Files, tmp_path: Path) -> None:
    result = invoke("index", files.csv, "-o", tmp_path / "i", "--text", "body")
    assert result.exit_code == 1
    assert "Its columns are: key, stars, review" in result.stderr
    two = tmp_path / "two.csv"
    two.write_text("this,that\nabc def,ghi jkl\n")
    assert "Set --text to one of its columns: this, that." in invoke("index", two, "-o", tmp_path / "i").stderr


def test_a_missing_file_is_told_with_what_is_there(files: Files, tmp_path: Path) -> None:
    result = invoke("index", files.folder / "review.csv", "-o", tmp_path / "i")
    assert result.exit_code == 1
    assert "reviews.csv" in result.stderr


def test_the_name_of_a_file_stays_as_it_was_typed(tmp_path: Path) -> None:
    result = invoke("index", "my n_components text= file.csv", "-o", tmp_path / "i")
    assert result.exit_code == 1
    assert "No file 'my n_components text= file.csv'. " in result.stderr


@pytest.mark.parametrize("name", ["my --components.csv", "my n_components=.csv", "min_df {x}.csv"])
def test_file_names_are_printed_as_they_are(tmp_path: Path, name: str) -> None:
    result = invoke("index", tmp_path / name, "--json")
    assert result.exit_code == 1
    assert f"'{tmp_path / name}'" in result.stderr
    assert f"'{tmp_path / name}'" in json.loads(result.stdout)["error"]["message"]


def test_an_error_is_json_too_with_its_code_and_fields(files: Files, tmp_path: Path) -> None:
    result = invoke("index", files.jsonl, "-o", tmp_path / "i", "--text", "review", "--max-df", "1.5", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert set(error) == {"code", "message", "fields"}
    assert error["code"] == "bad_argument"
    assert error["message"].startswith("--max-df")
    assert error["fields"]["argument"] == "max_df"


def test_an_index_never_lies_in_the_folder_that_it_is_made_from(here: Path) -> None:
    (here / "a.txt").write_text("some text")
    result = invoke("index", ".")
    assert result.exit_code == 1
    assert "would lie inside its source, the folder '.'" in result.stderr
    assert "--output" in result.stderr


def test_a_busy_index_is_told(files: Files, tmp_path: Path) -> None:
    with write_folder(tmp_path / "i", kind="topic index", version=1) as out:
        result = invoke("index", files.jsonl, "-o", tmp_path / "i", "--text", "review", *ALL_WORDS)
        out.save("numbers", [1])
    assert result.exit_code == 1
    assert result.stderr.startswith("Another process is writing to")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--min-df", "five"), "neither a number of documents"),
        (("--memory", "lots"), "is not an amount of memory"),
        (("--memory", "0"), "is not an amount of memory"),
        (("--format", "docx"), "docx"),
        (("--n-components", "0"), "neither a positive integer"),
        (("--n-components", "some"), "nor 'auto'"),
        (("--drop-duplicates", "some"), "some"),
    ],
)
def test_a_wrong_command_ends_with_code_2(files: Files, options: tuple[str, ...], said: str) -> None:
    result = invoke("index", files.jsonl, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.slow
def test_auto_counts_the_topics_and_draws_what_it_counted(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "counted.index"
    result = invoke(
        "index", files.jsonl, "-o", path, "--text", "review", *ALL_WORDS, "--n-components", "auto", "--json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["n_components"] == N_TOPICS
    drawn = invoke("info", path, "--plot", tmp_path / "spectrum.png")
    assert drawn.exit_code == 0, drawn.output
    assert "n_components=auto" in " ".join(drawn.stdout.split())


def test_without_a_source_the_command_is_wrong() -> None:
    assert invoke("index").exit_code == 2


def test_bars_are_shown_on_a_terminal_only(files: Files, tmp_path: Path) -> None:
    arguments = ("index", files.jsonl, "--text", "review", "--id", "key", *ALL_WORDS)
    plain = invoke(*arguments, "-o", tmp_path / "plain")
    assert plain.stderr == ""
    assert "\x1b" not in plain.output
    shown = invoke(*arguments, "-o", tmp_path / "shown", FORCE_COLOR="1")
    for step in ("Reading", "Storing", "Listing words", "Fitting topics"):
        assert step in shown.stderr
    assert "documents" in shown.stderr
    assert "kB" in shown.stderr


def test_the_help_has_examples_in_80_columns() -> None:
    printed = invoke("index", "--help").output
    assert "mixsearch index reviews.csv --text review" in printed
    assert "Advanced" in printed
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.slow
def test_ctrl_c_ends_with_one_line_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "i"
    arguments = [sys.executable, "-m", "mixsearch", "index", "-", "-o", str(path), "--format", "lines"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    # A shell that runs the tests in the background has them ignore Ctrl-C, and a child inherits that.
    with subprocess.Popen(arguments, preexec_fn=_hear_ctrl_c, **pipes) as process:
        assert process.stdin is not None
        process.stdin.write(b"some words here\n")
        process.stdin.flush()
        end = monotonic() + 120
        while not path.exists() and monotonic() < end:
            sleep(0.02)
        sleep(0.2)  # the folder is claimed, and then the input is waited for
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == b""
    assert err.decode() == "Stopped. No index was written; an existing one is unchanged.\n"
    assert not path.exists()


def _hear_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_made_index_can_be_opened(files: Files) -> None:
    assert open_index(make_index(files, "--overwrite")).n_documents == N_DOCUMENTS
