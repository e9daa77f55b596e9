"""Changing an index that exists: add documents, remove some, learn its topics anew."""

from mixsearch.index.growth import Growth
from mixsearch.index.update.add import Added, add_documents
from mixsearch.index.update.new_documents import Existing
from mixsearch.index.update.refresh import refresh_index
from mixsearch.index.update.remove import Removed, remove_documents

__all__ = ["Added", "Existing", "Growth", "Removed", "add_documents", "refresh_index", "remove_documents"]
