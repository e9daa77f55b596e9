"""`mixsearch segment`: segment an image from one pixel of each segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mixsearch.cli.console import (
    EXIT_ERROR,
    check_output,
    describe,
    describe_for_json,
    print_error,
    print_json,
    print_notes,
    record_warnings,
    report_errors,
    stderr_console,
    stdout_console,
)
from mixsearch.cli.render import print_facts
from mixsearch.cli.units import format_share
from mixsearch.errors import HintError, SearchError, SearchWarning
from mixsearch.image.files import iterate_masks, make_label_image, make_pillow_image, write_files
from mixsearch.image.reading import read_image
from mixsearch.image.result import Segmentation, iterate_cut_outs, summarize_segmentation
from mixsearch.image.seeds import Pixel, parse_seeds
from mixsearch.image.segment import segment as segment_image

_SEARCH, _OUTPUT = "Search", "Output"
# Stands for the name of the image in the names of files.
PLACEHOLDER = "{name}"

HELP = """Segment an image, from one pixel of each segment.

A seed is a pixel X,Y; x counts to the right and y down from the upper left
corner. Each --seed starts a new segment. Join several pixels of one
segment by a plus; put a name and = before them to name the segment. A stroke
is 120,80~140,90~150,120 and a box 120,80..200,160.

Examples:

  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80+140,90 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed sky=120,80 --seed sea=300,200 --masks masks
  mixsearch segment photo.jpg --seed cat=120,80 --not-seed cat=300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80 --labels labels.png --json

With one seed, the image is split into its segment and the rest. With
several images, {name} in an output is the name of the image. With --json, an
error is also printed as JSON on standard output:
{"error": {"code": ..., "message": ..., "fields": {...}}}

Exit codes: 0 success, 1 bad image or seed, 2 usage error. On an error no
file is written; of several images, those without an error are."""


@dataclass(frozen=True)
class Outputs:
    """Which files to write, and how. Names may contain a placeholder for the name of the image."""

    output: Path | None
    masks: Path | None
    cut_outs: Path | None
    labels: Path | None
    opacity: float

    def list_wanted(self) -> list[tuple[str, Path]]:
        """Return the options that name a file or folder of one image, as the user types them."""
        named = ("output", "masks", "cut_outs", "labels")
        return [(f"--{name.replace('_', '-')}", path) for name in named if (path := getattr(self, name)) is not None]

    def write(self, found: Segmentation, image: Path) -> list[Path]:
        """Write all files of one image, and return them."""
        files: dict[Path, Any] = {}
        if self.output is not None:
            files[_name(self.output, image)] = make_pillow_image(found.overlay(self.opacity))
        if self.labels is not None:
            files[_name(self.labels, image)] = make_label_image(found.labels, len(found.names))
        if self.masks is not None:
            folder = _name(self.masks, image)
            files |= {folder / name: mask for name, mask in iterate_masks(found.names, found.labels)}
        if self.cut_outs is not None:
            folder = _name(self.cut_outs, image)
            files |= {folder / name: cut_out for name, cut_out in iterate_cut_outs(found)}
        for file in files:
            check_output(file, image)
        write_files(files)
        return list(files)


def _name(pattern: Path, image: Path) -> Path:
    return Path(str(pattern).replace(PLACEHOLDER, image.stem))


def segment(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="PNG, JPEG, TIFF, WebP and others.")],
    seeds: Annotated[
        list[str],
        typer.Option(
            "--seed",
            "-s",
            metavar="X,Y",
            help="A pixel of a segment; repeat for each segment.",
            show_default=False,
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
    opacity: Annotated[float, typer.Option(min=0, max=1, help="Opacity of the tint.", rich_help_panel=_OUTPUT)] = 0.5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the segments as JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    method: Annotated[
        Literal["graph", "paper"],
        typer.Option(
            help="Spread the seeds over a graph of superpixels, or search a mixture of colors as in the paper.",
            rich_help_panel=_SEARCH,
        ),
    ] = "graph",
    connected: Annotated[
        bool,
        typer.Option("--connected", help="Keep only pieces of segments that contain a seed.", rich_help_panel=_SEARCH),
    ] = False,
    fill_holes: Annotated[
        bool,
        typer.Option("--fill-holes", help="Fill holes in segments that contain no seed.", rich_help_panel=_SEARCH),
    ] = False,
) -> None:
    """Segment an image."""
    outputs = Outputs(output, masks, cut_outs, labels, opacity)
    with report_errors(as_json=as_json):
        if len(images) == 1 and not images[0].exists():
            read_image(images[0])  # which says what is wrong before anything else does
    parsed, excluded = _parse_seeds(seeds), _parse_seeds(not_seeds or [])
    _check_outputs(outputs, images, as_json)

    def search(image: Path) -> Segmentation:
        return segment_image(
            image,
            parsed,
            not_seeds=excluded,
            method=method,
            connected=connected,
            fill_holes=fill_holes,
        )

    with report_errors(as_json=as_json):
        if len(images) == 1:
            found, warned = _search(images[0], search)
            _report(_answer(found, images[0], method, warned, outputs.write(found, images[0])), as_json)
            return
        answers = _segment_files(images, search, outputs, method)
    if as_json:
        print_json({"images": answers})
    if any("error" in answer for answer in answers):
        raise typer.Exit(EXIT_ERROR)


def _check_outputs(outputs: Outputs, images: list[Path], as_json: bool) -> None:
    wanted = outputs.list_wanted()
    if not wanted and not as_json:
        raise typer.BadParameter("Nothing to write: add --output, --masks, --cut-outs, --labels or --json.")
    if len(images) > 1:
        for option, path in wanted:
            if PLACEHOLDER not in str(path):
                raise typer.BadParameter(
                    f"With several images, {option} needs {PLACEHOLDER} in its name, for the name of the image."
                )
        repeated = [name for name, n in Counter(image.stem for image in images).items() if n > 1]
        if repeated and wanted:
            raise typer.BadParameter(
                f"Two images are called '{repeated[0]}': one would overwrite the files of the other."
            )


def _search(image: Path, search: Callable[[Path], Segmentation]) -> tuple[Segmentation, list[SearchWarning]]:
    with record_warnings() as warned:
        found = search(image)
    return found, warned


def _answer(
    found: Segmentation, image: Path, method: str, warned: list[SearchWarning], written: list[Path]
) -> dict[str, Any]:
    notes = {"warnings": [describe_for_json(warning) for warning in warned], "written": list(map(str, written))}
    return {"image": str(image), "method": method} | summarize_segmentation(found) | notes


def _segment_files(
    images: list[Path], search: Callable[[Path], Segmentation], outputs: Outputs, method: str
) -> list[dict[str, Any]]:
    """Segment images one after the other. An error ends only the image that it is about."""
    answers: list[dict[str, Any]] = []
    for image in images:
        try:
            found, warned = _search(image, search)
            answers.append(_answer(found, image, method, warned, outputs.write(found, image)))
        except SearchError as error:
            answers.append({"image": str(image), "error": describe_for_json(error)})
            print_error(f"{image}: {describe(error)}")
            continue
        line = ", ".join(f"{name} {format_share(share)}" for name, share in zip(found.names, found.shares, strict=True))
        stderr_console().print(f"{image}: {line}", markup=False, soft_wrap=True)
        print_notes(f"{image}: {describe(warning)}" for warning in warned)
    return answers


def _report(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        _print_summary(answer)
        for path in answer["written"]:
            stderr_console().print(f"Written: {path}", markup=False, soft_wrap=True)
    print_notes(note["message"] for note in answer["warnings"])


def _parse_seeds(typed: list[str]) -> dict[str, list[Pixel]]:
    try:
        return parse_seeds(typed)
    except HintError as error:
        raise typer.BadParameter(describe(error)) from error


def _print_summary(summary: dict[str, Any]) -> None:
    facts = [("image", f"{summary['width']} x {summary['height']} pixels, method {summary['method']}")]
    for each in summary["segments"]:
        facts.append((each["name"], f"{format_share(each['share'])} of the image, {each['verdict']}"))
    print_facts(stdout_console(), facts)
