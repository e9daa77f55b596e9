from .reading import read_image
from .seeds import parse_seeds
from .segment import prepare_image

__all__ = ["parse_seeds", "prepare_image", "read_image"]
