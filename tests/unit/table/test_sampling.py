import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mixsearch import TableSearch
from mixsearch.table import _fit
from mixsearch.table._sampling import draw_uniform, spread_rows


def test_positions_are_drawn_evenly_and_by_themselves():
    whole = draw_uniform(0, 100_000)
    assert_array_equal(np.concatenate([draw_uniform(0, 7), draw_uniform(7, 99_993)]), whole)
    assert_allclose(np.histogram(whole, 10, (0, 1))[0], 10_000, rtol=0.05)
    assert abs(np.corrcoef(whole[1:], whole[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize(("n", "max_rows"), [(10, 10), (11, 10), (1000, 30), (1001, 1000), (5, 1)])
def test_one_row_of_each_run_is_drawn(n, max_rows):
    rows, step = spread_rows(n, max_rows), -(-n // max_rows)
    assert_array_equal(rows // step, np.arange(-(-n // step)))
    assert len(rows) <= max_rows
    assert rows.max() < n


def test_groups_that_take_turns_all_have_nodes(monkeypatch):
    """With every sixth row as a node, two of three groups that take turns would have none."""
    for name in ("MAX_NODES", "N_NODES", "MAX_MIXTURE_ROWS"):
        monkeypatch.setattr(_fit, name, 100)
    group = np.arange(600) % 3
    X = 8 * np.eye(3)[group] + np.random.default_rng(0).normal(size=(600, 3))
    search = TableSearch().fit(X)
    for asked in range(3):
        called = search.search(like=np.flatnonzero(group == asked)[:3]).predict()
        assert_allclose([called[group == each].mean() for each in range(3)], np.eye(3)[asked], atol=0.1)
