import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.image import imread
from numpy.testing import assert_allclose
from tests.coded import raises
from tests.unit.table.planted import make_patients

from mixsearch import GaussianSearch, RegressionSearch, TableComponent, TableSearch, TopicSearch
from mixsearch.core.spectrum import Spectrum
from mixsearch.datasets import make_gaussian_mixture, make_mixed_regression, make_topics
from mixsearch.datasets.mixtures import GaussianMixtureData
from mixsearch.datasets.topics import TopicData
from mixsearch.display import plain_chance
from mixsearch.errors import SearchWarning
from mixsearch.gaussian import GaussianComponent
from mixsearch.index import TopicGroups
from mixsearch.index.groups import GroupedTopic, GroupShare
from mixsearch.plots import (
    plot_component,
    plot_groups,
    plot_members,
    plot_regression,
    plot_spectrum,
    plot_topic,
    save_figure,
)
from mixsearch.plots.style import FOUND_COLOR, HINT_COLOR
from mixsearch.topics.component import Topic


@pytest.fixture(scope="module")
def topics_data() -> TopicData:
    return make_topics(1500, 80, 4, mean_length=60, random_state=0)


@pytest.fixture(scope="module")
def topic_search(topics_data: TopicData) -> TopicSearch:
    vocabulary = [f"{word}_$x$" for word in topics_data.vocabulary]  # would be a formula if it were read as one
    search = TopicSearch(4, alpha0=topics_data.alpha.sum(), damping=False)
    return search.fit(topics_data.counts, vocabulary=vocabulary)


@pytest.fixture(scope="module")
def topics(topics_data: TopicData, topic_search: TopicSearch) -> dict[str, Topic]:
    assert topic_search.vocabulary_ is not None
    hints = [topic_search.vocabulary_[topics_data.labelled_word(i)] for i in range(4)]
    return {hint: topic_search.search(words=[hint]) for hint in hints}


@pytest.fixture(scope="module")
def gaussians() -> GaussianMixtureData:
    return make_gaussian_mixture(1000, 20, 4, random_state=0)


@pytest.fixture(scope="module")
def component(gaussians: GaussianMixtureData) -> GaussianComponent:
    members = gaussians.X[gaussians.labels == gaussians.labels[0]]
    return GaussianSearch(4).fit(gaussians.X).search(examples=members[:3])


def bar_names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def bar_lengths(axes: Axes) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


def texts_of(axes: Axes) -> str:
    return " ".join([axes.get_title("left"), *(text.get_text() for text in axes.texts)])


def test_a_topic_shows_its_likeliest_words_from_the_top(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    words = plot_topic(topic, n_words=6).axes[0]
    assert list(zip(bar_names(words), bar_lengths(words), strict=True)) == topic.top_words(6)
    assert words.yaxis_inverted()


def test_whiskers_are_one_standard_error_of_the_words_that_they_are_drawn_on(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    columns = [topic._vocabulary.index(word) for word, _ in topic.top_words(6)]
    figure = plot_topic(topic, n_words=6, errors=True)
    words = figure.axes[0]
    whiskers = next(each for each in words.containers if isinstance(each, ErrorbarContainer)).lines[2][0].get_segments()
    ends = np.array([segment[:, 0] for segment in whiskers])
    assert_allclose(ends.mean(axis=1), topic.probabilities[columns])
    assert_allclose(np.ptp(ends, axis=1), 2 * topic.stderr.center[columns])
    assert ends.max() < words.get_xlim()[1]
    assert texts_of(words).count("±") == 7  # of six words and the weight
    assert figure.get_suptitle().endswith(f"Confidence {plain_chance(topic.confidence)}")
    assert "±" not in texts_of(plot_topic(topic, n_words=6).axes[0])


def test_a_topic_is_compared_with_the_topics_that_take_most_of_the_rest_of_the_hint(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    shares = bar_lengths(plot_topic(topic).axes[1])
    assert shares[0] == topic.share
    assert shares[1:] == sorted((each.share for each in topic.alternatives), reverse=True)


def test_samples_are_coloured_by_their_membership(component: GaussianComponent, gaussians: GaussianMixtureData) -> None:
    samples = plot_component(component, gaussians.X).axes[0].collections[0]
    assert_allclose(samples.get_array(), np.sort(component.membership(gaussians.X)))


def test_the_center_found_lies_on_the_first_axis_and_its_runner_up_above_it(
    component: GaussianComponent, gaussians: GaussianMixtureData
) -> None:
    _, found, others = plot_component(component, gaussians.X).axes[0].collections
    assert_allclose(found.get_offsets(), [[np.linalg.norm(component._point), 0]], atol=1e-12)
    runner_up = component.alternatives[0]._point
    assert len(others.get_offsets()) == len(component.alternatives)
    assert_allclose(np.linalg.norm(others.get_offsets()[0]), np.linalg.norm(runner_up))
    assert others.get_offsets()[0, 1] > 0


@pytest.fixture(scope="module")
def counted(gaussians: GaussianMixtureData) -> Spectrum:
    return GaussianSearch("auto").fit(gaussians.X).spectrum_


def test_a_counted_spectrum_tells_directions_that_count_from_the_others(counted: Spectrum) -> None:
    axes = plot_spectrum(counted).axes[0]
    bars = {each.get_label(): each for each in axes.containers}
    for name, colour, chosen in (
        ("signal", FOUND_COLOR, counted.counts),
        ("noise", HINT_COLOR, ~counted.counts),
    ):
        points = bars[f"Held out: {name}"].lines[0]
        shown = np.flatnonzero(chosen)[: len(points.get_xdata())]
        assert to_rgba(points.get_color()) == to_rgba(colour)
        assert_allclose(points.get_xdata(), shown + 1)
        assert_allclose(points.get_ydata(), counted.held_out[shown])
    assert "4 components: 3 of 19 directions are signal" in texts_of(axes)
    assert axes.get_ylabel().startswith("Signal above the noise level")


@pytest.fixture(scope="module")
def members() -> TableComponent:
    return TableSearch().fit(make_patients(), id="patient").search([0, 3, 6], not_examples=[1])


def panels_of(figure) -> list[list[Axes]]:
    """The grid of a figure of members, whose first axes are its panels."""
    side = round(len([each for each in figure.axes if each.get_subplotspec() is not None]) ** 0.5)
    return [figure.axes[side * row : side * (row + 1)] for row in range(side)]


def test_a_dot_is_a_row_in_the_units_of_the_table_with_its_membership_as_color(members):
    panel = panels_of(plot_members(members, ["age", "weight (kg)"]))[1][0]
    dots, crossed, marked = panel.collections
    table, order = make_patients(), np.argsort(members.membership, kind="stable")
    xy = np.column_stack([table["age"].to_numpy(), table["weight (kg)"].to_numpy()])
    assert_allclose(dots.get_offsets(), xy[order])
    assert_allclose(dots.get_array(), members.membership[order])
    assert_allclose(crossed.get_offsets(), xy[[1]])
    assert_allclose(marked.get_offsets(), xy[[0, 3, 6]])


@pytest.mark.parametrize(
    ("columns", "code"),
    [(["ward"], "nothing_to_plot"), (["height"], "unknown_column")],
)
def test_columns_that_cannot_be_drawn_are_named(members, columns, code):
    with raises(code):
        plot_members(members, columns)


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_line_is_drawn_among_its_samples(n_features: int) -> None:
    data = make_mixed_regression(500, 3, 2, intercept=1.0, random_state=0)
    X, y = data.X[:, :n_features], data.y
    few = np.flatnonzero(data.labels == 0)[:6]
    labels = np.where(np.isin(np.arange(500), few), 1, -1)
    search = RegressionSearch(2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchWarning)
        found = search.search(examples=(X[few], y[few]), refine=True)
    axes, _ = plot_regression(found, X, y, labels, [*(f"x_{j}$" for j in range(n_features)), "y"]).axes
    (line,) = axes.lines
    x, height = line.get_data()
    assert_allclose(height, x * found.center[0] + found.intercept if n_features == 1 else x)
    assert axes.get_xlabel() == ("x_0$" if n_features == 1 else "Predicted y")
    assert axes.get_ylabel() == "y"
    samples, *_, known = axes.collections
    assert_allclose(samples.get_array(), np.sort(found.membership(X, y)))
    assert len(known.get_offsets()) == len(few)
    assert "One of 2" in axes.texts[0].get_text()


def make_grouped(kind: str, n_holding: int | None = 3, n_topics: int = 2) -> TopicGroups:
    labels = ["2019", "$x$", "2021"] if kind == "category" else ["2019", "2020", "2021"]
    groups = [
        GroupShare(label, 10 * i, 0.1 * i, 0.05 * i, 0.2 * i, 0.02, i, i / 4, 4 * i, n_holding)
        for i, label in enumerate(labels, 1)
    ]
    empty = GroupShare("2022", 0, None, None, None, None, None, None, None, n_holding and 0)
    topics = tuple(GroupedTopic(f"topic {i} $y$", ("word",), (*groups, empty)) for i in range(n_topics))
    starts = ("2019-01-01", "2020-01-01", "2021-01-01", "2022-01-01") if kind == "period" else None
    return TopicGroups("year", kind, None, None, 2, starts, topics)


@pytest.mark.parametrize("kind", ["period", "number", "range"])
def test_topics_over_time_are_lines_with_bands(kind: str, tmp_path: Path) -> None:
    figure = plot_groups(make_grouped(kind))
    axes, below = figure.axes
    assert [line.get_label() for line in axes.lines] == ["topic 0 $y$", "topic 1 $y$"]
    assert_allclose(axes.lines[0].get_ydata(), [0.1, 0.2, 0.3, np.nan])
    assert len(axes.collections) == 4
    assert_allclose(below.lines[0].get_ydata(), [0.3, 0.15, 0.1, np.nan])
    assert "2 documents without a value" in axes.texts[0].get_text()
    assert imread(save_figure(figure, tmp_path / "over.png")).ndim == 3


def test_topics_by_group_are_bars_with_whiskers(tmp_path: Path) -> None:
    figure = plot_groups(make_grouped("category"))
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "2019  (10)",
        "$x$  (20)",
        "2021  (30)",
        "2022  (0)",
    ]
    assert len(axes.patches) == 8
    assert sum(isinstance(each, ErrorbarContainer) for each in axes.containers) == 2
    assert imread(save_figure(figure, tmp_path / "by.png")).ndim == 3


def test_a_tiny_group_does_not_stretch_the_axis_of_all_others() -> None:
    usual = [GroupShare(name, 1000, 0.03, 0.02, 0.04, 0.004, 30, 0.03, 900, None) for name in "abc"]
    tiny = GroupShare("d", 2, 0.05, 0.0, 0.6, 0.1, 0, 0.0, 1, None)
    figures = [
        plot_groups(TopicGroups("service", "category", None, None, 0, None, (GroupedTopic("x", ("w",), groups),)))
        for groups in ((*usual, tiny), tuple(usual))
    ]
    (cut,), (whole,) = (figure.axes for figure in figures)
    assert cut.get_xlim() == whole.get_xlim()
    assert whole.get_xlim()[1] > 0.04
    (arrow,) = (line for line in cut.lines if line.get_marker() == ">" and len(line.get_ydata()))
    assert_allclose(arrow.get_ydata(), [3])
    assert "arrow: ends beyond the axis" in cut.texts[0].get_text()
    assert "arrow" not in whole.texts[0].get_text()
