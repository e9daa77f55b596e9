import numpy as np
import pytest

from mixsearch.experiments import Row, Rows
from mixsearch.experiments._comparison import Comparison
from mixsearch.experiments._figures import compute_ratio

OVER = Comparison("TPM", "weight")


def rows_at(errors: dict[str, list[float]], metric: str = "error") -> Rows:
    return Rows(
        Row("e", {"moments": "our", "sigma": sigma, "n": 100}, seed, method, metric, "5%", value, "", "1", False)
        for method, values in errors.items()
        for sigma in (0.4, 0.5)
        for seed, value in enumerate(values)
    )


def test_the_gain_is_the_paper_s() -> None:
    gain = OVER.gain(rows_at({"whitening": [1.0, 2.0], "TPM": [2.0, 4.0]}), "whitening")
    assert gain.value == pytest.approx(50)
    assert gain.stderr == pytest.approx(0, abs=1e-12)


def test_a_worse_method_has_a_negative_gain() -> None:
    assert OVER.gain(rows_at({"whitening": [3.0], "TPM": [2.0]}), "whitening").value == pytest.approx(-50)


def test_a_speedup_is_how_many_times_faster() -> None:
    assert OVER.speedup(rows_at({"whitening": [0.5], "TPM": [2.0]}, "seconds"), "whitening").value == pytest.approx(4)


def test_the_error_of_a_ratio_is_that_of_many_draws() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = rng.gamma(20, 1 / 20, size=(2, 4000, 30)) * rng.gamma(20, 1 / 20, size=(4000, 30))
    drawn = ours.mean(axis=1) / theirs.mean(axis=1)
    mean_stderr = np.mean([compute_ratio(a, b).stderr for a, b in zip(ours[:500], theirs[:500], strict=True)])
    assert mean_stderr == pytest.approx(drawn.std(), rel=0.1)


def test_figures_have_a_panel_for_each_size_and_choice_and_show_the_oracle_last() -> None:
    rows = rows_at({"whitening": [1.0, 2.0], "TPM": [2.0, 4.0], "oracle": [0.5, 0.5]})
    figure = OVER.draw_gains(rows, "Gains")
    assert len(figure.axes) == 1
    heights = [patch.get_height() for patch in figure.axes[0].patches]
    assert heights == pytest.approx([50, 50, 100 * (1 - 1 / 6), 100 * (1 - 1 / 6)])
    assert figure.legends[0].get_texts()[0].get_text() == "whitening, σ=0.4"


def test_a_legend_of_many_methods_stays_within_the_figure() -> None:
    names = [f"method {i}" for i in range(8)]
    figure = OVER.draw_gains(rows_at({name: [1.0, 2.0] for name in [*names, "TPM"]}), "Gains")
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 16
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_tables_show_means_and_gains() -> None:
    table = OVER.format_errors(rows_at({"whitening": [1.0, 2.0], "TPM": [2.0, 4.0], "oracle": [0.5, 0.5]}))
    assert "| our | 0.4 | 100 | 1.5 (+50.0 ± 0.0%) | 0.5 (+83.3 ± 6.2%) | 3 |" in table
