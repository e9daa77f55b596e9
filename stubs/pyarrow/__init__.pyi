from typing import Any

from pyarrow import types as types

class ArrowException(Exception): ...

def CompressedInputStream(stream: Any, compression: str) -> Any: ...
