from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from tests.unit.segmentation.images import as_bytes, halves, painted, thirds

from mixsearch import SearchError
from mixsearch.experiments import Case, Row, Rows, find_experiments
from mixsearch.experiments import _segmentation as experiment
from mixsearch.experiments._bsds import list_images, load_annotations
from mixsearch.experiments._segmentation_methods import GROUPS, METHODS, Scene
from mixsearch.experiments._segmentation_report import compute_scores, draw, table
from mixsearch.segmentation import read_image

# As in a run: weak seeds are a part of what is measured.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def write_picture(folder: Path, split: str, name: str, picture: np.ndarray, annotations: list[np.ndarray]) -> None:
    for kind in ("images", "groundTruth"):
        (folder / "images" / "bsds500" / kind / split).mkdir(parents=True, exist_ok=True)
    root = folder / "images" / "bsds500"
    Image.fromarray(as_bytes(picture)).save(root / "images" / split / f"{name}.jpg", quality=95)
    cells = np.empty((1, len(annotations)), dtype=object)
    for number, segments in enumerate(annotations):
        cells[0, number] = {"Segmentation": segments.astype(np.uint16) + 1, "Boundaries": np.zeros((2, 2))}
    savemat(root / "groundTruth" / split / f"{name}.mat", {"groundTruth": cells})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    two, three = halves(), thirds()
    many = np.arange(48 * 72).reshape(48, 72) // 600
    write_picture(tmp_path, "train", "12", two[0], [two[1], np.zeros_like(two[1]), two[1].copy()])
    write_picture(tmp_path, "train", "7", painted(many % 3), [many])
    write_picture(tmp_path, "val", "30", three[0], [many, three[1]])
    monkeypatch.setenv("MIXSEARCH_DATA", str(tmp_path))
    return tmp_path


def test_pictures_count_that_somebody_cut_into_two_or_three(data: Path) -> None:
    assert list_images() == [("train", "12"), ("val", "30")]
    assert [each.person for each in load_annotations("train", "12")] == [0, 2]
    (annotation,) = load_annotations("val", "30")
    assert annotation.person == 1
    assert (annotation.segments == thirds()[1]).all()
    with pytest.raises(SearchError, match="The image 7 of train has no annotation with 2 to 3 segments"):
        load_annotations("train", "7")


def test_seeds_lie_one_in_each_segment(data: Path) -> None:
    (annotation,) = load_annotations("val", "30")
    drawn = [annotation.draw_seeds(np.random.default_rng(seed)) for seed in range(20)]
    for seeds in drawn:
        assert [annotation.segments[y, x] for x, y in seeds] == [0, 1, 2]
    assert len({tuple(seeds) for seeds in drawn}) == 20


def test_every_method_cuts_an_easy_picture_as_people_do(data: Path) -> None:
    case = Case({"split": "train", "image": 12, "group": "clusters"}, 0)
    results = list(experiment.run(case))
    scores = {(each.method, each.target): each.value for each in results if each.metric == "nmi"}
    assert set(scores) == {(method, of) for method in GROUPS["clusters"] for of in ("0", "2")}
    # A seed on the border may fail; of two draws one is good enough.
    assert all(max(scores[method, "0"], scores[method, "2"]) > 0.8 for method in GROUPS["clusters"])
    assert all(len(each.note.split()) == 2 for each in results if each.metric == "nmi")


def test_the_random_walker_starts_at_the_same_seeds(data: Path) -> None:
    setting = {"split": "train", "image": 12}
    walked = list(experiment.run(Case({**setting, "group": "walker"}, 1)))
    assert {each.method for each in walked} == {"random walker"}
    clusters = experiment.run(Case({**setting, "group": "clusters"}, 1))
    assert {each.note for each in walked if each.note} == {each.note for each in clusters if each.note}
    assert max(each.value for each in walked if each.metric == "nmi") > 0.5


def test_k_means_is_started_at_the_seeds() -> None:
    picture, truth = halves()
    labels = METHODS["k-means, RGB"](Scene(read_image(picture)), [(50, 5), (5, 5)])
    assert np.mean(labels == 1 - truth) > 0.99


def rows_at(values: dict[str, list[tuple[int, str, int, float]]], metric: str = "nmi") -> list[Row]:
    return [
        Row(
            "s",
            {"split": "train", "image": image, "group": "clusters"},
            seed,
            method,
            metric,
            of,
            value,
            "",
            "1",
            False,
        )
        for method, listed in values.items()
        for image, of, seed, value in listed
    ]


def test_a_picture_s_score_is_the_best_draw_averaged_over_annotations() -> None:
    listed = [(1, "0", 0, 0.2), (1, "0", 1, 0.4), (1, "3", 0, 0.8), (1, "3", 1, 0.1), (2, "0", 0, 0.3)]
    assert compute_scores(Rows(rows_at({"k-means, RGB": listed})), "k-means, RGB") == pytest.approx({1: 0.6, 2: 0.3})


def test_the_table_counts_who_is_better_on_each_picture() -> None:
    ours = [(image, "0", 0, value) for image, value in enumerate((0.5, 0.2, 0.4))]
    theirs = [(image, "0", 0, value) for image, value in enumerate((0.3, 0.3, 0.4))]
    pairs = {f"whitening, {of}": ours for of in ("RGB", "rich")} | {f"k-means, {of}": theirs for of in ("RGB", "rich")}
    spent = {method: [(0, "0", 0, 0.25 if method.startswith("w") else 1.5)] for method in pairs}
    text = table(Rows(rows_at(pairs) + rows_at(spent, "seconds")))
    assert "| RGB | train | 3 | 1 | 1 | 0.250 | 1.500 | 0.400 | 0.300 |" in text
    assert "| rich | all | 3 | 1 | 1 | 0.250 | 1.500 | 0.400 | 0.300 |" in text
    assert "The random walker was left out" in text


@pytest.mark.slow
def test_the_figure_shows_pictures_where_they_are_at_hand(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (chosen,) = find_experiments(["segmentation"])
    rows = Rows(
        Row("s", case.setting, case.seed, each.method, each.metric, each.target, each.value, each.note, "1", True)
        for case in chosen.cases(True)
        for each in chosen.run(case)
    )
    figure = draw(rows, "Segments")
    assert len(figure.axes) == 1 + 7  # one picture of the quick run, with a row for it, the person and five methods
    assert "The random walker has the best of 1 only" in table(rows)
    assert "| image | seeds | k-means, RGB | whitening, RGB |" in table(rows)
    monkeypatch.setenv("MIXSEARCH_DATA", str(data / "nowhere"))
    assert len(draw(rows, "Segments").axes) == 1


def test_a_full_run_has_every_picture_and_five_draws(data: Path) -> None:
    cases = experiment.cases(False)
    assert len(cases) == 2 * 2 * 5
    assert len({(*case.setting.values(), case.seed) for case in cases}) == len(cases)
