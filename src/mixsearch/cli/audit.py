"""The file of an audit: rows or documents of an answer to judge, written and read back."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mixsearch.audit import AuditResult
from mixsearch.errors import AuditError
from mixsearch.io.disk import explain_os_errors, write_atomically

JUDGEMENTS: dict[str, bool | None] = {
    **dict.fromkeys(("yes", "y", "true", "1"), True),
    **dict.fromkeys(("no", "n", "false", "0"), False),
    "": None,
}
ROW, MEMBER = "row", "member"
Describe = Callable[[Sequence[int]], list[dict[str, Any]]]


def audit_file(found: Any, file: Path, n: int, most: int, describe: Describe) -> AuditResult | None:
    """Judge an answer by a file; a new file, or one with fewer than n lines, gets rows to judge, of at most `most`.

    `describe` returns what the file shows of rows; the first of these facts names the row. None if no row is judged.
    """
    n = min(n, most)
    names, judgements = _read(file) if file.exists() else ({}, {})
    result = None
    try:
        result = found.judge(judgements)
    except AuditError as error:
        if error.code != "nothing_judged" or n <= len(judgements):
            raise
    _check_names(file, names, describe)
    if n > len(judgements):
        judgements |= dict.fromkeys(found.audit(n - len(judgements)).tolist())
        _write(file, judgements, describe)
    return result


def list_audit(file: Path, result: AuditResult | None) -> str:
    """Return the line that says how an audit stands."""
    if result is None:
        return f"Write yes or no in the column {MEMBER} of {file}, and run the same command again."
    return f"{result}."


def _write(file: Path, judgements: dict[int, bool | None], describe: Describe) -> None:
    """Write one line per row: its number, an empty or judged column `member`, and what describes it."""
    spelt, facts = {True: "yes", False: "no", None: ""}, describe(list(judgements))
    lines = [
        {ROW: row, MEMBER: spelt[is_member], **{name: _spell(value) for name, value in values.items()}}
        for (row, is_member), values in zip(judgements.items(), facts, strict=True)
    ]
    with (
        explain_os_errors("write", file),
        write_atomically(file) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.DictWriter(out, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def _read(file: Path) -> tuple[dict[int, str], dict[int, bool | None]]:
    """Read the names and the judgements of the rows of a file; rows with an empty judgement were skipped."""
    names: dict[int, str] = {}
    judgements: dict[int, bool | None] = {}
    with explain_os_errors("read", file), file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        if header[:2] != [ROW, MEMBER]:
            raise AuditError(
                "{file!r} does not begin with the columns row and member. Name a new file, and it is written.",
                code="bad_judged_file",
                file=str(file),
            )
        for cells in filter(None, reader):
            row, typed, name = ([each.strip() for each in cells] + ["", ""])[:3]
            judgement = JUDGEMENTS.get(typed.lower(), typed)
            if not row.isdecimal() or isinstance(judgement, str) or judgements.get(int(row), judgement) != judgement:
                raise AuditError(
                    "Line {line} of {file!r} judges row {row!r} as {judgement!r}. Write yes, no, or nothing to skip a "
                    "row, and judge each row once.",
                    file=str(file),
                    line=reader.line_num,
                    row=row,
                    judgement=typed,
                )
            names[int(row)], judgements[int(row)] = name, judgement
    return names, judgements


def _check_names(file: Path, names: dict[int, str], describe: Describe) -> None:
    """Raise an error if the rows of a file have other names now."""
    for (row, name), facts in zip(names.items(), describe(list(names)), strict=True):
        current = _spell(next(iter(facts.values()), ""))
        if name != current:
            raise AuditError(
                "Row {row} of {file!r} is {name!r}, but {current!r} now: the data have changed. Name a new file.",
                code="bad_judged_file",
                file=str(file),
                row=row,
                name=name,
                current=current,
            )


def _spell(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split())
