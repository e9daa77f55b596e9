"""Whether wrong answers are flagged, and right ones are not, on data and hints from clean to hopeless.

Every run draws samples and a hint, and searches once. What makes an answer right is fixed for every family, in the
docstring of its cases: about as exact as an estimate that knows all labels. Where a hint means no component (it says
nothing, or contradicts itself) every answer is wrong. An answer is flagged if it carries warnings, if its confidence is
below .5, or if the search ends with an error that says why. Warnings of the fit are no flag: what they mean for an
answer is among them. A row holds if at least 95 % of wrong answers are flagged and at most 5 % of right ones are.
Wrong or right answers that are fewer than a twentieth of the runs are shown, but not judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import trust_topics
from measuring import print_table, run_seeds
from trust_question import Question

from mixsearch._typing import Array
from mixsearch.errors import SearchError, collect_warnings

N_RUNS = 200
SURE = 0.5
MIN_FLAGGED, MAX_FLAGGED = 0.95, 0.05
MIN_JUDGED = 0.05

FAMILIES: dict[str, Mapping[str, Callable[[int], Question]]] = {
    "topics": trust_topics.CASES,
}
REASONS: dict[str, Mapping[str, str]] = {
    "topics": trust_topics.REASONS,
}


class Answer(NamedTuple):
    """One run."""

    right: bool
    flagged: bool
    confidence: float  # NaN after an error


def run(*, quick: bool = False, only: str = "", runs: int = N_RUNS) -> None:
    columns = ("case", "runs", "wrong", "flagged if wrong", "if right", "confidence if right", "if wrong", "verdict")
    verdicts: list[str] = []
    for family, cases in FAMILIES.items():
        chosen = {name: case for name, case in cases.items() if only in f"{family}: {name}"}
        if chosen:
            n_runs = 4 if quick else runs
            rows = [_row(name, run_seeds(partial(_answer, case), n_runs)) for name, case in chosen.items()]
            print_table(family, columns, rows)
            _print_reasons([row[0] for row in rows if row[-1] == "FAILS"], REASONS[family])
            verdicts += [row[-1] for row in rows]
    print(f"\n- rows that hold: {verdicts.count('holds')} of {len(verdicts)}")


def _print_reasons(failed: list[str], reasons: Mapping[str, str]) -> None:
    """Say why rows cannot hold, where that is known: a reason is for all cases that begin with its key."""
    print()
    for name in failed:
        known = [reason for start, reason in reasons.items() if name.startswith(start)]
        print(f"- {name}: {known[0] if known else 'no reason known'}")


def _answer(case: Callable[[int], Question], seed: int) -> Answer:
    """Ask once. An error is a false alarm if there is a right answer, since it is in place of one."""
    question = case(seed)
    with collect_warnings():
        try:
            found = question.ask()
            confidence = found.confidence
        except SearchError:
            return Answer(right=question.has_answer, flagged=True, confidence=float("nan"))
        except (ArithmeticError, np.linalg.LinAlgError):  # a bug: no answer, and nothing that the user could do
            return Answer(right=False, flagged=False, confidence=float("nan"))
    flagged = bool(found.warnings) or confidence < SURE
    return Answer(question.has_answer and question.is_right(found), flagged, confidence)


def _row(title: str, answers: list[Answer]) -> tuple[str, ...]:
    right, flagged, confidence = (np.array(each) for each in zip(*answers, strict=True))
    n_judged = MIN_JUDGED * len(answers)
    missed = np.mean(~flagged[~right]) > 1 - MIN_FLAGGED if np.sum(~right) >= n_judged else False
    alarmed = np.mean(flagged[right]) > MAX_FLAGGED if np.sum(right) >= n_judged else False
    return (
        title,
        f"{len(answers)}",
        f"{np.mean(~right):.3f}",
        *(_share(flagged[group]) for group in (~right, right)),
        *(_median(confidence[group]) for group in (right, ~right)),
        "FAILS" if missed or alarmed else "holds",
    )


def _share(flagged: Array) -> str:
    return f"{flagged.mean():.3f}" if len(flagged) else "n/a"


def _median(confidence: Array) -> str:
    known = confidence[~np.isnan(confidence)]
    return f"{np.median(known):.3f}" if len(known) else "n/a"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--runs", type=int, default=N_RUNS)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    run(quick=options.quick, only=options.only, runs=options.runs)
