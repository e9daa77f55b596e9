"""Read an image from a file, its bytes, a Pillow image or an array."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mixsearch.segmentation import _pixel_values
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._image_decoding import pillow_pixels, read_image_file
from mixsearch.segmentation._pixel_values import make_raster

if TYPE_CHECKING:
    import PIL.Image


def read_image(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike, *, frame: int | None = None
) -> RasterImage:
    """Read an image from a file, a Pillow image or an array.

    Parameters
    ----------
    image : path, Pillow image, array or RasterImage
        A file is rotated by its EXIF orientation. Arrays have shape (h, w) or (h, w, c), where c is 1 for gray, 2 for
        gray and alpha, 3 for RGB, 4 for RGB and alpha, and any other number for channels of any kind, which are reduced
        to the three with the most signal; of uint8, uint16, bool or floats. Floats outside 0 to 1, and other integers
        outside 0 to 255, are rescaled from their minimum and maximum.
    frame : int, optional
        Which image of an animated or multi-page file to read, from 0. By default the first, with a warning that there
        are others.

    Returns
    -------
    RasterImage

    Examples
    --------
    >>> image = read_image([[0, 128, 255], [255, 128, 0]])
    >>> image.height, image.width
    (2, 3)
    """
    if isinstance(image, RasterImage):
        return image
    if isinstance(image, str | os.PathLike):
        return read_image_file(Path(image), f"'{image}'", _pixel_values.MAX_PIXELS, frame=frame)
    if hasattr(image, "getbands"):
        return make_raster(pillow_pixels(image))
    return make_raster(np.asarray(image))


def decode_image(
    body: bytes,
    max_pixels: int = _pixel_values.MAX_PIXELS,
    formats: tuple[str, ...] | None = None,
    *,
    frame: int | None = None,
) -> RasterImage:
    """Read an image from the bytes of an image file.

    Parameters
    ----------
    body : bytes
        The content of the file.
    max_pixels : int
        Larger images are refused before any pixel is decoded.
    formats : tuple of str, optional
        The formats to try, by Pillow's names; by default all.
    frame : int, optional
        As in `read_image`.

    Returns
    -------
    RasterImage
    """
    return read_image_file(io.BytesIO(body), "The file", max_pixels, formats, frame=frame)
