import numpy as np
import pytest

from mixsearch import TableSearch


@pytest.mark.filterwarnings("ignore::mixsearch.errors.UncertainSizeWarning")
@pytest.mark.parametrize("n_levels", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_sign_of_a_category_is_that_of_the_category_shown_first(n_levels, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [60, 140])
    kinds = np.array(["a", "b", "c", "d"])[:n_levels]
    kind = np.where((labels == 0) & (rng.random(200) < 0.8), kinds[seed % n_levels], rng.choice(kinds, 200))
    numbers = rng.normal(size=(200, 2)) + 8 * labels[:, None]
    search = TableSearch().fit({"x": numbers[:, 0], "y": numbers[:, 1], "kind": kind})
    for own in ([0, 1, 2], [100, 101, 102]):
        by_column = {each.column: each for each in search.search(own).differences()}
        members, all_rows = by_column["kind"].members, by_column["kind"].all_rows
        first = next(iter(members))
        assert np.sign(by_column["kind"].effect) == np.sign(members[first] - all_rows[first])
        assert np.sign(by_column["x"].effect) == np.sign(by_column["x"].members - by_column["x"].all_rows)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")
def test_nothing_sets_all_rows_apart():
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=90) + 1e3, "y": rng.normal(size=90) / 7, "kind": rng.choice(["a", "b", "c"], 90)}
    found = TableSearch().fit(table).search(range(90))
    assert [each.effect for each in found.differences()] == [0, 0, 0]
    assert "█" not in repr(found)
    assert "none sets the members apart from all rows" in repr(found)
