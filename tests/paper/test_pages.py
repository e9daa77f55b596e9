"""Figures and tables of docs/results/paper-experiments.md are those of the rows in docs/results.

docs/paper.md names functions and experiments that exist, and everything that the paper shows.
"""

import pkgutil
import re
from pathlib import Path

import pytest
from paper_experiments.__main__ import (
    EXPERIMENTS,
    FIGURES,
    PAGE,
    ROWS,
    ROWS_KEY,
    compute_checksum,
    format_block,
    split_page,
)
from paper_experiments.experiment import read_rows
from PIL import Image

NUMBER = re.compile(r"\d[\d,]*\.?\d*")


def differ(shown, expected):
    """Return whether a number differs from the expected one by more than half a unit of its last digit."""
    unit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(shown.replace(",", "")) - float(expected.replace(",", ""))) > 0.5 * unit


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_the_figure_and_the_table_of_the_page_come_from_the_stored_rows(experiment):
    rows = ROWS / f"{experiment.name}.csv"
    with Image.open(FIGURES / f"{experiment.name}.png") as figure:
        assert figure.info[ROWS_KEY] == compute_checksum(rows), "draw it again: python -m paper_experiments --page"
    _, shown, _ = split_page(PAGE.read_text(encoding="utf-8"), experiment.name)
    expected = format_block(experiment, read_rows(rows))
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", expected)
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(expected), strict=True)
    assert [pair for pair in pairs if differ(*pair)] == []


def test_the_page_shows_every_figure_and_no_other():
    names = {experiment.name for experiment in EXPERIMENTS}
    assert set(re.findall(r"pictures/results/([\w-]+)\.png", PAGE.read_text(encoding="utf-8"))) == names
    for files in (ROWS.glob("*.csv"), FIGURES.iterdir()):
        assert {path.stem for path in files} == names


PAPER = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.*?) \| .* \|(.*)\|$", PAPER.partition("| paper | content |")[2].partition("\n\n")[0], re.M)[
    1:
]
KINDS = r"(algorithm|equation|figure|lemma|section|table|theorem)s? (\d[\d., and]*)"


def list_numbers(text):
    """Return what a text names of the paper, such as ("figure", "1")."""
    return {
        (kind, number)
        for kind, numbers in re.findall(KINDS, text.lower())
        for number in re.findall(r"\d(?:[\d.]*\d)?", numbers)
    }


def test_names_on_the_page_exist():
    names, missing = sorted(set(re.findall(r"`(mixsearch(?:\.\w+)+)`", PAPER))), []
    assert len(names) > 12
    for name in names:
        try:
            pkgutil.resolve_name(name)
        except (AttributeError, ImportError):
            missing.append(name)
    assert missing == []


def test_every_experiment_is_beside_what_it_shows():
    shown = {}
    for paper, experiments in TABLE:
        for name in re.findall(r"`([\w-]+)`", experiments):
            shown.setdefault(name, set()).update(list_numbers(paper))
    known = {experiment.name: list_numbers(experiment.shows) for experiment in EXPERIMENTS}
    assert [name for name in shown if name not in known] == []
    assert [name for name, numbers in known.items() if not numbers <= shown.get(name, set())] == []


def test_the_table_has_all_algorithms_figures_and_tables():
    numbers = set().union(*(list_numbers(paper) for paper, _ in TABLE))
    for kind, last in {"algorithm": 3, "equation": 4, "figure": 9, "table": 3}.items():
        assert {number for each, number in numbers if each == kind} == {str(i) for i in range(1, last + 1)}
    # The main theorems and lemmas, and those of the moments.
    assert {("theorem", number) for number in ["1", "3", "6", "8", "10", "12", "13", "27"]} <= numbers
    assert {("lemma", number) for number in ["2", "4", "5", "11"]} <= numbers
