"""Segmentation of images from a few seed pixels: pixels -> features -> one search per seed."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.segmentation._features import FeatureImage, compute_features, compute_rich_features
    from mixsearch.segmentation._gaussians import SegmentGaussians, argmax_segments
    from mixsearch.segmentation._graph_posterior import PieceOptions, make_piece_options
    from mixsearch.segmentation._image import LargeImageError, RasterImage
    from mixsearch.segmentation._image_files import (
        PNG_LEVEL,
        find_borders,
        iterate_masks,
        make_label_image,
        make_pillow_image,
        make_segment_colors,
        write_files,
    )
    from mixsearch.segmentation._image_reading import decode_image, read_image
    from mixsearch.segmentation._mixture import choose_options
    from mixsearch.segmentation._outlines import Outline, make_path
    from mixsearch.segmentation._seeds import Pixel, Seeds, box, check_not_seeds, check_seeds, parse_seeds, stroke
    from mixsearch.segmentation._segment import (
        FoundSegments,
        PreparedImage,
        choose_assign,
        prepare_image,
        search_segments,
        segment,
    )
    from mixsearch.segmentation._segmentation import Segmentation, iterate_cut_outs, summarize_segmentation
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "PNG_LEVEL",
    "FeatureImage",
    "FoundSegments",
    "LargeImageError",
    "Outline",
    "PieceOptions",
    "Pixel",
    "PreparedImage",
    "RasterImage",
    "Seeds",
    "SegmentGaussians",
    "Segmentation",
    "argmax_segments",
    "box",
    "check_not_seeds",
    "check_seeds",
    "choose_assign",
    "choose_options",
    "compute_features",
    "compute_rich_features",
    "decode_image",
    "find_borders",
    "iterate_cut_outs",
    "iterate_masks",
    "make_label_image",
    "make_path",
    "make_piece_options",
    "make_pillow_image",
    "make_segment_colors",
    "parse_seeds",
    "prepare_image",
    "read_image",
    "search_segments",
    "segment",
    "stroke",
    "summarize_segmentation",
    "write_files",
]
