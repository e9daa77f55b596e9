import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.font_manager import findfont, fontManager
from matplotlib.ft2font import FT2Font
from matplotlib.image import imread
from numpy.testing import assert_allclose
from tests.unit.table.planted import make_patients

from mixsearch import GaussianSearch, RegressionSearch, SearchError, TableComponent, TableSearch, TopicSearch
from mixsearch.core.rank_selection import Spectrum
from mixsearch.core.separation import verdict
from mixsearch.datasets import GaussianMixtureData, TopicData, make_gaussian_mixture, make_mixed_regression, make_topics
from mixsearch.display import plain_chance
from mixsearch.errors import SearchWarning
from mixsearch.gaussian._component import GaussianComponent
from mixsearch.index import GroupedTopic, GroupShare, TopicGroups
from mixsearch.plots import (
    FOUND_COLOR,
    HINT_COLOR,
    plot_component,
    plot_groups,
    plot_members,
    plot_regression,
    plot_spectrum,
    plot_topic,
    plot_topics,
    save_figure,
)
from mixsearch.topics import Topic


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


def test_each_of_many_topics_has_whiskers_and_its_confidence(topics: dict[str, Topic]) -> None:
    for panel, topic in zip(plot_topics(topics, n_words=5, errors=True).axes, topics.values(), strict=False):
        assert f"Confidence {plain_chance(topic.confidence)}" in texts_of(panel)
        assert texts_of(panel).count("±") == 5


def test_a_topic_is_compared_with_the_topics_that_take_most_of_the_rest_of_the_hint(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    shares = bar_lengths(plot_topic(topic).axes[1])
    assert shares[0] == topic.share
    assert shares[1:] == sorted((each.share for each in topic.alternatives), reverse=True)


def test_the_title_of_a_topic_says_how_far_it_was_singled_out(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    assert verdict(topic.separation) in plot_topic(topic).get_suptitle()


def test_the_only_topic_of_a_fit_is_drawn_without_alternatives(topic_search: TopicSearch) -> None:
    topic = topic_search.search(words=[0], n_components=1)
    assert len(bar_lengths(plot_topic(topic).axes[1])) == 1


def test_every_hint_gets_a_panel_and_the_rest_of_the_grid_stays_empty(topics: dict[str, Topic]) -> None:
    axes = plot_topics(topics).axes
    assert [panel.get_title("left") for panel in axes if panel.axison] == list(topics)
    assert len(axes) == 6
    for panel, topic in zip(axes, topics.values(), strict=False):
        assert verdict(topic.separation) in texts_of(panel)


def test_the_words_of_a_hint_are_set_off_among_the_words_of_its_topic(topics: dict[str, Topic]) -> None:
    topic = next(iter(topics.values()))
    first, second, third = (word for word, _ in topic.top_words(3))
    panel = plot_topics({f"{first} {third}": topic}, n_words=3).axes[0]
    assert bar_names(panel) == [first, second, third]
    assert [bar.get_facecolor() for bar in panel.patches] == [
        to_rgba(HINT_COLOR),
        to_rgba(FOUND_COLOR),
        to_rgba(HINT_COLOR),
    ]


def test_no_topics_make_no_picture() -> None:
    with pytest.raises(SearchError, match="no topics to draw. Give at least one"):
        plot_topics({})


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


def test_members_lie_around_the_center_found(component: GaussianComponent, gaussians: GaussianMixtureData) -> None:
    members = gaussians.X[gaussians.labels == gaussians.labels[0]]
    samples, found, _ = plot_component(component, members).axes[0].collections
    assert_allclose(samples.get_offsets().mean(axis=0), found.get_offsets()[0], atol=0.1)


def test_known_members_are_ringed(component: GaussianComponent, gaussians: GaussianMixtureData) -> None:
    labels = np.full(len(gaussians.X), -1)
    labels[[4, 7]] = 1
    axes = plot_component(component, gaussians.X, labels).axes[0]
    assert len(axes.collections[-1].get_offsets()) == 2
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Center found", "Alternatives", "Known members"]


def test_the_colour_bar_and_the_axes_of_a_component_say_what_they_show(
    component: GaussianComponent, gaussians: GaussianMixtureData
) -> None:
    axes, bar = plot_component(component, gaussians.X).axes
    assert bar.get_ylabel() == "Probability of membership"
    assert axes.get_xlabel() == "Along the center found"
    assert axes.get_ylabel() == "Along the runner-up"
    assert verdict(component.separation) in axes.get_title("left")


def test_labels_of_another_length_are_refused(component: GaussianComponent, gaussians: GaussianMixtureData) -> None:
    with pytest.raises(SearchError, match="There are 2 labels for 1000 samples"):
        plot_component(component, gaussians.X, [1, -1])


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_a_component_without_a_runner_up_is_refused(gaussians: GaussianMixtureData) -> None:
    lone = GaussianSearch(1).fit(gaussians.X).search(examples=gaussians.X[:3])
    with pytest.raises(SearchError, match="The component has no alternatives"):
        plot_component(lone, gaussians.X)


def test_a_spectrum_shows_every_eigenvalue_on_a_logarithmic_axis_that_says_what_it_is() -> None:
    values = [0.1, 0.02, 0.015]
    axes = plot_spectrum(values).axes[0]
    (line,) = axes.lines
    assert_allclose(np.asarray(line.get_xydata()), [[1, 0.1], [2, 0.02], [3, 0.015]])
    assert axes.get_yscale() == "log"
    assert axes.get_xlabel() == "Component"
    assert axes.get_ylabel() == "Eigenvalue of the second moment"
    assert "3 eigenvalues" in texts_of(axes)
    assert "from 0.1 to 0.015" in texts_of(axes)


@pytest.mark.parametrize("values", [[], [0.1, 0.0]])
def test_a_spectrum_without_positive_eigenvalues_is_refused(values: list[float]) -> None:
    with pytest.raises(SearchError, match="at least one eigenvalue, and all must be positive"):
        plot_spectrum(values)


def test_a_fit_with_a_number_shows_its_eigenvalues(gaussians: GaussianMixtureData) -> None:
    search = GaussianSearch(4).fit(gaussians.X)
    (line,) = plot_spectrum(search).axes[0].lines
    assert_allclose(np.asarray(line.get_ydata()), search._family.frame.values[1:])


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


def test_a_counted_spectrum_may_come_with_its_search(gaussians: GaussianMixtureData, counted: Spectrum) -> None:
    one, other = (plot_spectrum(each).axes[0] for each in (GaussianSearch("auto").fit(gaussians.X), counted))
    assert texts_of(one) == texts_of(other)


def test_the_spectrum_of_topics_has_no_noise_level(topics_data: TopicData) -> None:
    search = TopicSearch("auto", alpha0=topics_data.alpha.sum(), damping=False).fit(topics_data.counts)
    axes = plot_spectrum(search).axes[0]
    assert axes.get_ylabel() == "Signal"
    assert "4 components" in texts_of(axes)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UnlikelyMixtureWarning")
def test_a_spectrum_without_directions_is_refused() -> None:
    lone = GaussianSearch("auto").fit(np.random.default_rng(0).standard_normal((30, 1)))
    with pytest.raises(SearchError, match="The spectrum has no directions"):
        plot_spectrum(lone)


@pytest.mark.slow
def test_pictures_are_saved_in_the_size_they_were_drawn(topics: dict[str, Topic], tmp_path: Path) -> None:
    figure = plot_topics(topics)
    path = save_figure(figure, tmp_path / "topics.png")
    width, height = figure.get_size_inches() * figure.dpi
    image = imread(path)
    assert_allclose(image.shape[:2], (height, width), atol=1)
    assert image.std() > 0


def test_pictures_need_no_screen_and_no_global_state(topics: dict[str, Topic]) -> None:
    assert plot_topics(topics).canvas.manager is None


def test_a_picture_that_cannot_be_written_leaves_the_old_one_and_no_pieces(
    topics: dict[str, Topic], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "topics.png"
    old.write_bytes(b"old")
    figure = plot_topics(topics)

    def write_half(path: Path, **options: str) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", write_half)
    with pytest.raises(OSError, match="disk full"):
        save_figure(figure, old)
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]


def test_without_matplotlib_the_error_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.delitem(sys.modules, "mixsearch.plots")
    with pytest.raises(ImportError, match=r"Plots need matplotlib. Install it with: pip install 'mixsearch\[plot\]'"):
        importlib.import_module("mixsearch.plots")


def draw_topic(word, topics_data):
    search = TopicSearch(4, alpha0=topics_data.alpha.sum(), damping=False)
    vocabulary = [f"{word}{i}" for i in range(topics_data.counts.shape[1])]
    found = search.fit(topics_data.counts, vocabulary=vocabulary).search(words=[topics_data.labelled_word(0)])
    return plot_topics({word: found})


def test_a_character_that_the_usual_font_lacks_is_drawn_in_another(topics_data, tmp_path):
    usual, other = (set(FT2Font(findfont(name)).get_charmap()) for name in ("DejaVu Sans", "STIXGeneral"))
    letter = chr(min(code for code in other - usual if chr(code).isalpha()))
    figure = draw_topic(letter, topics_data)
    # Any warning is an error here: matplotlib warns of characters that it cannot draw.
    figure.savefig(tmp_path / "topics.png")


def test_characters_without_a_font_are_named(topics_data, tmp_path, monkeypatch):
    usual = [entry for entry in fontManager.ttflist if entry.name.startswith("DejaVu")]
    monkeypatch.setattr(fontManager, "ttflist", usual)
    with pytest.warns(SearchWarning, match="No font of this machine has 司 寿: the figure shows boxes") as warned:
        figure = draw_topic("寿司", topics_data)
    assert warned[0].message.code == "glyphs_missing"
    assert save_figure(figure, tmp_path / "topics.png").exists()


@pytest.fixture(scope="module")
def members() -> TableComponent:
    return TableSearch().fit(make_patients(), id="patient").search([0, 3, 6], not_like=[1])


def panels_of(figure) -> list[list[Axes]]:
    """The grid of a figure of members, whose first axes are its panels."""
    side = round(len([each for each in figure.axes if each.get_subplotspec() is not None]) ** 0.5)
    return [figure.axes[side * row : side * (row + 1)] for row in range(side)]


def test_members_are_drawn_in_the_columns_that_set_them_apart(members):
    panels = panels_of(plot_members(members))
    names = [panel.get_xlabel() for panel in panels[-1]]
    assert names == [each.column for each in members.differences() if each.column != "ward"]
    assert [row[0].get_ylabel() for row in panels[1:]] == names[1:]
    title = texts_of(panels[0][0])
    assert "Rows like P-0, P-3, P-6" in title
    n, low, high = members.n_members
    assert f"{n} members ({low} to {high}) of 150 rows" in title
    assert not any(panel.axison for i, row in enumerate(panels) for panel in row[i + 1 :])


def test_a_dot_is_a_row_in_the_units_of_the_table_with_its_membership_as_color(members):
    panel = panels_of(plot_members(members, ["age", "weight (kg)"]))[1][0]
    dots, crossed, marked = panel.collections
    table, order = make_patients(), np.argsort(members.membership, kind="stable")
    xy = np.column_stack([table["age"].to_numpy(), table["weight (kg)"].to_numpy()])
    assert_allclose(dots.get_offsets(), xy[order])
    assert_allclose(dots.get_array(), members.membership[order])
    assert_allclose(crossed.get_offsets(), xy[[1]])
    assert_allclose(marked.get_offsets(), xy[[0, 3, 6]])


def test_the_ellipse_has_the_covariance_of_the_members(members):
    panel = panels_of(plot_members(members, ["age", "weight (kg)"]))[1][0]
    (ellipse,) = panel.patches
    table = make_patients()
    xy = np.column_stack([table["age"].to_numpy(), table["weight (kg)"].to_numpy()])[members.predict()]
    outline = ellipse.get_patch_transform().transform(unit_circle())
    inverse = np.linalg.inv(np.cov(xy.T))
    offsets = outline - xy.mean(axis=0)
    assert_allclose(np.sqrt(np.einsum("ij,jk,ik->i", offsets, inverse, offsets)), 1.5, rtol=1e-6)


def unit_circle():
    angles = np.linspace(0, 2 * np.pi, 20)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_dates_are_drawn_as_dates(members):
    figure = plot_members(members, ["admitted"])
    figure.canvas.draw()
    panel = figure.axes[0]
    assert panel.get_xlabel() == "admitted"
    assert "2024" in panel.xaxis.get_offset_text().get_text() + " ".join(
        label.get_text() for label in panel.get_xticklabels()
    )


def test_the_title_names_examples_by_the_column_given():
    found = TableSearch().fit(make_patients()).search([0, 3, 6])
    assert "Rows like 0, 3, 6" in texts_of(plot_members(found).axes[0])
    assert "Rows like P-0, P-3, P-6" in texts_of(plot_members(found, id="patient").axes[0])


def test_columns_of_integers_have_integer_ticks():
    rng, group = np.random.default_rng(0), np.arange(120) % 3
    table = {"cylinders": 4 + 2 * group, "weight": 10.0 * group + rng.normal(size=120)}
    figure = plot_members(TableSearch().fit(table).search([0, 3, 6]), ["cylinders", "weight"])
    figure.canvas.draw()
    ticks = panels_of(figure)[-1][0].get_xticks()
    assert len(ticks) > 1
    assert_allclose(ticks, np.round(ticks))


def test_of_many_rows_some_are_drawn_and_wild_values_lie_outside():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 2))
    x[::2] += 10
    x[7] = 1e4
    found = TableSearch(max_components=3).fit(x).search([0, 2, 4])
    panels = panels_of(plot_members(found))
    n_drawn = len(panels[1][0].collections[0].get_offsets())
    assert f"{n_drawn:,} rows drawn" in texts_of(panels[0][0])
    assert n_drawn < 10_000
    assert panels[1][0].get_xlim()[1] < 100


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [(["ward"], "Only columns of numbers or dates can be drawn, not 'ward'"), (["height"], "no column 'height'")],
)
def test_columns_that_cannot_be_drawn_are_named(members, columns, sentence):
    with pytest.raises(SearchError, match=sentence):
        plot_members(members, columns)


def test_a_table_of_categories_has_no_picture():
    rng = np.random.default_rng(0)
    table = {name: rng.choice(list("xyz"), size=60) for name in "abc"}
    with pytest.raises(SearchError, match="no column of numbers or dates") as caught:
        plot_members(TableSearch(max_components=1).fit(table).search([0]))
    assert caught.value.code == "nothing_to_plot"


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


def test_topics_without_known_words_have_one_panel() -> None:
    assert len(plot_groups(make_grouped("period", n_holding=None)).axes) == 1


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


def test_the_subtitle_says_which_whisker_is_which() -> None:
    assert (
        "thin: 95% interval, thick: for comparing" in plot_groups(make_grouped("category")).axes[0].texts[0].get_text()
    )
    assert "light: 95% interval, dark: for comparing" in plot_groups(make_grouped("period")).axes[0].texts[0].get_text()


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


def test_groups_of_no_topics_are_one_sentence() -> None:
    with pytest.raises(SearchError) as caught:
        plot_groups(make_grouped("period", n_topics=0))
    assert caught.value.code == "nothing_to_plot"
