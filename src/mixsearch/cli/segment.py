"""`mixsearch segment`: segment an image from one pixel of each segment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch.cli._console import (
    describe,
    describe_for_json,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
)
from mixsearch.cli._render import print_facts
from mixsearch.cli._units import format_share
from mixsearch.display import plain_number
from mixsearch.errors import HintError
from mixsearch.segmentation import (
    Pixel,
    Segmentation,
    iterate_cut_outs,
    iterate_masks,
    make_coco_dataset,
    make_label_image,
    make_outline_file,
    make_pillow_image,
    parse_seeds,
    summarize_segmentation,
    write_files,
)
from mixsearch.segmentation import segment as segment_image

_SEARCH, _OUTPUT = "Search", "Output"

HELP = """Segment an image, from one pixel of each segment.

A seed is a pixel X,Y; x counts to the right and y down from the upper left
corner. Each --seed starts a segment of its own. Join several pixels of one
segment by a plus; put a name and = before them to name the segment. A stroke
is 120,80~140,90~150,120 and a box 120,80..200,160.

Examples:

  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80+140,90 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed sky=120,80 --seed sea=300,200 --masks masks
  mixsearch segment photo.jpg --seed cat=120,80 --not-seed cat=300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80 --labels labels.png --json
  mixsearch segment photo.jpg --seed cat=120,80 --outlines cat.svg --simplify 1

With one seed, the image is split into its segment and the rest. With --json,
an error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad image or seed, 2 usage error. On an error no
file is written."""


@dataclass(frozen=True)
class _Outputs:
    overlay: Path | None
    masks: Path | None
    cut_outs: Path | None
    labels: Path | None
    outlines: Path | None
    coco: Path | None


def segment(
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="PNG, JPEG, TIFF, WebP and others.")],
    seeds: Annotated[
        list[str], typer.Option("--seed", "-s", metavar="X,Y", help="A pixel of a segment; repeat for each segment.")
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
    outlines: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the outlines as polygons: .svg for a drawing, .geojson for GeoJSON in pixels.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    simplify: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="PIXELS",
            help="Outlines with fewer corners, at most this far from the exact ones.",
            rich_help_panel=_OUTPUT,
        ),
    ] = 0.0,
    coco: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a data set in the format of COCO, as JSON.", rich_help_panel=_OUTPUT),
    ] = None,
    opacity: Annotated[float, typer.Option(min=0, max=1, help="Opacity of the tint.", rich_help_panel=_OUTPUT)] = 0.5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the segments as JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    features: Annotated[
        Literal["rich", "rgb"],
        typer.Option(
            help="Compare pixels by colour, texture and position, or by colour only.", rich_help_panel=_SEARCH
        ),
    ] = "rich",
    assign: Annotated[
        Literal["auto", "graph", "nearest", "posterior"],
        typer.Option(
            help="Spread the seeds over a graph of superpixels, or assign a pixel to the nearest center or to the most "
            "probable component of a mixture. auto: graph with rich features.",
            rich_help_panel=_SEARCH,
        ),
    ] = "auto",
    connected: Annotated[
        bool,
        typer.Option("--connected", help="Keep only pieces of segments that contain a seed.", rich_help_panel=_SEARCH),
    ] = False,
    fill_holes: Annotated[
        bool,
        typer.Option("--fill-holes", help="Fill holes in segments that contain no seed.", rich_help_panel=_SEARCH),
    ] = False,
    min_area: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="FRACTION",
            help="Remove pieces without seeds smaller than this fraction of the image. By default 0.0005.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    n_components: Annotated[
        int | None,
        typer.Option(
            "--n-components",
            "-k",
            min=1,
            metavar="N",
            help="Number of components of the image, including those of the seeds.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
) -> None:
    """Segment an image."""
    outputs = _Outputs(output, masks, cut_outs, labels, outlines, coco)
    if not any(vars(outputs).values()) and not as_json:
        raise typer.BadParameter(
            "Nothing to write: add --output, --masks, --cut-outs, --labels, --outlines, --coco or --json."
        )
    parsed, excluded = _parse_seeds(seeds), _parse_seeds(not_seeds or [])
    with report_errors(as_json=as_json):
        with record_warnings() as warned:
            found = segment_image(
                image,
                parsed,
                not_seeds=excluded,
                features=features,
                assign=assign,
                connected=connected,
                fill_holes=fill_holes,
                min_area=min_area,
                n_components=n_components,
            )
        written = _write(found, image, outputs, opacity, simplify)
        summary = {"image": str(image), "features": features, "assign": assign} | summarize_segmentation(found)
        if as_json:
            notes = [describe_for_json(warning) for warning in warned]
            print_json(summary | {"warnings": notes, "written": [str(path) for path in written]})
        else:
            _print_summary(summary)
            for path in written:
                stderr_console().print(f"Written: {path}", markup=False, soft_wrap=True)
        print_notes(map(describe, warned))


def _parse_seeds(typed: list[str]) -> dict[str, list[Pixel]]:
    try:
        return parse_seeds(typed)
    except HintError as error:
        raise typer.BadParameter(describe(error)) from error


def _write(found: Segmentation, image: Path, outputs: _Outputs, opacity: float, simplify: float) -> list[Path]:
    files: dict[Path, Any] = {}
    if outputs.overlay is not None:
        files[outputs.overlay] = make_pillow_image(found.overlay(opacity))
    if outputs.labels is not None:
        files[outputs.labels] = make_label_image(found.labels, len(found.names))
    if outputs.outlines is not None:
        files[outputs.outlines] = make_outline_file(found, outputs.outlines, simplify)
    if outputs.coco is not None:
        files[outputs.coco] = json.dumps(make_coco_dataset([(image.name, found.to_coco())], found.names))
    if outputs.masks is not None:
        files |= {outputs.masks / name: mask for name, mask in iterate_masks(found.names, found.labels)}
    if outputs.cut_outs is not None:
        files |= {outputs.cut_outs / name: cut_out for name, cut_out in iterate_cut_outs(found)}
    write_files(files)
    return list(files)


def _print_summary(summary: dict[str, Any]) -> None:
    facts = [("image", f"{summary['width']} x {summary['height']} pixels, features {summary['features']}")]
    for each in summary["segments"]:
        lead = ""
        if each["expected_iou"] is not None:
            lead = f"expected overlap {plain_number(each['expected_iou'])}: "
        elif each["separation"] is not None:
            lead = f"separation {plain_number(each['separation'])}: "
        facts.append((each["name"], f"{format_share(each['share'])} of the image, {lead}{each['verdict']}"))
    print_facts(stdout_console(), facts)
