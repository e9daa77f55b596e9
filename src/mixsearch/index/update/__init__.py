"""Change an existing index: add documents, remove documents, refit its topics."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.index.growth import Growth
    from mixsearch.index.update.add import Added, add_documents
    from mixsearch.index.update.new_documents import Existing
    from mixsearch.index.update.refresh import refresh_index
    from mixsearch.index.update.remove import Removed, remove_documents
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = ["Added", "Existing", "Growth", "Removed", "add_documents", "refresh_index", "remove_documents"]
