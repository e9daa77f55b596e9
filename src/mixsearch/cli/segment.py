"""`mixsearch segment`: its options, and what it tells of the segments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

from mixsearch.cli._console import aside, errors_as_sentences, print_json, say_notes, warnings_as_notes
from mixsearch.cli._render import show_facts
from mixsearch.cli._units import show_share
from mixsearch.display import plain_number
from mixsearch.errors import HintError
from mixsearch.segmentation import (
    Pixel,
    Segmentation,
    make_label_image,
    make_mask_images,
    make_pillow_image,
    parse_seeds,
    segment,
    summarize_segmentation,
    write_images,
)

_SEARCH, _OUTPUT = "The search", "Output"

HELP = """Cut a picture into segments, from one pixel of each.

A seed is a pixel, X,Y, with x to the right and y down from the upper left
corner. Each --seed is a segment of its own; several pixels of one segment
are joined by a plus, and a name may stand before them.

Examples:

  mixsearch segment photo.jpg --seed 120,80 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed 120,80+140,90 --seed 300,200 -o out.png
  mixsearch segment photo.jpg --seed sky=120,80 --seed sea=300,200 --masks masks
  mixsearch segment photo.jpg --seed 120,80 --labels labels.png --json

With one seed, the picture is cut into its segment and the rest.

Exit codes: 0 done, 1 the picture or a seed is not as needed, 2 the
command is not. Files are written all or none."""


@dataclass(frozen=True)
class Files:
    """What is to be written, and where."""

    overlay: Path | None
    masks: Path | None
    labels: Path | None


def segment_picture(
    image: Annotated[Path, typer.Argument(metavar="IMAGE", help="PNG, JPEG, TIFF, WebP and so on.")],
    seed: Annotated[
        list[str], typer.Option("--seed", "-s", metavar="X,Y", help="A pixel of a segment; may be given again.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The picture with its segments tinted.", rich_help_panel=_OUTPUT
        ),
    ] = None,
    masks: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            file_okay=False,
            help="A black and white PNG for each segment, in this folder.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An indexed PNG: 0 for the first segment, and so on; 255 where the picture is transparent.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    opacity: Annotated[
        float, typer.Option(min=0, max=1, help="Of the tint, from 0 to 1.", rich_help_panel=_OUTPUT)
    ] = 0.5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Tell of the segments in JSON.", rich_help_panel=_OUTPUT)
    ] = False,
    features: Annotated[
        Literal["rich", "rgb"],
        typer.Option(
            help="What pixels are compared by: colour, texture and position, or plain colours.", rich_help_panel=_SEARCH
        ),
    ] = "rich",
    assign: Annotated[
        Literal["nearest", "posterior"],
        typer.Option(help="Pixels go to the nearest center or to the likeliest component.", rich_help_panel=_SEARCH),
    ] = "nearest",
    components: Annotated[
        int | None,
        typer.Option(
            "--components",
            "-k",
            min=1,
            metavar="N",
            help="Components of the picture, those of the seeds among them.",
            show_default=False,
            rich_help_panel=_SEARCH,
        ),
    ] = None,
) -> None:
    """Cut a picture into segments."""
    if output is None and masks is None and labels is None and not as_json:
        raise typer.BadParameter("Say what to write: -o for an overlay, --masks, --labels or --json.")
    seeds = _parse_seeds(seed)
    with errors_as_sentences():
        with warnings_as_notes() as notes:
            found = segment(image, seeds, features=features, assign=assign, n_components=components)
        written = _write(found, Files(output, masks, labels), opacity)
        told = {"image": str(image), "features": features, "assign": assign} | summarize_segmentation(found)
        if as_json:
            print_json(told | {"warnings": notes, "written": [str(path) for path in written]})
        else:
            _show(told)
            for path in written:
                aside().print(f"Written: {path}", markup=False, soft_wrap=True)
        say_notes(notes)


def _parse_seeds(typed: list[str]) -> dict[str, list[Pixel]]:
    try:
        return parse_seeds(typed)
    except HintError as error:
        raise typer.BadParameter(str(error)) from error


def _write(found: Segmentation, files: Files, opacity: float) -> list[Path]:
    images: dict[Path, Any] = {}
    if files.overlay is not None:
        images[files.overlay] = make_pillow_image(found.overlay(opacity))
    if files.labels is not None:
        images[files.labels] = make_label_image(found.labels, len(found.names))
    if files.masks is not None:
        images |= make_mask_images(found.names, found.labels, files.masks)
    write_images(images)
    return list(images)


def _show(told: dict[str, Any]) -> None:
    facts = [("picture", f"{told['width']} x {told['height']} pixels, features {told['features']}")]
    for each in told["segments"]:
        lead = "" if each["separation"] is None else f"separation {plain_number(each['separation'])}: "
        facts.append((each["name"], f"{show_share(each['share'])} of the picture, {lead}{each['verdict']}"))
    show_facts(Console(highlight=False), facts)
