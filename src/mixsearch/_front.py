"""Package fronts whose names are imported on first use, so that nobody waits for what they do not use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_front(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` (PEP 562) of a package whose imports are under ``if TYPE_CHECKING``.

    Parameters
    ----------
    package : str
        Full name of the package, while it is imported.

    Returns
    -------
    find, list_names : callables
        The first imports a name, or a submodule that holds some of them, and keeps it in the package. The second lists
        the public names, those of ``__all__``.
    """
    front = sys.modules[package]
    # The imports are read from the source, so that types, import rules and this function share one list.
    homes = dict(_read_imports(Path(str(front.__file__))))
    submodules = {home.removeprefix(f"{package}.").partition(".")[0] for home, _ in homes.values()}

    def find(name: str) -> Any:
        if name in homes:
            home, own_name = homes[name]
            found = getattr(import_module(home), own_name)
        elif name in submodules:
            found = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(front, name, found)
        return found

    def list_names() -> list[str]:
        # Submodules and imports that happen to be there are not for completion.
        return sorted({*front.__all__, *(name for name in vars(front) if name.startswith("__"))})

    return find, list_names


def _read_imports(path: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name that a front imports for types only, with its module and its name there."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            for each in node.body:
                if isinstance(each, ast.ImportFrom) and each.module is not None:
                    module = each.module
                    yield from ((alias.asname or alias.name, (module, alias.name)) for alias in each.names)
