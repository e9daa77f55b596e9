"""The command line: `mixsearch`."""

import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

_PACKAGES = ("typer", "rich")


def main() -> NoReturn:
    """Run the command line. Report every error as one line on stderr with a non-zero exit code."""
    _treat_sigterm_as_ctrl_c()
    _replace_unencodable()
    try:
        _run()
    except KeyboardInterrupt:
        _fail("Stopped.", 130)
    except BrokenPipeError:
        _fail("", 1)  # whoever read the output has seen enough
    except Exception as error:
        from mixsearch.cli.unexpected import explain_unexpected

        explained = explain_unexpected(error)
        _fail(f"{explained} [{explained.code}]", 1)
    raise SystemExit(0)


def _run() -> None:
    try:
        for package in _PACKAGES:
            import_module(package)
        from mixsearch.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        _fail(f"The command line needs {' and '.join(_PACKAGES)}: pip install 'mixsearch[cli]'", 1)
    try:
        app(prog_name="mixsearch")
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk is noticed here, not when Python ends


def _fail(sentence: str, exit_code: int) -> NoReturn:
    """End with a sentence; what is left of the output has nowhere to go."""
    try:
        if sentence and sys.stderr is not None:
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()
    except OSError:
        pass
    # Python would write what is left when it ends, and fail again.
    sys.stdout = None
    raise SystemExit(exit_code) from None


def _treat_sigterm_as_ctrl_c() -> None:
    """Treat SIGTERM, as from `docker stop`, like Ctrl-C, so that temporary files are removed."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(os, "register_at_fork"):
        # A pool ends its forked processes by this signal, without a word.
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def _replace_unencodable() -> None:
    """Show a question mark for characters that the terminal's encoding lacks, such as cp1252."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
