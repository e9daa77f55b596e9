"""Segmentation of images from a few seed pixels: pixels -> features -> one search per seed."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.segmentation._coco import make_coco_dataset
    from mixsearch.segmentation._features import FeatureImage, compute_features, compute_rich_features
    from mixsearch.segmentation._gaussians import SegmentGaussians, argmax_segments
    from mixsearch.segmentation._image import RasterImage
    from mixsearch.segmentation._image_files import (
        PNG_LEVEL,
        iterate_masks,
        make_label_image,
        make_pillow_image,
        write_files,
    )
    from mixsearch.segmentation._image_reading import decode_image, read_image
    from mixsearch.segmentation._likeness import MissingSegmentWarning, UnfamiliarImageWarning, segment_like
    from mixsearch.segmentation._mixture import choose_options
    from mixsearch.segmentation._outline_files import make_outline_file, make_path
    from mixsearch.segmentation._outlines import Outline
    from mixsearch.segmentation._overlay import find_borders, make_segment_colors
    from mixsearch.segmentation._pieces import PieceOptions, make_piece_options
    from mixsearch.segmentation._pixel_values import LargeImageError
    from mixsearch.segmentation._search import FoundSegments, choose_assign, search_segments
    from mixsearch.segmentation._seeds import Pixel, Seeds, check_not_seeds, check_seeds, parse_seeds
    from mixsearch.segmentation._segment import PreparedImage, prepare_image, segment
    from mixsearch.segmentation._segment_model import SegmentModel, read_segment_model
    from mixsearch.segmentation._segmentation import Segmentation, iterate_cut_outs
    from mixsearch.segmentation._shapes import box, stroke
    from mixsearch.segmentation._summary import summarize_segmentation
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "PNG_LEVEL",
    "FeatureImage",
    "FoundSegments",
    "LargeImageError",
    "MissingSegmentWarning",
    "Outline",
    "PieceOptions",
    "Pixel",
    "PreparedImage",
    "RasterImage",
    "Seeds",
    "SegmentGaussians",
    "SegmentModel",
    "Segmentation",
    "UnfamiliarImageWarning",
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
    "make_coco_dataset",
    "make_label_image",
    "make_outline_file",
    "make_path",
    "make_piece_options",
    "make_pillow_image",
    "make_segment_colors",
    "parse_seeds",
    "prepare_image",
    "read_image",
    "read_segment_model",
    "search_segments",
    "segment",
    "segment_like",
    "stroke",
    "summarize_segmentation",
    "write_files",
]
