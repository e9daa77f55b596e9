from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

class Workbook(AbstractContextManager[Workbook]):
    def __init__(self, filename: str | Path, options: Mapping[str, Any] | None = ...) -> None: ...
    def __exit__(self, *_: object) -> None: ...
