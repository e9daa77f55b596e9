"""Write the files of a segmentation: all of them or none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.segmentation._image_decoding import make_missing_pillow_error
from mixsearch.segmentation._overlay import make_segment_colors
from mixsearch.storage import explain_os_errors, write_atomically

if TYPE_CHECKING:
    from PIL.Image import Image

# Level 1 takes a fifth of the time of Pillow's default at little more size; other formats ignore it.
PNG_LEVEL, JPEG_QUALITY = 1, 92
# The last value of an indexed image stands for pixels without a segment.
MAX_INDEXED_SEGMENTS = 255


def write_files(files: Mapping[Path, Image | str]) -> None:
    """Write Pillow images in the formats of their suffixes, and texts. If one cannot be written, none is.

    Parameters
    ----------
    files : mapping of Path to Pillow image or str
        The contents by their files. Missing folders are created.

    Notes
    -----
    Each is first written to a temporary file next to its own. The files are renamed once all are written.
    """
    for path in files:
        if path.is_dir():
            raise SearchError(
                "Could not write '{path}': it is a folder. Give the name of a file.", code="is_folder", path=str(path)
            )
    with ExitStack() as unfinished:
        for path, content in files.items():
            unfinished.enter_context(explain_os_errors("write", path))
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = unfinished.enter_context(write_atomically(path))
            if isinstance(content, str):
                temporary.write_text(content, encoding="utf-8")
            else:
                _write_image(content, path, temporary)


def _write_image(image: Image, path: Path, temporary: Path) -> None:
    try:
        with explain_os_errors("write", path):
            image.save(temporary, compress_level=PNG_LEVEL, quality=JPEG_QUALITY)
    except (KeyError, ValueError) as error:
        if isinstance(error, SearchError):
            raise
        raise SearchError(
            "Could not write '{path}': {suffix} isn't a format for it. Use a name that ends in .png.",
            code="unknown_image_format",
            path=str(path),
            suffix=path.suffix or "a name without a suffix",
        ) from error


def make_pillow_image(array: Array) -> Image:
    """Convert an array to a Pillow image.

    Parameters
    ----------
    array : array of uint8 of shape (h, w), (h, w, 3) or (h, w, 4)
        Gray levels, RGB, or RGB and alpha.

    Returns
    -------
    PIL.Image.Image
    """
    try:
        import PIL.Image
    except ModuleNotFoundError as error:
        raise make_missing_pillow_error() from error
    return PIL.Image.fromarray(array)


def make_label_image(labels: Array, n_segments: int) -> Image:
    """Convert labels to an indexed Pillow image: its values are the labels, and 255 for pixels without a segment.

    Parameters
    ----------
    labels : array of shape (h, w)
        The index of each pixel's segment, and -1 for none.
    n_segments : int
        The number of segments.

    Returns
    -------
    PIL.Image.Image
        The palette has the colors of the overlay.
    """
    if n_segments > MAX_INDEXED_SEGMENTS:
        raise SearchError(
            "An indexed image can hold {max_segments} segments, but there are {n_segments}. Write masks instead.",
            code="too_many_segments",
            max_segments=MAX_INDEXED_SEGMENTS,
            n_segments=n_segments,
        )
    image = make_pillow_image(labels.astype("uint8"))
    image.putpalette(make_segment_colors(MAX_INDEXED_SEGMENTS).tobytes() + bytes(3))
    return image


def iterate_masks(names: Sequence[str], labels: Array) -> Iterator[tuple[str, Image]]:
    """Make a black and white image of each segment, one at a time.

    Parameters
    ----------
    names : sequence of str
        The names of the segments.
    labels : array of shape (h, w)
        The index of each pixel's segment.

    Yields
    ------
    file : str
        A file name with the number and the name of the segment.
    image : PIL.Image.Image
    """
    for i, file in enumerate(make_file_names(names)):
        yield file, make_pillow_image(np.where(labels == i, 255, 0).astype(np.uint8))


def make_file_names(names: Sequence[str]) -> list[str]:
    """Return a PNG file name with the number and the name of each segment.

    Parameters
    ----------
    names : sequence of str
        The names of the segments.

    Returns
    -------
    list of str
    """
    digits = len(str(len(names)))
    return [f"{i:0{digits}}-{_clean_name(name)}.png" for i, name in enumerate(names, 1)]


def _clean_name(name: str) -> str:
    """Remove all characters that have a meaning in a path."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "segment"
