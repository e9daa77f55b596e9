"""Draw and write segments: overlays, masks, label images and cut-outs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.image.reading import RasterImage
from mixsearch.image.seeds import Pixel
from mixsearch.io.disk import explain_os_errors, write_atomically

if TYPE_CHECKING:
    from PIL.Image import Image

# The palette of Okabe and Ito, safe for color-blind readers.
PALETTE = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (213, 94, 0),
    (86, 180, 233),
    (204, 121, 167),
    (240, 228, 66),
)
_LINE, _CROSS = (255, 255, 255), (230, 0, 30)
# Level 1 takes a fifth of the time of Pillow's default at little more size; other formats ignore it.
PNG_LEVEL, JPEG_QUALITY = 1, 92
# The last value of an indexed image stands for pixels without a segment.
MAX_INDEXED_SEGMENTS = 255


def make_segment_colors(n_segments: int) -> Array:
    """Return a color for each segment; the palette repeats in darker shades."""
    indices = np.arange(n_segments)
    shade = 0.65 ** (indices // len(PALETTE))
    return np.asarray(np.array(PALETTE)[indices % len(PALETTE)] * shade[:, None], dtype=np.uint8)


def make_hex_colors(n_segments: int) -> list[str]:
    """Return the color of each segment as #rrggbb."""
    return [f"#{bytes(color).hex()}" for color in make_segment_colors(n_segments)]


def draw_overlay(image: RasterImage, labels: Array, seeds: Iterable[Pixel], n_segments: int, opacity: float) -> Array:
    """Return the image with tinted segments, (h, w, 3) of uint8. Pixels without a segment keep their color."""
    tints = np.vstack([make_segment_colors(n_segments), np.zeros((1, 3), dtype=np.uint8)])  # index -1 finds the last
    opacities = np.append(np.full(n_segments, opacity, dtype=np.float32), np.float32(0))
    drawn = image.to_uint8()
    for row, row_labels in zip(drawn, labels, strict=True):
        row[:] = row + opacities[row_labels][:, None] * (tints[row_labels] - row.astype(np.float32)) + 0.5
    drawn[find_borders(labels)] = _LINE
    arm = max(max(labels.shape) // 90, 2)
    for x, y in seeds:
        for margin, color in ((1 + arm // 8, _LINE), (0, _CROSS)):
            for down, across in ((arm // 4, arm), (arm, arm // 4)):
                top, left = max(y - down - margin, 0), max(x - across - margin, 0)
                drawn[top : y + down + margin + 1, left : x + across + margin + 1] = color
    return drawn


def find_borders(labels: Array) -> Array:
    """Return which pixels differ in label from their right or lower neighbor."""
    found = np.zeros(labels.shape, dtype=bool)
    found[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    found[:-1] |= labels[:-1] != labels[1:]
    return found


def make_pillow_image(array: Array) -> Image:
    """Convert an array to a Pillow image."""
    import PIL.Image  # which scikit-image needs, and what is drawn comes from there

    return PIL.Image.fromarray(array)


def make_label_image(labels: Array, n_segments: int) -> Image:
    """Convert labels to an indexed Pillow image: its values are the labels, and 255 for pixels without a segment."""
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
    """Make a black and white image of each segment, one at a time."""
    for i, file in enumerate(make_file_names(names)):
        yield file, make_pillow_image(np.where(labels == i, 255, 0).astype(np.uint8))


def make_file_names(names: Sequence[str]) -> list[str]:
    """Return a PNG file name with the number and the name of each segment, without characters that have a meaning."""
    digits = len(str(len(names)))
    clean = [re.sub(r"[^\w.-]+", "-", name).strip(".-") or "segment" for name in names]
    return [f"{i:0{digits}}-{name}.png" for i, name in enumerate(clean, 1)]


def write_files(files: Mapping[Path, Image]) -> None:
    """Write Pillow images in the formats of their suffixes. If one cannot be written, none is.

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
        for path, image in files.items():
            unfinished.enter_context(explain_os_errors("write", path))
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = unfinished.enter_context(write_atomically(path))
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
