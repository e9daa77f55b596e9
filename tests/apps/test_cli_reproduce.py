import json
import sys
from pathlib import Path

import pytest
from tests.apps.cli_corpus import invoke

from mixsearch.cli import _experiments
from mixsearch.experiments import EXPERIMENTS, Case, Experiment, Result, _registry


def small(name: str, required_files: tuple[str, ...] = ()) -> Experiment:
    (likeness,) = (each for each in EXPERIMENTS if each.name == "regression-error")
    return Experiment(
        name=name,
        shows="Figure 0",
        title="A small one",
        claim="It is small.",
        cases=lambda quick: [Case({"sigma": 0.1, "n": n}, 0) for n in (100, 200)],
        run=lambda case: [Result("EM", metric, 1.0, target="20%") for metric in ("error", "seconds")],
        draw=likeness.draw,
        table=likeness.table,
        seconds=(60.0, 6.0),
        sequential=True,
        required_files=required_files,
    )


@pytest.fixture(autouse=True)
def _small_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    experiments = small("first"), small("second", ("texts/*.txt",))
    monkeypatch.setattr(_registry, "EXPERIMENTS", experiments)
    monkeypatch.setattr(_experiments, "EXPERIMENTS", experiments)
    monkeypatch.delenv("MIXSEARCH_DATA", raising=False)


def reproduce(*arguments: object) -> tuple[int, str, str]:
    result = invoke("reproduce", *arguments)
    return result.exit_code, result.stdout, result.stderr


def test_without_a_name_it_lists_what_there_is_and_what_it_lacks() -> None:
    code, out, _ = reproduce()
    assert code == 0
    assert "first  Figure 0; 1 min, quick 10.0 s" in out
    assert "This experiment reads real data." in out


def test_the_list_for_programs_has_the_claims() -> None:
    _, out, _ = reproduce("--json")
    first, second = json.loads(out)
    assert (first["claim"], first["missing"]) == ("It is small.", None)
    assert "--data" in second["missing"]


def test_it_leaves_rows_a_figure_and_a_table(tmp_path: Path) -> None:
    code, out, _ = reproduce("first", "--quick", "-o", tmp_path / "new")
    assert code == 0
    assert "first  4 rows in" in out
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["first.csv", "first.md", "first.png"]
    assert "The paper's claim: It is small." in (tmp_path / "new" / "first.md").read_text()


def test_for_programs_it_names_what_it_wrote(tmp_path: Path) -> None:
    _, out, _ = reproduce("first", "-o", tmp_path, "--json")
    (done,) = json.loads(out)
    assert done["n_rows"] == 4
    assert Path(done["figure"]).stat().st_size > 1000


def test_all_leaves_out_what_has_no_data_and_says_so(tmp_path: Path) -> None:
    code, out, err = reproduce("all", "-o", tmp_path)
    assert code == 0
    assert "second is left out. This experiment reads real data." in err
    assert "second" not in out


def test_an_experiment_without_its_data_is_an_error(tmp_path: Path) -> None:
    code, _, err = reproduce("second", "-o", tmp_path, "--data", tmp_path)
    assert code == 1
    assert err.strip() == f"{tmp_path} has no texts/*.txt."


def test_an_unknown_name_is_an_error() -> None:
    code, _, err = reproduce("furst")
    assert code == 1
    assert "There is no experiment 'furst'. Nearest: first. Use all for every experiment." in err


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("mixsearch.plots")
    monkeypatch.delitem(sys.modules, "mixsearch.plots")
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    code, _, err = reproduce()
    assert code == 1
    assert "pip install 'mixsearch[cli]'" in err
