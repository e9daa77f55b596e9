"""The files of a corpus as this machine sees them, before a cluster reads and counts them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mixsearch.data.files.location import File, StoredFile, TableFile
from mixsearch.data.files.sources import Source, SourceFiles, describe_source, find_sources
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.text.count.matrix import MATRIX_FORMAT
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.documents import ReadState
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.frames import are_texts, is_frame

# Options for work on one machine.
_LOCAL_OPTIONS = ("n_jobs", "tmp_dir")


class InspectedFiles(NamedTuple):
    """The files of a corpus, and the columns found in their first documents.

    Attributes
    ----------
    sources : SourceFiles
        The files, with absolute paths.
    state : ReadState
        The options of reading, and the columns.
    """

    sources: SourceFiles
    state: ReadState


def inspect_files(source: Source, options: CorpusOptions) -> InspectedFiles:
    """Find files and their columns on this machine, before a cluster is used.

    Parameters
    ----------
    source : path, URL or list of them
        As for `read_corpus`, except standard input and ready-made counts.
    options : CorpusOptions
        How to read and count. Duplicates can only be dropped if they are exact.

    Returns
    -------
    InspectedFiles
        For `read_on_cluster`.
    """
    _check_options(source, options)
    sources = _make_absolute(find_sources(source, options.format))
    if sources.format == MATRIX_FORMAT:
        raise SearchError(
            "A cluster reads texts, but the files hold ready-made counts ({format}). Leave out {argument}, or fit "
            "the counts as a Dask array with TopicSearch.",
            code="counts_on_cluster",
            format=sources.format,
            argument=Option("scheduler"),
        )
    return InspectedFiles(sources, _find_columns(sources, ReadState(options, describe_source(source))))


def _check_options(source: Source, options: CorpusOptions) -> None:
    scheduler = Option("scheduler")
    if isinstance(source, str) and source == "-":
        raise ArgumentError(
            "A cluster cannot read standard input. Name files, or leave out {argument}.",
            code="stdin_on_cluster",
            argument=scheduler,
        )
    if is_frame(source) or are_texts(source):
        raise ArgumentError(
            "A cluster reads files, not what this process holds in memory. Name files, or leave out {argument}.",
            code="memory_on_cluster",
            argument=scheduler,
        )
    if options.drop_duplicates == "near":
        raise ArgumentError(
            "{argument} can only be 'exact' on a cluster: near duplicates are found by comparing documents one after "
            "another. Leave it out, or leave out {scheduler}.",
            code="local_option",
            argument=Option("drop_duplicates"),
            scheduler=scheduler,
        )
    if options.skip_bad_rows:
        raise ArgumentError(
            "{argument} cannot be used on a cluster: rows are skipped and counted by one reader. Leave it out, or "
            "leave out {scheduler}.",
            code="local_option",
            argument=Option("skip_bad_rows"),
            scheduler=scheduler,
        )
    for name in _LOCAL_OPTIONS:
        if getattr(options, name) is not None:
            raise ArgumentError(
                "{argument} has no effect on a cluster, because workers have their own threads and temporary files. "
                "Leave it out.",
                code="local_option",
                argument=Option(name),
                value=getattr(options, name),
            )


def _make_absolute(sources: SourceFiles) -> SourceFiles:
    """Return the files with absolute paths: workers run in other folders."""
    are_relative = all(isinstance(path, Path) and not path.is_absolute() for path in sources.paths)
    root = Path.cwd() if sources.root is None and are_relative else sources.root
    paths = [_make_path_absolute(path) for path in sources.paths]
    return replace(sources, paths=paths, root=_make_absolute_file(root) if root else None)


def _make_path_absolute(path: File) -> File:
    return (
        replace(path, file=_make_absolute_file(path.file)) if isinstance(path, TableFile) else _make_absolute_file(path)
    )


def _make_absolute_file(path: StoredFile) -> StoredFile:
    return path.absolute() if isinstance(path, Path) else path


def _find_columns(sources: SourceFiles, state: ReadState) -> ReadState:
    """Return a state with the columns found in the first documents."""
    with closing(read_documents(sources, state)) as loaders:
        next(loaders, None)
    return state
