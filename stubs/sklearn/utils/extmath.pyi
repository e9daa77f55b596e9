from typing import Any

from numpy.typing import NDArray

def randomized_svd(
    M: Any, n_components: int, *, n_iter: int | str = ..., random_state: Any = ...
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
