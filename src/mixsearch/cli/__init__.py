"""The command line: `mixsearch`."""

import sys
from importlib import import_module

_PACKAGES = ("typer", "rich")


def main() -> None:
    """Run the command line, or print what to install for it."""
    try:
        for package in _PACKAGES:
            import_module(package)
        from mixsearch.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        sys.stderr.write(f"The command line needs {' and '.join(_PACKAGES)}: pip install 'mixsearch[cli,plot]'\n")
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(130) from None
    app(prog_name="mixsearch")
