"""Decode image files: what Pillow reads, and TIFF files of more channels or bits."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._pixel_values import LargeImageError, check_size, make_raster
from mixsearch.segmentation._tiff import check_frame, is_deep_tiff, note_frames, read_tiff

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
    """Read a file with Pillow, or a TIFF file that Pillow cannot hold with tifffile; errors name the source."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise make_missing_pillow_error() from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit below takes its place
            if (formats is None or "TIFF" in formats) and is_deep_tiff(file):
                return read_tiff(file, source, max_pixels, frame)
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
    except (OSError, SyntaxError, ValueError) as error:  # Pillow raises each of them on damaged files
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
