"""Read images from files, bytes, Pillow images and arrays."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zlib
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

_SIGNATURES = (b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+")
_CHANNELS = ("C", "S")
_ALPHA = (1, 2)  # kinds of extra samples
_BITS, _DESCRIPTION, _PLANES = 258, 270, 284  # tags
_SEPARATE = 2  # planes of channels
# How ImageJ, tifffile and OME say which pages are channels.
_NAMED_AXES = ("channels=", '"axes"', '"shape"', "<OME")


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


def is_deep_tiff(file: Path | BinaryIO) -> bool:
    """Return whether a file is a TIFF that Pillow reads only in part or not at all."""
    if isinstance(file, Path):
        with file.open("rb") as opened:
            return is_deep_tiff(opened)
    start = file.read(4)
    file.seek(0)
    if start not in _SIGNATURES:
        return False
    return _has_other_tags(file)


def _has_other_tags(file: BinaryIO) -> bool:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file, formats=("TIFF",)) as image:
            tags: Any = image.tag_v2  # type: ignore[attr-defined]
            bits, description = np.atleast_1d(tags.get(_BITS, (1,))), str(tags.get(_DESCRIPTION, ""))
            is_deep = len(bits) > 1 and max(bits) > 8
            return bool(is_deep or tags.get(_PLANES, 1) == _SEPARATE or any(key in description for key in _NAMED_AXES))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, KeyError, TypeError):
        return True
    finally:
        file.seek(0)


def read_tiff(file: Path | BinaryIO, source: str, max_pixels: int, frame: int | None) -> RasterImage:
    """Read the first series of a TIFF file with all its channels; axes that are no channels are frames."""
    try:
        from tifffile import TiffFile, TiffFileError
    except ModuleNotFoundError as error:
        raise SearchError(
            "{source} is a TIFF file that needs tifffile. Install it with: pip install 'mixsearch[{extra}]'",
            code="missing_extra",
            source=source,
            extra="cli",
        ) from error
    try:
        with TiffFile(file) as tiff:
            series = tiff.series[0]
            sizes = dict(zip(series.axes, series.shape, strict=True))
            n_channels = int(np.prod([sizes.get(axis, 1) for axis in _CHANNELS]))
            frames = [axis for axis in series.axes if axis not in (*_CHANNELS, "Y", "X")]
            n_frames = int(np.prod([sizes[axis] for axis in frames]))
            check_size(sizes["X"], sizes["Y"], source, max_pixels, n_channels * n_frames)
            if frame is None:
                note_frames(source, n_frames)
            else:
                check_frame(source, frame, n_frames)
            order = [*frames, "Y", "X", *(axis for axis in _CHANNELS if axis in sizes)]
            moved = np.transpose(series.asarray(), [series.axes.index(axis) for axis in order])
            array = moved.reshape(n_frames, sizes["Y"], sizes["X"], n_channels)[frame or 0]
            extras: tuple[int, ...] = getattr(series.keyframe, "extrasamples", ())
        return make_raster(array, has_alpha=len(extras) == 1 and extras[0] in _ALPHA)
    # Damaged files raise any of these.
    except (TiffFileError, LookupError, TypeError, RuntimeError, ArithmeticError, struct.error, zlib.error) as error:
        raise SearchError(
            "{source} cannot be read: {reason}. The file seems to be damaged.",
            code="image_unreadable",
            source=source,
            reason=str(error),
        ) from error


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
