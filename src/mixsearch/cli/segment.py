"""`mixsearch segment`: segment an image from one pixel of each segment."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import typer

from mixsearch.cli import console
from mixsearch.cli.options import JsonOption
from mixsearch.display import format_share
from mixsearch.image.files import iterate_masks, make_label_image, make_pillow_image, write_files
from mixsearch.image.reading import MAX_PIXELS, read_file, read_image
from mixsearch.image.result import iterate_cut_outs, summarize_segmentation
from mixsearch.image.seeds import parse_seeds
from mixsearch.image.segment import segment as segment_image
from mixsearch.options import option

HELP = """A seed is a pixel X,Y; x counts to the right and y down from the upper left
corner. Each --seed starts a new segment. Join several pixels of one
segment by a plus; put a name and = before them to name the segment. A stroke
is 120,80~140,90~150,120. With one seed, the image is split into its segment
and the rest.

Examples:

  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80+140,90 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed sky=120,80 --seed sea=300,200 --masks masks
  mixsearch segment photo.jpg --seed cat=120,80 --not-seed cat=300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80 --labels labels.png --json"""


@dataclass(frozen=True, kw_only=True)
class Output:
    """The files to write."""

    output: Path | None = option(None, "Write the image with its segments tinted.", metavar="FILE", flag="o")
    masks: Path | None = option(None, "Write a black and white PNG of each segment to this folder.", metavar="FOLDER")
    cut_outs: Path | None = option(
        None, "Write each segment as a transparent PNG with a soft edge to this folder.", metavar="FOLDER"
    )
    labels: Path | None = option(
        None, "Write an indexed PNG: 0 for the first segment, and so on; 255 for transparent pixels.", metavar="FILE"
    )


def segment(
    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="PNG, JPEG, TIFF, WebP and others; - for standard input.")
    ],
    seeds: Annotated[
        list[str], typer.Option("--seed", "-s", metavar="X,Y", help="A pixel of a segment; repeat for each segment.")
    ],
    not_seeds: Annotated[
        list[str] | None,
        typer.Option("--not-seed", metavar="NAME=X,Y", help="A pixel that does not belong to a segment; repeat."),
    ] = None,
    *,
    output: Output,
    as_json: JsonOption = False,
) -> None:
    if not (any(vars(output).values()) or as_json):
        raise typer.BadParameter("Nothing to write: add --output, --masks, --cut-outs, --labels or --json.")
    is_input = str(image) == "-"
    raster = (
        read_file(BytesIO(sys.stdin.buffer.read()), "Standard input", MAX_PIXELS) if is_input else read_image(image)
    )
    with console.record_warnings() as warned, console.show_status("Finding segments"):
        found = segment_image(raster, parse_seeds(seeds), not_seeds=parse_seeds(not_seeds or []))
    files: dict[Path, Any] = {}  # with a Pillow image each
    if output.output is not None:
        files[output.output] = make_pillow_image(found.overlay())
    if output.labels is not None:
        files[output.labels] = make_label_image(found.labels, len(found.names))
    if output.masks is not None:
        files |= {output.masks / name: mask for name, mask in iterate_masks(found.names, found.labels)}
    if output.cut_outs is not None:
        files |= {output.cut_outs / name: cut_out for name, cut_out in iterate_cut_outs(found)}
    for file in files:
        console.check_output(file, image)
    write_files(files)
    summary = {"image": str(image)} | summarize_segmentation(found)
    if as_json:
        notes = {"warnings": list(map(console.describe_for_json, warned)), "written": list(map(str, files))}
        console.print_json(summary | notes)
    else:
        console.print_facts(
            [("image", f"{summary['width']} x {summary['height']} pixels"), *map(_describe, summary["segments"])]
        )
    for file in files:
        console.print_written(file)
    console.print_notes(warned)


def _describe(segment: dict[str, Any]) -> tuple[str, str]:
    return segment["name"], f"{format_share(segment['share'])} of the image, {segment['verdict']}"
