"""Print the size of the project beside its budget, and fail if something is larger."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def list_files(*patterns: str) -> list[Path]:
    """Return the tracked files that match patterns of git."""
    listed = subprocess.run(["git", "ls-files", "--", *patterns], cwd=ROOT, check=True, capture_output=True, text=True)
    return [path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file()]


def count_lines(*patterns: str) -> int:
    """Count the lines of the files that match."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in list_files(*patterns))


def count_words(*patterns: str) -> int:
    """Count the words of the files that match, tables of printed results apart."""
    lines = [line for path in list_files(*patterns) for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(len(line.split()) for line in lines if not line.startswith("|"))


def count_tuned() -> int:
    """Count the fields of the classes `Tuning`: the numbers that decide quality, apart from limits and floors."""
    n = 0
    for path in list_files("src/mixsearch/*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == "Tuning":
                n += sum(isinstance(field, ast.AnnAssign) for field in node.body)
    return n


def main() -> int:
    """Print what there is and what there may be."""
    rows = [
        ("lines of Python in src", count_lines("src/mixsearch/*.py"), 30_000),
        ("modules in src", len(list_files("src/mixsearch/*.py")), 200),
        ("lines of the page", count_lines("src/mixsearch/web/page/*", "src/mixsearch/web/static/*.html"), 6_000),
        ("lines of tests", count_lines("tests/*.py"), 16_000),
        ("lines of benchmarks", count_lines("benchmarks/*.py"), 6_000),
        ("words of docs outside of tables", count_words("README.md", "docs/*.md"), 30_000),
        ("words of decisions", count_words("docs/decisions*.md", "docs/decisions/*.md"), 5_000),
        ("tuned constants", count_tuned(), 120),
    ]
    for name, size, budget in rows:
        print(f"{name:32}{size:8,} of {budget:7,}{'' if size <= budget else '  too many'}")
    return int(any(size > budget for _, size, budget in rows))


if __name__ == "__main__":
    sys.exit(main())
