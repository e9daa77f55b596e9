from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from mixsearch import SearchError
from mixsearch.experiments import EXPERIMENTS, Case, Experiment, Progress, Result, Run, find_experiments, run_experiment
from mixsearch.experiments._data import find_missing, get_data_folder


def squares(case: Case) -> Iterator[Result]:
    if case.setting["n"] == 13:
        raise SearchError("unlucky")
    yield Result("power", "square", float(case.setting["n"]) ** 2 + case.seed)


def experiment(*sizes: int, sequential: bool = True) -> Experiment:
    return Experiment(
        name="squares",
        shows="Figure 0",
        title="Squares",
        claim="They grow.",
        cases=lambda quick: [Case({"n": n}, seed) for n in sizes for seed in range(1 if quick else 2)],
        run=squares,
        draw=lambda rows: Figure(),
        table=lambda rows: "",
        seconds=(100.0, 10.0),
        sequential=sequential,
    )


def test_every_case_gives_its_rows_in_order(tmp_path: Path) -> None:
    rows = run_experiment(experiment(3, 4), tmp_path / "rows.csv", Run("1"))
    assert [(row.cell("n"), row.seed, row.value) for row in rows] == [(3, 0, 9), (3, 1, 10), (4, 0, 16), (4, 1, 17)]


@pytest.mark.slow
def test_several_processes_give_the_same_rows(tmp_path: Path) -> None:
    one = run_experiment(experiment(3, 4, 5), tmp_path / "one.csv", Run("1"))
    two = run_experiment(experiment(3, 4, 5, sequential=False), tmp_path / "two.csv", Run("1", n_jobs=2))
    assert list(one) == list(two)


def test_a_run_that_failed_goes_on_where_it_was(tmp_path: Path) -> None:
    path, reports = tmp_path / "rows.csv", list[Progress]()
    with pytest.raises(SearchError, match="unlucky"):
        run_experiment(experiment(3, 13), path, Run("1"))
    rows = run_experiment(experiment(3, 4), path, Run("1"), reports.append)
    assert len(rows) == 4
    assert [each.n_done for each in reports] == [2, 3, 4]
    assert reports[0].seconds_left == pytest.approx(50.0)
    assert reports[-1].seconds_left == 0


@pytest.mark.parametrize("run", [Run("2"), Run("1", quick=True), Run("1", fresh=True)])
def test_rows_of_another_version_or_cost_are_replaced(run: Run, tmp_path: Path) -> None:
    path, reports = tmp_path / "rows.csv", list[Progress]()
    run_experiment(experiment(3), path, Run("1"))
    rows = run_experiment(experiment(3), path, run, reports.append)
    assert reports[0].n_done == 0
    assert {(row.version, row.quick) for row in rows} == {(run.version, run.quick)}


def test_names_are_found_in_the_order_of_the_paper() -> None:
    assert [each.name for each in find_experiments(["gmm-rare", "gmm-error"])] == ["gmm-error", "gmm-rare"]
    assert find_experiments(["all"]) == list(EXPERIMENTS)


def test_an_unknown_name_names_its_nearest() -> None:
    with pytest.raises(SearchError, match="There is no experiment 'gmm-eror'. Nearest: gmm-error."):
        find_experiments(["gmm-eror"])


def test_names_are_different_and_quick_runs_cost_less() -> None:
    assert len({each.name for each in EXPERIMENTS}) == len(EXPERIMENTS)
    for each in EXPERIMENTS:
        assert 0 < each.seconds[1] <= each.seconds[0] / 3


@pytest.mark.parametrize("each", [each for each in EXPERIMENTS if not each.required_files], ids=lambda each: each.name)
def test_a_quick_run_has_fewer_cases_of_the_same_settings(each: Experiment) -> None:
    assert len(each.cases(True)) < len(each.cases(False))
    quick, full = ({tuple(case.setting.items()) for case in each.cases(cost)} for cost in (True, False))
    assert quick == full


def test_files_that_an_experiment_lacks_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXSEARCH_DATA", str(tmp_path))
    (tmp_path / "here.txt").touch()
    assert find_missing(["here.*"]) is None
    assert find_missing(["here.txt", "away.txt"]) == f"{tmp_path} has no away.txt."
    monkeypatch.delenv("MIXSEARCH_DATA")
    assert find_missing(()) is None
    assert "Give their folder with --data, or in the variable MIXSEARCH_DATA." in str(find_missing(["here.txt"]))
    with pytest.raises(SearchError, match="MIXSEARCH_DATA"):
        get_data_folder()
