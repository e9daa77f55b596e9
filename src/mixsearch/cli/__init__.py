"""The command line: `mixsearch`."""

import os
import signal
import sys
from importlib import import_module

_PACKAGES = ("typer", "rich")


def main() -> None:
    """Run the command line, or print what to install for it."""
    _treat_sigterm_as_ctrl_c()
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


def _treat_sigterm_as_ctrl_c() -> None:
    """Let SIGTERM, as of `docker stop`, end a command like Ctrl-C: files that are no longer needed are removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(os, "register_at_fork"):
        # A pool ends its forked processes by this signal, without a word.
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
