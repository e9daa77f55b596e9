"""A folder of arrays and texts on disk that is whole or not there, whatever happens to its writer."""

from mixsearch.storage.reading import Folder, open_folder
from mixsearch.storage.texts import Texts, TextWriter
from mixsearch.storage.writing import FolderWriter, write_folder

__all__ = ["Folder", "FolderWriter", "TextWriter", "Texts", "open_folder", "write_folder"]
