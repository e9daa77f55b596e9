"""TIFF files that Pillow cannot hold: more than four channels, or more than eight bits in several channels."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mixsearch.errors import HintError, Option, SearchError, SearchWarning, warn_user
from mixsearch.segmentation._image import RasterImage
from mixsearch.segmentation._pixel_values import check_size, make_raster

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
