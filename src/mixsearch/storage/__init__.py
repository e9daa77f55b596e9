"""Folders of arrays and texts on disk, written atomically: complete or not there, whatever happens to the writer."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.storage.arrays import SharedArray
    from mixsearch.storage.disk import explain_os_errors, make_disk_error, write_atomically
    from mixsearch.storage.manifest import MANIFEST_NAME, damage_error
    from mixsearch.storage.publication import update_folder, write_folder
    from mixsearch.storage.reader import Folder, open_folder, read_generation
    from mixsearch.storage.temporary import TemporaryFolder
    from mixsearch.storage.texts import TEXT_ARRAYS, CompressedTexts, JoinedTexts, Texts, TextWriter, compress_texts
    from mixsearch.storage.writer import FolderWriter
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "MANIFEST_NAME",
    "TEXT_ARRAYS",
    "CompressedTexts",
    "Folder",
    "FolderWriter",
    "JoinedTexts",
    "SharedArray",
    "TemporaryFolder",
    "TextWriter",
    "Texts",
    "compress_texts",
    "damage_error",
    "explain_os_errors",
    "make_disk_error",
    "open_folder",
    "read_generation",
    "update_folder",
    "write_atomically",
    "write_folder",
]
