from contextlib import AbstractContextManager
from typing import Any

class ThreadpoolController:
    def limit(self, *, limits: int | None = None, user_api: str | None = None) -> AbstractContextManager[Any]: ...

def threadpool_info() -> list[dict[str, Any]]: ...
