"""How a report was made, in plain words."""

from __future__ import annotations

from mixsearch.report._contents import Report

# A heading and a paragraph each.
_SECTIONS = (
    (
        "How a topic is found",
        "Each hint is a word or a few words. A topic is a set of words that occur together in the same documents, each "
        "with its probability. From how words occur together, in pairs and triples, the search computes the one topic "
        "that the hint points to, and then refines it on the documents near the hint. Nobody labelled any document, "
        "and no list of topics was set in advance.",
    ),
    (
        "Words",
        "Words are listed by how well they distinguish documents of the topic from others. The percentage is the "
        "probability of the word in the topic; 12× means that it is twelve times as likely there as in all documents.",
    ),
    (
        "Verdict",
        "The verdict says whether the topic is the one that the hint means. It is based on a probability calibrated on "
        "labelled texts: clear means 80% or more, likely 50%, doubtful 20%, unclear less. Read the words and the "
        "documents before you rely on a topic that is doubtful or unclear.",
    ),
    (
        "How many documents",
        "A document is about a topic if at least a quarter of it is. Words alone do not determine the exact number: "
        "in labelled texts, the range contained the number of labelled documents for most topics. The "
        "share of a topic is its part of all text, so a topic in few long documents and one in many short ones can "
        "have the same share.",
    ),
    (
        "Documents",
        "Documents are listed by how much they are about the topic: by their words, their likelihood, and their "
        "distance to the documents that contain the hint. The share of a document is an estimate. Shares of "
        "several topics in one document add up to at most 100%.",
    ),
    (
        "Over time and by group",
        "The line or dot is the mean share of the topic in the documents of a period or group. The band or bar is a "
        "95% interval for the share in all documents of this kind, given the topic that was "
        "found. Periods with few documents have wide intervals. Shares whose intervals do not overlap differ; "
        "among many comparisons, some differ by chance.",
    ),
    (
        "Other meanings",
        "A word can mean several things. Other topics that the hint points to are listed with the part of the hint "
        "that each accounts for. To search for one of them, add a word that is specific to it.",
    ),
    (
        "What to keep in mind",
        "Topics are patterns of words, not judgements about what was meant: irony, negation and rare spellings are not "
        "understood. Documents with too few words are left out.",
    ),
)


def list_methods(report: Report) -> list[tuple[str, str]]:
    """Return the headings and paragraphs of the page of methods."""
    return [("The documents", _describe_documents(report)), *_SECTIONS]


def _describe_documents(report: Report) -> str:
    parts = [
        f"{report.n_documents:,} documents of the index {report.index}, with {report.n_words:,} distinct words that "
        f"were counted. {report.n_fitted:,} topics were fitted to them; a search uses as many as its hint needs."
    ]
    if report.where is not None:
        parts.append(f"Only documents with {report.where} are listed and counted.")
    if report.timeline is not None and report.timeline.n_missing:
        n_missing, column = report.timeline.n_missing, report.timeline.column
        parts.append(f"{n_missing:,} of them have no value in the column {column}, and are not part of the timeline.")
    return " ".join(parts)
