"""`mixsearch segment`: segment an image from one pixel of each segment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch.cli.console import (
    check_output,
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
)
from mixsearch.cli.render import print_facts
from mixsearch.cli.units import format_share
from mixsearch.errors import HintError
from mixsearch.image.files import iterate_masks, make_label_image, make_pillow_image, write_files
from mixsearch.image.reading import read_image
from mixsearch.image.result import Segmentation, iterate_cut_outs, summarize_segmentation
from mixsearch.image.seeds import Pixel, parse_seeds
from mixsearch.image.segment import segment as segment_image

_OUTPUT = "Output"

HELP = """Segment an image, from one pixel of each segment.

A seed is a pixel X,Y; x counts to the right and y down from the upper left
corner. Each --seed starts a new segment. Join several pixels of one
segment by a plus; put a name and = before them to name the segment. A stroke
is 120,80~140,90~150,120.

Examples:

  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80+140,90 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed sky=120,80 --seed sea=300,200 --masks masks
  mixsearch segment photo.jpg --seed cat=120,80 --not-seed cat=300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80 --labels labels.png --json

With one seed, the image is split into its segment and the rest. With --json,
an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad image or seed, 2 usage error. On an error no
file is written."""


def segment(
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="PNG, JPEG, TIFF, WebP and others.")],
    seeds: Annotated[
        list[str],
        typer.Option(
            "--seed", "-s", metavar="X,Y", help="A pixel of a segment; repeat for each segment.", show_default=False
        ),
    ],
    not_seeds: Annotated[
        list[str] | None,
        typer.Option(
            "--not-seed",
            metavar="NAME=X,Y",
            help="A pixel that does not belong to the segment of this name; may be repeated.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write the image with its segments tinted.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    masks: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            file_okay=False,
            help="Write a black and white PNG of each segment to this folder.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    cut_outs: Annotated[
        Path | None,
        typer.Option(
            "--cut-outs",
            metavar="FOLDER",
            file_okay=False,
            help="Write each segment as a transparent PNG with a soft edge to this folder.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write an indexed PNG: 0 for the first segment, and so on; 255 for transparent pixels.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the segments as JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    method: Annotated[
        Literal["graph", "paper"],
        typer.Option(
            help="Spread the seeds over a graph of superpixels, or search a mixture of colors as in the paper."
        ),
    ] = "graph",
) -> None:
    """Segment an image."""
    with report_errors(as_json=as_json):
        raster = read_image(image)
    positive, negative = _parse_seeds(seeds), _parse_seeds(not_seeds or [])
    if not (output or masks or cut_outs or labels or as_json):
        raise typer.BadParameter("Nothing to write: add --output, --masks, --cut-outs, --labels or --json.")
    with report_errors(as_json=as_json):
        with record_warnings() as warned:
            found = segment_image(raster, positive, not_seeds=negative, method=method)
        files = _make_files(found, output, masks, cut_outs, labels)
        for file in files:
            check_output(file, image)
        write_files(files)
        summary = {"image": str(image), "method": method} | summarize_segmentation(found)
        if as_json:
            notes = {"warnings": list(map(describe_for_json, warned)), "written": list(map(str, files))}
            print_json(summary | notes)
        else:
            _print_summary(summary)
            for file in files:
                stderr_console().print(f"Written: {file}", markup=False, soft_wrap=True)
        print_notes(map(describe, warned))


def _make_files(
    found: Segmentation, output: Path | None, masks: Path | None, cut_outs: Path | None, labels: Path | None
) -> dict[Path, Any]:
    """Make a Pillow image for each file to write."""
    files: dict[Path, Any] = {}
    if output is not None:
        files[output] = make_pillow_image(found.overlay())
    if labels is not None:
        files[labels] = make_label_image(found.labels, len(found.names))
    if masks is not None:
        files |= {masks / name: mask for name, mask in iterate_masks(found.names, found.labels)}
    if cut_outs is not None:
        files |= {cut_outs / name: cut_out for name, cut_out in iterate_cut_outs(found)}
    return files


def _parse_seeds(typed: list[str]) -> dict[str, list[Pixel]]:
    try:
        return parse_seeds(typed)
    except HintError as error:
        raise typer.BadParameter(describe(error)) from error


def _print_summary(summary: dict[str, Any]) -> None:
    facts = [("image", f"{summary['width']} x {summary['height']} pixels, method {summary['method']}")]
    for segment in summary["segments"]:
        facts.append((segment["name"], f"{format_share(segment['share'])} of the image, {segment['verdict']}"))
    print_facts(stdout_console(), facts)
