"""Count the words of files: streaming, on all cores, in bounded memory."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.data.files.signatures import FORMATS, Format
    from mixsearch.data.files.streams import strip_compression_suffix
    from mixsearch.text.corpus import Corpus
    from mixsearch.text.count.chunks import CountChunk
    from mixsearch.text.count.cluster import DistributedCorpus, InspectedFiles, inspect_files, read_on_cluster
    from mixsearch.text.count.dropped import REASONS, DroppedWords, LeftOutWords
    from mixsearch.text.count.partitions import CountedPartition
    from mixsearch.text.count.vocabulary import KnownWords, Vocabulary
    from mixsearch.text.options import (
        DEFAULT_MAX_DF,
        DEFAULT_MAX_WORDS,
        DEFAULT_MIN_DF,
        CorpusOptions,
        KeptColumns,
        normalize_text,
    )
    from mixsearch.text.pipeline import count_documents, count_texts, read_corpus
    from mixsearch.text.question import split_words
    from mixsearch.text.read.columns import ColumnSummary, summarize_columns
    from mixsearch.text.read.documents import DocumentChunk
    from mixsearch.text.read.formats import has_columns, inspect_columns, list_columns
    from mixsearch.text.word_counter import WordCounter
else:
    __getattr__, __dir__ = lazy_front(__name__)  # of which some need Dask, an extra

__all__ = [
    "DEFAULT_MAX_DF",
    "DEFAULT_MAX_WORDS",
    "DEFAULT_MIN_DF",
    "FORMATS",
    "REASONS",
    "ColumnSummary",
    "Corpus",
    "CorpusOptions",
    "CountChunk",
    "CountedPartition",
    "DistributedCorpus",
    "DocumentChunk",
    "DroppedWords",
    "Format",
    "InspectedFiles",
    "KeptColumns",
    "KnownWords",
    "LeftOutWords",
    "Vocabulary",
    "WordCounter",
    "count_documents",
    "count_texts",
    "has_columns",
    "inspect_columns",
    "inspect_files",
    "list_columns",
    "normalize_text",
    "read_corpus",
    "read_on_cluster",
    "split_words",
    "strip_compression_suffix",
    "summarize_columns",
]
