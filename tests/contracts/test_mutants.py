"""Every mutant of `benchmarks/mutants.py` still finds the text that it changes, and the tests that should notice."""

from pathlib import Path

import pytest
from benchmarks.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_source_once_and_names_tests(mutant: Mutant) -> None:
    source = (ROOT / "src" / "mixsearch" / mutant.path).read_text(encoding="utf-8")
    assert mutant.apply(source) is not None
    assert all((ROOT / "tests" / "unit" / test).exists() for test in mutant.tests)
