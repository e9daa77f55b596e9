"""Read images from files, bytes, Pillow images and arrays."""

from __future__ import annotations

import io
import os
import struct
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.errors import HintError, Option, SearchError, SearchWarning, warn_user
from mixsearch.segmentation import image as _image
from mixsearch.segmentation.image import LargeImageError, RasterImage, check_size, make_raster

if TYPE_CHECKING:
    import PIL.Image

# Damaged files raise any of these in Pillow.
_DAMAGED = (ArithmeticError, LookupError, OSError, RuntimeError, SyntaxError, TypeError, ValueError, struct.error)


class SkippedFramesWarning(SearchWarning):
    """A file has several images, and the first one was read."""

    code = "skipped_frames"


def note_frames(source: str, n_frames: int) -> None:
    """Warn if a file has more images than the one that is read."""
    if n_frames > 1:
        warn_user(
            SkippedFramesWarning(
                "{source} has {n_frames} frames; the first is used. Choose another with {frame}=1 to {max_frame}.",
                source=source,
                n_frames=n_frames,
                frame=Option("frame"),
                max_frame=n_frames - 1,
            )
        )


def check_frame(source: str, frame: int, n_frames: int) -> None:
    """Refuse a frame that a file does not have."""
    if not 0 <= frame < n_frames:
        raise HintError(
            "{source} has no frame {frame}: its frames are 0 to {max_frame}.",
            code="no_such_frame",
            source=source,
            frame=frame,
            max_frame=n_frames - 1,
        )


# Pillow's modes with more than eight bits per channel. Converting them to RGB would clip their values.
_DEEP_MODES = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")
# Formats whose further images are frames or pages. In others, such as MPO of cameras, they are previews.
_WITH_FRAMES = ("GIF", "PNG", "WEBP", "TIFF")


def make_missing_pillow_error() -> SearchError:
    """Return the error for a missing Pillow, with the line that installs it."""
    return SearchError(
        "Image files need Pillow. Install it with: pip install 'mixsearch[{extra}]'",
        code="missing_extra",
        extra="cli",
    )


def read_image_file(
    file: Path | BinaryIO,
    source: str,
    max_pixels: int,
    formats: tuple[str, ...] | None = None,
    *,
    frame: int | None = None,
) -> RasterImage:
    """Read a file with Pillow; errors name the source."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise make_missing_pillow_error() from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below takes its place
            with Image.open(file, formats=formats) as image:
                check_size(*image.size, source, max_pixels)
                _choose_frame(image, source, frame)
                return make_raster(pillow_pixels(ImageOps.exif_transpose(image)))
    except UnidentifiedImageError as error:
        known = " or ".join(", ".join(formats or ("PNG", "JPEG", "TIFF", "WebP")).rsplit(", ", 1))
        raise SearchError(
            "{source} isn't an image that can be read. Use {formats}.",
            code="not_an_image",
            source=source,
            formats=known,
        ) from error
    except Image.DecompressionBombError as error:
        raise LargeImageError(
            "{source} has more pixels than Pillow decodes; the limit here is {max_pixels:,}. Downscale or crop it.",
            source=source,
            max_pixels=max_pixels,
        ) from error
    except _DAMAGED as error:
        if isinstance(error, SearchError):
            raise
        reason = getattr(error, "strerror", None) or f"{error}. The file seems to be damaged"
        raise SearchError(
            "{source} cannot be read: {reason}.", code="image_unreadable", source=source, reason=reason
        ) from error


def _choose_frame(image: Any, source: str, frame: int | None) -> None:
    n_frames = getattr(image, "n_frames", 1) if image.format in _WITH_FRAMES else 1
    if frame is None:
        note_frames(source, n_frames)
    else:
        check_frame(source, frame, n_frames)
        image.seek(frame)


def pillow_pixels(image: Any) -> Array:
    """Return the pixels of a Pillow image: those of more than 8 bits unchanged, others as gray, RGB or RGBA."""
    if image.mode in _DEEP_MODES:
        return np.asarray(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        return np.asarray(image.convert("RGBA"))
    return np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))


def read_image(
    image: str | os.PathLike[str] | PIL.Image.Image | RasterImage | ArrayLike, *, frame: int | None = None
) -> RasterImage:
    """Read an image from a file, a Pillow image or an array.

    Parameters
    ----------
    image : path, Pillow image, array or RasterImage
        A file is rotated by its EXIF orientation. Arrays have shape (h, w) or (h, w, c), where c is 1 for gray, 2 for
        gray and alpha, 3 for RGB and 4 for RGB and alpha; of uint8, uint16, bool or floats. Floats outside 0 to 1, and
        other integers outside 0 to 255, are rescaled from their minimum and maximum.
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
        return read_image_file(Path(image), f"'{image}'", _image.MAX_PIXELS, frame=frame)
    if hasattr(image, "getbands"):
        return make_raster(pillow_pixels(image))
    return make_raster(np.asarray(image))


def decode_image(
    body: bytes,
    max_pixels: int = _image.MAX_PIXELS,
    formats: tuple[str, ...] | None = None,
    *,
    frame: int | None = None,
) -> RasterImage:
    """Read an image from the bytes of an image file."""
    return read_image_file(io.BytesIO(body), "The file", max_pixels, formats, frame=frame)
