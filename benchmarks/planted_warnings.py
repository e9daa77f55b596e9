"""Which warnings wrong and right answers of planted data have: the cases of tests/statistical/test_warnings.py.

Each warning must be issued for at least 80% of wrong answers, and for at most 5% of right ones.
"""

from __future__ import annotations

import argparse

import measuring
from joblib import Parallel, delayed
from tests.statistical.test_warnings import CASES, Case, count_fired


def count_both(case: Case) -> tuple[str, ...]:
    cells = ["{} of {}".format(*count_fired(case, run)) for run in (case.wrong, case.right)]
    return (case.family, case.code, case.fault, *cells)


def run(*, quick: bool = False, only: str = "") -> None:
    cases = [case for case in CASES if only in case.family]
    with Parallel(n_jobs=measuring.N_THREADS, batch_size=1) as parallel:
        rows = parallel(delayed(count_both)(case) for case in cases[: 3 if quick else None])
    columns = ("family", "warning", "planted fault", "fired in wrong", "fired in right")
    measuring.print_table("Planted warnings", columns, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="families with this in their name")
    parser.add_argument("--quick", action="store_true", help="three cases")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only)
