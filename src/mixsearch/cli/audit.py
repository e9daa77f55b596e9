"""The file of an audit: rows to judge, written and read back."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from mixsearch.audit import AuditResult
from mixsearch.errors import AuditError
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.io.values import to_json

JUDGEMENTS: dict[str, bool | None] = {
    **dict.fromkeys(("yes", "y", "true", "1"), True),
    **dict.fromkeys(("no", "n", "false", "0"), False),
    "": None,
}
ROW, MEMBER = "row", "member"


def audit_file(found: Any, frame: pl.DataFrame, file: Path, n: int, id: str | None) -> AuditResult | None:
    """Judge an answer by the file of its audit; a new file, or one with fewer than n rows, gets rows to judge.

    None if the file was written now and no row of it is judged.
    """
    n = min(n, frame.height - len(found.examples) - len(found.not_examples))  # examples are known
    judgements = _read_judgements(file, frame, id) if file.exists() else {}
    result = None
    try:
        result = found.judge(judgements)
    except AuditError as error:
        if error.code != "nothing_judged" or n <= len(judgements):
            raise
    if n > len(judgements):
        judgements |= dict.fromkeys(found.audit(n - len(judgements)).tolist())
        _write_judgements(file, frame, judgements, id)
    return result


def list_audit(file: Path | None, result: AuditResult | None) -> list[str]:
    """List the lines that say how an audit stands."""
    if file is None:
        return []
    if result is None:
        return [f"Rows to judge are in {file}: write yes or no in its column {MEMBER!r}, and run the command again."]
    return [f"{result}."]


def _write_judgements(file: Path, frame: pl.DataFrame, judgements: dict[int, bool | None], id: str | None) -> None:
    """Write one line per row: its number, an empty or judged column `member`, and its values, the id first."""
    columns = [*([id] if id else []), *(name for name in frame.columns if name != id)]
    spelt = {True: "yes", False: "no", None: ""}
    rows = [frame.row(row, named=True) for row in judgements]
    with (
        explain_os_errors("write", file),
        write_atomically(file) as temporary,
        open(temporary, "w", encoding="utf-8", newline="") as lines,
    ):
        writer = csv.writer(lines)
        writer.writerow([ROW, MEMBER, *columns])
        for (row, is_member), values in zip(judgements.items(), rows, strict=True):
            writer.writerow([row, spelt[is_member], *(_spell(values[name]) for name in columns)])


def _spell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(to_json(value))


def _read_judgements(file: Path, frame: pl.DataFrame, id: str | None) -> dict[int, bool | None]:
    """Read rows and judgements, and check that they are of this table."""
    with explain_os_errors("read", file), file.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        for name in (ROW, MEMBER):
            if name not in header:
                raise AuditError(
                    "{file!r} has no column {column!r}, but {listed}. Give a new file, and rows to judge are written.",
                    code="bad_judged_file",
                    file=str(file),
                    column=name,
                    listed=", ".join(header[:5]) or "nothing",
                )
        places = [header.index(name) for name in (ROW, MEMBER)]
        id_place = header.index(id, 2) if id in header[2:] else None
        judgements: dict[int, bool | None] = {}
        for cells in filter(None, reader):
            row, judgement = _parse_line(file, reader.line_num, cells, places, frame.height)
            if id_place is not None:
                _check_id(file, reader.line_num, row, cells[id_place : id_place + 1], frame[str(id)][row])
            if row in judgements and judgements[row] != judgement:
                raise AuditError(
                    "Line {line} of {file!r} judges row {row} again, and otherwise. Leave one of the two lines.",
                    code="contradictory_judgement",
                    file=str(file),
                    line=reader.line_num,
                    row=row,
                )
            judgements[row] = judgement
    return judgements


def _parse_line(
    file: Path, line: int, cells: Sequence[str], places: Sequence[int], n_rows: int
) -> tuple[int, bool | None]:
    row, judgement = (cells[place].strip() if place < len(cells) else "" for place in places)
    if not row.isdecimal() or int(row) >= n_rows:
        raise AuditError(
            "Line {line} of {file!r}: {row!r} is not a row, which are numbered from 0 to {last:,}.",
            code="unknown_row",
            file=str(file),
            line=line,
            row=row,
            last=n_rows - 1,
        )
    if judgement.lower() not in JUDGEMENTS:
        raise AuditError(
            "Line {line} of {file!r}: {judgement!r} is not a judgement. Write yes, no, or nothing to skip the row.",
            file=str(file),
            line=line,
            judgement=judgement,
        )
    return int(row), JUDGEMENTS[judgement.lower()]


def _check_id(file: Path, line: int, row: int, given: Sequence[str], value: Any) -> None:
    if list(given) != [_spell(value)]:
        raise AuditError(
            "Line {line} of {file!r}: row {row} is {value!r} in the table, but {given!r} in the file. The table has "
            "changed: give a new file.",
            code="bad_judged_file",
            file=str(file),
            line=line,
            row=row,
            value=_spell(value),
            given="".join(given),
        )
