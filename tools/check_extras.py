"""Install a wheel with each extra alone into an empty environment, and run its self-test there.

    python tools/check_extras.py dist/mixsearch-*.whl [EXTRA ...]

Takes some minutes, and downloads packages by uv, which must be beside this Python. Extras with packages larger than
a gigabyte are left out unless named.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from email import message_from_bytes
from pathlib import Path

LARGE = {"dev"}


def list_extras(wheel: Path) -> list[str]:
    """Return the extras that the metadata of a wheel has."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name)).get_all("Provides-Extra", [])


def check(wheel: Path, extra: str | None) -> bool:
    """Return whether the wheel with one extra, or with none, installs and passes its self-test."""
    target = f"mixsearch{f'[{extra}]' if extra else ''} @ {wheel.resolve().as_uri()}"
    uv = str(Path(sys.executable).with_name("uv"))
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))
        commands = [
            [uv, "venv", "--quiet", "--python", sys.executable, folder],
            [uv, "pip", "install", "--quiet", "--python", python, target],
            [uv, "pip", "check", "--quiet", "--python", python],
            [python, "-m", "mixsearch.testing"],
        ]
        for command in commands:
            ran = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir(), check=False)
            if ran.returncode:
                sys.stdout.write(f"{ran.stdout}{ran.stderr}\n")
                return False
    return True


def main() -> None:
    """Check all extras, or those that are named."""
    wheel, *named = sys.argv[1:]
    extras = named or [None, *(extra for extra in list_extras(Path(wheel)) if extra not in LARGE)]
    failed = []
    for extra in extras:
        passed = check(Path(wheel), extra)
        sys.stdout.write(f"{'ok  ' if passed else 'FAIL'}  {extra or '(no extra)'}\n")
        sys.stdout.flush()
        failed += [] if passed else [extra]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
