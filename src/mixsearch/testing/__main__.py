"""``python -m mixsearch.testing``: search planted data of every kind, and report whether the component was found."""

import sys

from mixsearch import __version__
from mixsearch.testing.self_test import Outcome, run_self_test

_MARKS = {"passed": "ok  ", "failed": "FAIL", "skipped": "-   "}


def _show(outcome: Outcome) -> None:
    note = f": {outcome.note}" if outcome.note else ""
    sys.stdout.write(f"{_MARKS[outcome.state]} {outcome.name}{note}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.stdout.write(f"mixsearch {__version__}\n")
    sys.exit(any(outcome.state == "failed" for outcome in run_self_test(_show)))
