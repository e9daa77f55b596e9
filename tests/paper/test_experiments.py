"""One quick case of every experiment, its figure and table, and what the runner saves."""

import gzip
import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from paper_experiments import __main__ as command
from paper_experiments.corpora import ARTICLES, NEWS, REVIEWS, read_docword
from paper_experiments.experiment import Case, Experiment, Result, Row, Rows, read_rows, run_experiment
from paper_experiments.figures import Comparison, compute_ratio
from paper_experiments.hints import make_lead_hint
from paper_experiments.subspaces import compute_distance
from PIL import Image
from scipy.io import savemat
from tests.unit.image.images import as_bytes, halves

from mixsearch.datasets import make_gaussian_mixture, make_subspaces

BY_NAME = {experiment.name: experiment for experiment in command.EXPERIMENTS}
# Small and easy enough that every method has to find its component.
EASY = {
    "gmm-error": {"moments": "our", "sigma": 0.1, "n": 800},
    "gmm-rare": {"moments": "our", "sigma": 0.05, "n": 1500},
    "gmm-speedup": {"moments": "our", "sigma": 0.1, "n": 800, "k": 4},
    "lda-error": {"moments": "our", "length": 200, "n": 800},
    "subspace-error": {"moments": "our", "sigma": 0.01, "n": 1500},
    "subspace-speedup": {"moments": "our", "sigma": 0.01, "n": 1500},
    "gmm-sensitivity": {"moments": "our", "sigma": 0.1, "n": 1500},
    "regression-error": {"sigma": 0.01, "n": 3000},
    "theory": {"quantity": "delta"},
    "hints": {"k": 5},
    "random-hint": {"n": 2000, "d": 50, "k": 4},
    "parallel": {"k": 5, "n": 4000},
    "solvers": {"sigma": 0.5},
    "rehint": {"family": "subspaces"},
    "labels": {"family": "Gaussians", "d": 50},
}
PLANTED = {
    "golf": "golf birdie fairway caddie putter",
    "wine": "wine vineyard grape cellar barrel",
    "court": "court judge verdict jury plaintiff",
    "music": "music violin melody concert quartet",
    "rain": "rain cloud thunder forecast humidity",
}


def as_rows(name, setting, results):
    return Rows(
        Row(name, setting, 0, each.method, each.metric, each.target, each.value, each.note, "1", False)
        for each in results
    )


def run(name, setting):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # weak hints are a part of what is measured
        return as_rows(name, setting, list(BY_NAME[name].run(Case(setting, 0))))


@pytest.mark.slow
@pytest.mark.parametrize("name", EASY)
def test_a_case_runs_and_its_rows_alone_make_a_figure_and_a_table(name):
    experiment, rows = BY_NAME[name], run(name, EASY[name])
    assert np.isfinite(rows.values).all()
    assert set(EASY[name]) == set(experiment.cases(True)[0].setting)
    assert experiment.draw(rows).axes
    assert experiment.table(rows).count("\n") >= 3
    errors = rows.where(metric="error")
    if "refined" in errors.levels("method"):
        assert errors.where(method="refined").mean < 1.2 * errors.where(method="oracle").mean


def planted_texts(n_texts, rng):
    topics = [words.split() for words in PLANTED.values()]
    return [{"text": "\n\n" + " ".join(rng.choice(topics[i % 5], size=12))} for i in range(n_texts)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_topics_of_planted_texts_are_searched_and_scored(tmp_path, monkeypatch):
    monkeypatch.setenv("MIXSEARCH_DATA", str(tmp_path))
    monkeypatch.setattr("paper_experiments.topics.K", 5)
    monkeypatch.setattr("paper_experiments.topics.MAX_ANCHOR_DOCUMENTS", 5)
    rng = np.random.default_rng(0)
    for file, n_texts in (("text/20news_bydate.jsonl.gz", 200), (ARTICLES, 60)):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        with gzip.open(tmp_path / file, "wt", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row) + "\n" for row in planted_texts(n_texts, rng))
    experiment = BY_NAME["topics-text"]
    rows = Rows(row for case in experiment.cases(True) for row in run("topics-text", dict(case.setting)))
    best = rows.where(method="whitening", metric="PMI")
    assert set(best.levels("target")) == {word for word in NEWS if word in PLANTED}
    assert all(set(row.note.split(", ")) <= set(PLANTED[row.target].split()) for row in best)
    assert experiment.draw(rows).axes
    assert "20 newsgroups" in experiment.table(rows)
    assert len(set(NEWS)) == 62
    assert len(set(REVIEWS)) == 54


@pytest.mark.slow
def test_segments_of_an_easy_image_are_those_that_people_drew(tmp_path, monkeypatch):
    monkeypatch.setenv("MIXSEARCH_DATA", str(tmp_path))
    image, truth = halves()
    for kind in ("images", "groundTruth"):
        (tmp_path / "images/bsds500" / kind / "train").mkdir(parents=True)
    Image.fromarray(as_bytes(image)).save(tmp_path / "images/bsds500/images/train/12.jpg", quality=95)
    drawn = np.empty((1, 2), dtype=object)  # a seed on the border may fail; of two draws one is good enough
    drawn[0] = [{"Segmentation": truth.astype(np.uint16) + 1}] * 2
    savemat(tmp_path / "images/bsds500/groundTruth/train/12.mat", {"groundTruth": drawn})
    experiment = BY_NAME["segmentation"]
    rows = run("segmentation", dict(experiment.cases(True)[0].setting))
    for method in ("whitening", "k-means", "graph"):
        assert rows.where(method=method, metric="nmi").values.max() > 0.8
    assert experiment.draw(rows).axes
    assert "| train | 1 |" in experiment.table(rows)


def squares(case):
    if case.setting["n"] == 13:
        raise ValueError("unlucky")
    yield Result("power", "square", float(case.setting["n"]) ** 2 + case.seed, note='a "b", c')


def test_a_run_that_failed_resumes_with_its_saved_rows(tmp_path):
    def make(*sizes):
        cases = [Case({"n": n}, seed) for n in sizes for seed in (0, 1)]
        return Experiment("squares", "", "", "", lambda quick: cases, squares, None, None, (1, 1), sequential=True)

    done = []
    with pytest.raises(ValueError, match="unlucky"):
        run_experiment(make(3, 13), tmp_path / "rows.csv")
    rows = run_experiment(make(3, 4), tmp_path / "rows.csv", on_progress=lambda n_done, _: done.append(n_done))
    assert done == [2, 3, 4]
    assert [(row.cell("n"), row.seed, row.value) for row in rows] == [(3, 0, 9), (3, 1, 10), (4, 0, 16), (4, 1, 17)]
    assert list(read_rows(tmp_path / "rows.csv")) == list(rows)
    run_experiment(make(3), tmp_path / "rows.csv", quick=True, on_progress=lambda n_done, _: done.append(n_done))
    assert done[3:] == [0, 1, 2]


def test_the_command_writes_rows_a_figure_and_a_table_and_names_missing_data(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("MIXSEARCH_DATA", raising=False)
    command.main(["hints", "segmentation", "--quick", "--n-jobs", "1", "-o", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} == {"hints.csv", "hints.md", "hints.png"}
    assert "segmentation is left out. This experiment reads real data." in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["gmm-eror"])


def test_gains_speedups_and_their_errors():
    rows = as_rows("e", {}, [Result("whitening", "error", 1.0), Result("TPM", "error", 2.0)])
    assert Comparison("TPM", "weight").gain(rows, "whitening").value == pytest.approx(50)
    assert Comparison("TPM", "weight").speedup(rows, "whitening").value == pytest.approx(2)
    rng = np.random.default_rng(0)
    ours, theirs = rng.gamma(20, 1 / 20, size=(2, 4000, 30)) * rng.gamma(20, 1 / 20, size=(4000, 30))
    drawn = ours.mean(axis=1) / theirs.mean(axis=1)
    stderrs = [compute_ratio(a, b).stderr for a, b in zip(ours[:500], theirs[:500], strict=True)]
    assert np.mean(stderrs) == pytest.approx(drawn.std(), rel=0.1)


def test_hints_and_distances_are_what_they_are_asked_to_be():
    centers = make_gaussian_mixture(10, 60, 8, random_state=0).centers
    scores = centers @ make_lead_hint(centers, 1.5, 0)
    assert scores[0] / scores[1:].max() == pytest.approx(1.5)
    one, other = make_subspaces(5, 9, 2, dim=3, random_state=0).bases
    assert compute_distance(one, other) == pytest.approx(np.linalg.norm(one @ one.T - other @ other.T, 2))


def test_bags_of_words_are_read_without_rare_common_and_stop_words(tmp_path):
    counts = np.zeros((20, 5), dtype=int)
    counts[:4, 0], counts[1:6, 1], counts[:, 2], counts[5:8, 3], counts[0, 4] = 2, 1, 1, 3, 7
    lines = [f"{row + 1} {word + 1} {counts[row, word]}" for row, word in np.argwhere(counts)]
    (tmp_path / "docword.x.txt").write_text("\n".join(["20", "5", str(len(lines)), *lines]) + "\n")
    (tmp_path / "vocab.x.txt").write_text("golf\nwine\ncommon\nthe\nrare\n")
    found, words = read_docword(tmp_path / "docword.x.txt", min_documents=2)
    assert words == ["golf", "wine"]
    assert_array_equal(found.toarray(), counts[:, :2])
    (tmp_path / "docword.x.txt").write_text("\n".join(["20", "5", "99", *lines]) + "\n")
    with pytest.raises(ValueError, match="promises 99"):
        read_docword(tmp_path / "docword.x.txt")
