import json
from pathlib import Path

import pytest
from matplotlib.image import imread
from tests.apps.cli_corpus import N_DOCUMENTS, N_TOPICS, Files, invoke, make_files, make_index

from mixsearch import TopicSearch, __version__
from mixsearch.datasets import make_topics
from mixsearch.index import open_index
from mixsearch.storage import open_folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return make_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def index(files: Files) -> Path:
    return make_index(files)


def test_what_an_index_holds_is_told_line_by_line(index: Path) -> None:
    result = invoke("info", index)
    assert result.exit_code == 0, result.output
    facts = {line[:12].strip(): line[12:] for line in result.stdout.splitlines()}
    assert facts["documents"].startswith(f"{N_DOCUMENTS} (left out: 0 too short")
    assert facts["topics"] == str(N_TOPICS)
    assert __version__ in facts["created"]
    assert facts["texts"].startswith("kept")
    assert "alpha0=0.01" in facts["options"]
    assert "texts" in facts["parts"]
    assert "bytes per document" in facts["size"]
    assert facts["spectrum"].startswith(f"{N_TOPICS} eigenvalues, from ")
    assert "verified" not in facts
    assert "\x1b" not in result.output


def test_json_has_every_number(index: Path) -> None:
    printed = json.loads(invoke("info", index, "--json").stdout)
    opened = open_index(index)
    assert printed["n_documents"] == N_DOCUMENTS
    assert printed["n_nonzeros"] == opened.topics._family.local.by_document.nnz
    assert printed["eigenvalues"] == [float(value) for value in opened.topics._family.frame.values]
    assert printed["bytes_of_parts"] == open_folder(index, kind="topic index", version=2).sizes()
    assert printed["n_bytes"] == sum(printed["bytes_of_parts"].values())
    assert printed["options"]["n_components"] == N_TOPICS
    assert printed["tokens"]["lowercase"] is True
    assert {each["word"] for each in printed["distinctive_words"]} <= set(opened.vocabulary)
    assert printed["verified"] is False
    most = printed["frequent_words"][0]
    column = opened.vocabulary.index(most["word"])
    assert most["n_documents"] == opened.topics._family.local.by_document[:, [column]].nnz
    assert column == opened.topics._family.word_mean.argmax()


def test_a_terminal_gets_a_small_picture_of_the_spectrum(index: Path) -> None:
    shown = invoke("info", index, FORCE_COLOR="1").stdout
    assert "█" in shown
    assert "▁" in shown


def test_every_byte_is_read_again_when_asked(index: Path) -> None:
    result = invoke("info", index, "--verify")
    assert result.exit_code == 0
    assert "all checksums match" in result.stdout
    assert json.loads(invoke("info", index, "--verify", "--json").stdout)["verified"] is True


def test_a_changed_byte_is_found(files: Files, tmp_path: Path) -> None:
    own = Files(tmp_path, files.texts, files.words, files.likeliest)
    own.jsonl.write_bytes(files.jsonl.read_bytes())
    path = make_index(own)
    largest = max(path.rglob("*.npy"), key=lambda file: file.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[-1] ^= 1
    largest.write_bytes(data)
    for options in ((), ("--verify",)):  # small files are verified in any case
        result = invoke("info", path, *options)
        assert result.exit_code == 1
        assert str(largest) in result.stderr
        assert "write it again with the command that made it, such as mixsearch index, and --overwrite" in result.stderr
    largest.unlink()
    gone = invoke("info", path)
    assert gone.exit_code == 1
    assert "is missing" in gone.stderr


def test_the_spectrum_is_drawn(index: Path, tmp_path: Path) -> None:
    result = invoke("info", index, "--plot", tmp_path / "spectrum.png")
    assert result.exit_code == 0, result.output
    assert imread(tmp_path / "spectrum.png").std() > 0.02


def test_a_saved_search_is_an_index_without_texts(tmp_path: Path) -> None:
    data = make_topics(200, 30, 3, mean_length=30, random_state=0)
    TopicSearch(3).fit(data.counts).save(tmp_path / "search")
    printed = json.loads(invoke("info", tmp_path / "search", "--json").stdout)
    assert printed["has_texts"] is False
    assert printed["tokens"] is None
    assert printed["distinctive_words"] == []
    assert "not kept" in invoke("info", tmp_path / "search").stdout


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "does not exist. Check the path"),
        (lambda path: path.mkdir(), "is empty"),
        (lambda path: path.write_text("text"), "is a file, not a folder"),
        (lambda path: (path.mkdir(), (path / "notes.txt").touch()), "was not written by mixsearch"),
    ],
)
def test_what_is_no_index_is_told(tmp_path: Path, make: object, said: str) -> None:
    path = tmp_path / "other"
    make(path)  # type: ignore[operator]
    result = invoke("info", path)
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_index_of_a_newer_version_is_told(files: Files, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mixsearch.topics._storage.VERSION", 0)
    result = invoke("info", index)
    assert result.exit_code == 1
    assert "in format 1, but this version reads formats up to 0" in result.stderr


def test_the_help_has_examples_and_completion_can_be_installed() -> None:
    assert "mixsearch info reviews.index --verify" in invoke("info", "--help").output
    assert "--install-completion" in invoke("--help").output
    assert "mixsearch topic reviews.index sushi" in invoke("--help").output
