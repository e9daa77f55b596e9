"""Plots show the numbers of the answers that they draw, on the axes that they are given."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from tests.coded import raises

import mixsearch
from mixsearch.datasets import make_gaussian_mixture, make_landscape, make_mixed_regression, make_topics
from mixsearch.display import Card, plain_number
from mixsearch.show.plots import (
    plot_component,
    plot_groups,
    plot_members,
    plot_regression,
    plot_segments,
    plot_topic,
)
from mixsearch.topics.groups import GroupedTopic, TopicGroup, TopicGroups


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_topic_shows_its_words_from_the_top(ax, tmp_path):
    data = make_topics(800, 80, 4, mean_length=60, random_state=0)
    vocabulary = [f"{word}_$x$" for word in data.vocabulary]  # would be a formula if it were read as one
    search = mixsearch.TopicSearch(4).fit(data.counts, vocabulary=vocabulary)
    topic = search.search(words=[vocabulary[data.labelled_word(0)]])
    assert plot_topic(topic, 6, ax=ax) is ax
    drawn = [(label.get_text(), bar.get_width()) for label, bar in zip(ax.get_yticklabels(), ax.patches, strict=True)]
    assert drawn == topic.top_words(6)
    assert ax.yaxis_inverted()
    ax.figure.savefig(tmp_path / "topic.png")
    assert imread(tmp_path / "topic.png").std() > 0.02


def make_groups(kind, *judged):
    labels = ["2019", "$x$", "2021"] if kind == "category" else ["2019", "2020", "2021"]
    groups = [TopicGroup(label, None, 10 * i, i * i, 0.1 * i, 0, *judged) for i, label in enumerate(labels, 1)]
    empty = TopicGroup("2022", None, 0, 0, None, 0)
    topics = tuple(GroupedTopic(f"topic {i} $y$", 14, (*groups, empty)) for i in range(2))
    starts = ("2019-01-01", "2020-01-01", "2021-01-01", "2022-01-01") if kind == "period" else None
    over, by = (None, "year") if kind == "category" else ("year", None)
    return TopicGroups(over, by, kind, None, None, 2, starts, topics)


@pytest.mark.parametrize("kind", ["period", "number", "range"])
def test_topics_over_time_are_lines(kind, ax):
    plot_groups(make_groups(kind), ax=ax)
    assert legend_of(ax) == ["topic 0 $y$", "topic 1 $y$"]
    assert_allclose(ax.lines[0].get_ydata(), [0.1, 0.2, 0.3, np.nan])
    assert "2 documents without a value" in ax.texts[0].get_text()
    ax.figure.draw_without_rendering()


def test_topics_by_group_are_bars(ax):
    plot_groups(make_groups("category"), ax=ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["2019  (10)", "$x$  (20)", "2021  (30)", "2022  (0)"]
    assert_allclose([bar.get_width() for bar in ax.patches[:4]], [0.1, 0.2, 0.3, 0.0])
    ax.figure.draw_without_rendering()


def test_judged_groups_have_their_estimates_and_intervals(ax):
    plot_groups(make_groups("period", 12, 0.3, 0.2, 0.5), ax=ax)
    assert_allclose(ax.lines[0].get_ydata(), [0.3, 0.3, 0.3, np.nan])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.2, 0.5)
    bars = Figure().subplots()
    plot_groups(make_groups("category", 12, 0.3, 0.2, 0.5), ax=bars)
    assert_allclose([segment[:, 0] for segment in bars.collections[0].get_segments()[:3]], [[0.2, 0.5]] * 3)


@pytest.fixture(scope="module")
def members():
    return mixsearch.find(load_wine(as_frame=True).data, examples=[0, 5, 9], not_examples=[110])


def test_members_are_dots_in_the_units_of_the_table_with_their_membership_as_color(members, ax):
    plot_members(members, ["alcohol", "hue"], ax=ax)
    dots, examples, not_examples = ax.collections
    xy = load_wine(as_frame=True).data[["alcohol", "hue"]].to_numpy()
    assert_allclose(np.sort(dots.get_array()), np.sort(members.membership))
    assert {tuple(row) for row in dots.get_offsets()} == {tuple(row) for row in xy}
    assert_allclose(examples.get_offsets(), xy[[0, 5, 9]])
    assert_allclose(not_examples.get_offsets(), xy[[110]])
    assert legend_of(ax) == ["Examples", "Not examples"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alcohol", "hue")


def test_columns_of_zeros_and_ones_are_the_last_to_be_drawn(ax):
    rng = np.random.default_rng(0)
    is_member = np.arange(200) < 50
    flag = is_member.astype(float)
    noisy = {name: rng.normal(size=200) + is_member * shift for name, shift in (("x", 2.0), ("y", 1.0))}
    plot_members(mixsearch.find({"flag": flag, **noisy}, examples=[0, 1, 2, 3]), ax=ax)
    assert {ax.get_xlabel(), ax.get_ylabel()} == {"x", "y"}


@pytest.mark.parametrize(("columns", "code"), [(["alcohol"], "nothing_to_plot"), (["hue", "height"], "unknown_column")])
def test_columns_that_cannot_be_drawn_are_named(members, columns, code, ax):
    with raises(code):
        plot_members(members, columns, ax=ax)


def test_a_gaussian_lies_apart_from_its_runner_up(ax):
    data = make_gaussian_mixture(1000, 20, 4, random_state=0)
    found = mixsearch.GaussianSearch(4).fit(data.X).search(examples=data.X[:1])
    plot_component(found, data.X, np.arange(1000) == 0, ax=ax)
    samples, others, center, examples = ax.collections
    assert_allclose(samples.get_array(), np.sort(found.membership(data.X)))
    # The horizontal axis is the direction between the two centers, so their distance along it is the whole distance.
    apart = center.get_offsets()[0] - others.get_offsets()[0]
    assert_allclose(apart, [np.linalg.norm(found.center - found.alternatives[0].center), 0], atol=1e-9)
    assert len(examples.get_offsets()) == 1
    assert legend_of(ax) == ["Other centers", "Center found", "Examples"]
    with raises("bad_labels"):
        plot_component(found, data.X, np.ones(3), ax=ax)


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_line_is_drawn_among_its_samples(n_features, ax):
    data = make_mixed_regression(500, 3, 2, random_state=0)
    X, examples = data.X[:, :n_features], np.flatnonzero(data.labels == 0)[:8]
    found = mixsearch.RegressionSearch(2).fit(X, data.y).search(examples=(X[examples], data.y[examples]), refine=True)
    plot_regression(found, X, data.y, np.isin(np.arange(500), examples), ax=ax)
    x, height = ax.lines[0].get_data()
    assert_allclose(height, found.predict(x[:, None]) if n_features == 1 else x)
    assert legend_of(ax) == ["95% of members", "Line found", "Examples"]


def test_segments_are_named_with_their_shares(ax):
    scene = make_landscape(60, 90, random_state=0)
    found = mixsearch.segment(scene.image, scene.seeds)
    plot_segments(found, ax=ax)
    assert ax.images[0].get_array().shape == (60, 90, 3)
    assert legend_of(ax) == [f"{name}, {share:.0%}" for name, share in zip(found.names, found.shares, strict=True)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.12345, "0.123"),
        (12345.6, "12,346"),
        (float("inf"), "∞"),
    ],
)
def test_numbers_are_written_for_people(number, text):
    assert plain_number(number) == text


CARD = Card("A <b>topic</b>", [("weight", "3%")], [("<script>", 2.0), ("beta", 1.0), ("gamma", -1.0)], "words")


def test_text_has_a_bar_in_proportion_to_each_value():
    lines = CARD.text().splitlines()
    bars = [line.count("█") for line in lines]
    assert bars[-3] == 2 * bars[-2] > 0
    assert bars[-1] == 0


def test_html_escapes_whatever_the_words_hold():
    page = CARD.html()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;" in page
