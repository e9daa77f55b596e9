"""The files that `mixsearch segment` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mixsearch.segmentation import (
    Segmentation,
    iterate_cut_outs,
    iterate_masks,
    make_coco_dataset,
    make_label_image,
    make_outline_file,
    make_pillow_image,
    write_files,
)

# Stands for the name of the image in the names of files.
PLACEHOLDER = "{name}"


@dataclass(frozen=True)
class Outputs:
    """Which files to write, and how. Names may contain a placeholder for the name of the image."""

    output: Path | None
    masks: Path | None
    cut_outs: Path | None
    labels: Path | None
    outlines: Path | None
    coco: Path | None
    save_model: Path | None
    opacity: float = field(kw_only=True)
    simplify: float = field(kw_only=True)

    @property
    def has_any(self) -> bool:
        """Whether any file is wanted."""
        return self.coco is not None or bool(self.list_for_each_image())

    def list_for_each_image(self) -> list[tuple[str, Path]]:
        """Return the options that name a file or folder of one image, as the user types them."""
        named = ("output", "masks", "cut_outs", "labels", "outlines", "save_model")
        return [(f"--{name.replace('_', '-')}", path) for name in named if (path := getattr(self, name)) is not None]

    def write(self, found: Segmentation, image: Path, *, is_only: bool) -> list[Path]:
        """Write all files of one image, but for a data set of several images, and return them."""
        files: dict[Path, Any] = {}
        if self.output is not None:
            files[_name(self.output, image)] = make_pillow_image(found.overlay(self.opacity))
        if self.labels is not None:
            files[_name(self.labels, image)] = make_label_image(found.labels, len(found.names))
        if self.outlines is not None:
            path = _name(self.outlines, image)
            files[path] = make_outline_file(found, path, self.simplify)
        if self.masks is not None:
            folder = _name(self.masks, image)
            files |= {folder / name: mask for name, mask in iterate_masks(found.names, found.labels)}
        if self.cut_outs is not None:
            folder = _name(self.cut_outs, image)
            files |= {folder / name: cut_out for name, cut_out in iterate_cut_outs(found)}
        if self.save_model is not None:
            files[_name(self.save_model, image)] = found.to_model().to_json()
        if self.coco is not None and is_only:
            files[self.coco] = json.dumps(make_coco_dataset([(image.name, found.to_coco())]))
        write_files(files)
        return list(files)

    def write_dataset(self, annotations: Iterable[tuple[str, list[dict[str, Any]]]]) -> None:
        """Write the data set of several images, given the file and the annotations of each."""
        if self.coco is not None:
            write_files({self.coco: json.dumps(make_coco_dataset(annotations))})


def _name(pattern: Path, image: Path) -> Path:
    return Path(str(pattern).replace(PLACEHOLDER, image.stem))
