"""The facts of an index: whether they are of the types that were written, whatever their checksum says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mixsearch.storage import Folder, damage_error


class _Record(dict[str, Any]):
    """The fields of a dataclass: none is missing, and there is no other."""


# From a name to a type, to the type of every entry of a list, or to what a dict holds; None for what may be missing.
_TOKENS = {
    "token_pattern": (str, None),
    "lowercase": (bool,),
    "normal_form": (str, None),
    "strip_tags": (bool,),
    "ngrams": ([int],),
    "phrases": (bool,),
    "stop_words": (str, [str], None),
}
_READING = {
    **_TOKENS,
    "text": (str, [str], None),
    "id": (str, None),
    "keep": (str, [str], None),
    "no_header": (bool,),
    "skip_bad_rows": (bool,),
    "min_df": (int, float, None),
    "max_df": (int, float, None),
    "max_words": (int, None),
    "drop_duplicates": (str, None),
}
_FACTS: dict[str, Any] = {
    "columns": ([_Record(name=(str,), kind=(str,), role=(str, None))], None),
    "fit": ({"n_dropped": (int,)},),
    "dropped": ({"n_words": (dict,), "reasons": ([str],), "max_documents": (dict,)}, None),
    "growth": (
        _Record(
            n_fitted=(int,),
            n_added=(int,),
            n_removed=(int,),
            outside=(int, float),
            new_words=(int, float),
        ),
        None,
    ),
    "corpus": (
        {
            "n_characters": (int, None),
            "n_duplicates": (int,),
            "has_texts": (bool,),
            "has_names": (bool,),
            "tokens": (_TOKENS, None),
            "reading": (_READING, None),
        },
        None,
    ),
    "n_rows": (int, None),
    "n_components": (int, str, None),
}


def check_facts(folder: Folder) -> None:
    """Raise `DamagedFolderError` if a fact of an index is of another type than those that are written.

    Parameters
    ----------
    folder : Folder
        The folder of the index.
    """
    wrong = _find_wrong(folder.facts, _FACTS, "facts")
    if wrong is not None:
        raise damage_error(
            "'{path}' is damaged: its manifest has another kind of value for {name} than was written.",
            path=str(folder.path),
            name=wrong,
        )
    corpus = folder.facts.get("corpus") or {}
    flags = {"vocabulary": folder.facts.get("fit", {}).get("has_vocabulary")}
    flags |= {"texts": corpus.get("has_texts"), "names": corpus.get("has_names")}
    for name, flag in flags.items():
        # In any segment: documents may have been removed from the first one.
        if bool(flag) != any(f"/{each}".endswith(f"/{name}/bytes") for each in folder):
            raise damage_error(
                "'{path}' is damaged: its manifest and its arrays disagree on whether it has {name}.",
                path=str(folder.path),
                name=name,
            )


def _find_wrong(values: Mapping[str, Any], known: Mapping[str, Any], name: str) -> str | None:
    """Return the name of the first value that is not of its type; what is missing was written by older versions."""
    for key in known:
        if key in values and not any(_fits(values[key], kind) for kind in known[key]):
            return f"{name}/{key}"
    return None


def _fits(value: Any, kind: Any) -> bool:
    if kind is None:
        return value is None
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(each, kind[0]) for each in value)
    if isinstance(kind, dict):
        is_record = isinstance(kind, _Record)
        return (
            isinstance(value, dict)
            and (not is_record or value.keys() == kind.keys())
            and _find_wrong(value, kind, "") is None
        )
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
