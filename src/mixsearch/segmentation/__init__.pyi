from .image_reading import read_image
from .seeds import box, parse_seeds, stroke
from .segment import prepare_image

__all__ = [
    "box",
    "parse_seeds",
    "prepare_image",
    "read_image",
    "stroke",
]
