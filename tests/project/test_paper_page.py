"""The page about the paper names functions and experiments that exist, and everything that the paper shows."""

import pkgutil
import re
from pathlib import Path

from paper_experiments.__main__ import EXPERIMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
TABLE = re.findall(r"^\| (.*?) \| .* \|(.*)\|$", PAGE.partition("| paper | content |")[2].partition("\n\n")[0], re.M)[
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
    names, missing = sorted(set(re.findall(r"`(mixsearch(?:\.\w+)+)`", PAGE))), []
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
