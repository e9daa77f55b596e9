from contextlib import AbstractContextManager
from typing import Any

def threadpool_limits(limits: int | None = None, user_api: str | None = None) -> AbstractContextManager[Any]: ...
