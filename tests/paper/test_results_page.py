"""Figures and tables of docs/results/paper-experiments.md are those of the rows in docs/results."""

import re

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
