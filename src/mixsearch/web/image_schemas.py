"""Requests and answers about images, as OpenAPI describes them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from mixsearch.web.schemas import AnswerWarning

# Seed pixels in an address, and in a body; strokes count all of their pixels.
MAX_SEEDS, MAX_BODY_SEEDS = 64, 20_000
MAX_SHAPES = 1000
MAX_NAME_LENGTH, MAX_EVERY = 60, 64
Name = Annotated[str, Path(description="The name that the upload returned, or `example`.", max_length=100)]
Method = Literal["graph", "paper"]


@dataclass(frozen=True)
class SegmentationRequest:
    """Seeds of the segments of an image, and options."""

    seeds: tuple[str, ...]  # as typed
    method: Method = "graph"
    every: int = 1
    not_seeds: tuple[str, ...] = ()  # as typed
    max_seeds: int = MAX_SEEDS

    @property
    def name(self) -> str:
        """The name of this request in addresses."""
        return sha256(repr(self).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class NamedSegmentation:
    """An earlier segmentation, and how many of its pixels are wanted."""

    name: str
    every: int = 1


class SegmentationBody(BaseModel):
    """Seeds of the segments of an image, and options."""

    model_config = ConfigDict(extra="forbid")

    seeds: list[str] = Field(
        min_length=1,
        max_length=MAX_SHAPES,
        description="For each segment its pixels after its name, if any: `sky:120,80+130,90`. A stroke is "
        "`120,80~140,90`.",
        examples=[["sky:216,96", "meadow:108,336"]],
    )
    not_seeds: list[str] = Field(
        [], max_length=MAX_SHAPES, description="Pixels that do not belong to a segment, after its name."
    )
    method: Method = Field("graph", description="By a graph of superpixels, or by the paper's search in a mixture.")
    every: int = Field(1, ge=1, le=MAX_EVERY, description="Use every n-th pixel of every n-th row.")
    outlines: bool = Field(False, description="Add the outline of each segment.")

    def to_request(self) -> SegmentationRequest:
        """Return the request for the store."""
        return SegmentationRequest(
            tuple(self.seeds),
            self.method,
            self.every,
            tuple(self.not_seeds),
            MAX_BODY_SEEDS,
        )


class UploadedImage(BaseModel):
    """An image in the memory of the server."""

    picture: str = Field(description="The name of the image in addresses.")
    width: int
    height: int


class Segment(BaseModel):
    """A segment of an image."""

    name: str
    seeds: list[tuple[int, int]] = Field(description="Pixels, x to the right and y down; none for the background.")
    pixels: int
    share: float = Field(description="The fraction of the visible image that it covers.")
    expected_iou: float | None = Field(
        description="The expected intersection over union with the segment meant; null without a graph."
    )
    verdict: str = Field(description="What the expected overlap means, in words.")
    verdict_code: str = Field(
        description="For programs: `sure`, `partial` or `unsure`; `unknown` without a graph, `no_seed` for the rest."
    )
    color: str = Field(description="Its color in drawings, #rrggbb.")
    outline: str | None = Field(
        None, description="The data of an SVG path along its pixels, by the even-odd rule; null unless requested."
    )


class SegmentedImage(BaseModel):
    """An image in segments. If it was thinned, all sizes and pixels are those of the thinned image."""

    segmentation: str = Field(description="The name of this segmentation in the addresses of its files.")
    width: int
    height: int
    method: str
    every: int
    segments: list[Segment]
    warnings: list[AnswerWarning]
