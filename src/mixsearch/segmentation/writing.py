"""Image files, all of them written whole or none at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import SearchError
from mixsearch.segmentation.images import NEEDS_PILLOW
from mixsearch.segmentation.overlays import colours_of
from mixsearch.storage.disk import explain_os_errors, written_whole
from mixsearch.types import Array

# A fifth of the time of the usual level, at little more room; other formats take no notice.
PNG_LEVEL, JPEG_QUALITY = 1, 92
# Beyond these, an indexed image has no number left for pixels without a segment.
MOST_INDEXED = 255


def write_images(images: Mapping[Path, Any]) -> None:
    """Write Pillow images in the formats of their suffixes; where one cannot be written, none is.

    Every image goes to a file beside its own first, and only when all are there they take their names.
    """
    for path in images:
        if path.is_dir():
            raise SearchError(f"Could not write '{path}': it is a folder. Give the name of a file.")
    with ExitStack() as unfinished:
        for path, image in images.items():
            unfinished.enter_context(explain_os_errors("write", path))
            _write(image, path, unfinished.enter_context(written_whole(path)))


def _write(image: Any, path: Path, part: Path) -> None:
    try:
        with explain_os_errors("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            image.save(part, compress_level=PNG_LEVEL, quality=JPEG_QUALITY)
    except (KeyError, ValueError) as error:
        if isinstance(error, SearchError):
            raise
        raise SearchError(
            f"The image '{path}' cannot be written: {path.suffix or 'a name without a suffix'} is no format for it. "
            "Give a name that ends in .png."
        ) from error


def as_image(array: Array) -> Any:
    """An array of uint8, (h, w) or (h, w, 3), as a Pillow image."""
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        raise SearchError(NEEDS_PILLOW) from error
    return Image.fromarray(array)


def as_indexed(labels: Array, n_segments: int) -> Any:
    """Labels as an indexed image: pixel values are the numbers of the segments, and 255 that of none."""
    if n_segments > MOST_INDEXED:
        raise SearchError(f"An indexed image holds {MOST_INDEXED} segments at most; found {n_segments}. Write masks.")
    image = as_image(labels.astype("uint8"))
    image.putpalette(colours_of(MOST_INDEXED).tobytes() + bytes(3))
    return image


def mask_images(names: Sequence[str], labels: Array, folder: Path) -> dict[Path, Any]:
    """A black and white image for each segment, by the file that it goes to."""
    return {folder / file: image for file, image in each_mask(names, labels)}


def each_mask(names: Sequence[str], labels: Array) -> Iterator[tuple[str, Any]]:
    """The name of a file and a black and white image for each segment, one at a time."""
    digits = len(str(len(names)))
    for i, name in enumerate(names):
        yield f"{i + 1:0{digits}}-{_file_name(name)}.png", as_image(np.where(labels == i, 255, 0).astype(np.uint8))


def _file_name(name: str) -> str:
    """A name without anything that a file system could take for something else."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "segment"
