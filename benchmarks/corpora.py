"""Eight labelled corpora, with words that should find the documents of a label."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from mixsearch._typing import Array

TOKEN = r"\b[a-z][a-z]+\b"
# Where counted text waits for the next run.
CACHE = Path(tempfile.gettempdir()) / "mixsearch-corpora"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a corpus is, how to read it, and what to ask it. All words were chosen before any result was seen."""

    file: str
    text: Callable[[Row], str]
    labels: Callable[[Row], Sequence[str]]
    groups: Mapping[str, str]  # label -> the word that should rank its documents first
    more: Sequence[tuple[str, str]] = ()  # further labels and words
    once: str | None = None  # of rows that share this field, only the first is a document
    unlabelled: str | None = None  # the label of documents that are not ranked


# One word for each group, chosen before any result was seen.
FIRST_WORDS = {
    "newsgroups": {
        "alt.atheism": "atheism",
        "comp.graphics": "graphics",
        "comp.os.ms-windows.misc": "windows",
        "comp.sys.ibm.pc.hardware": "ide",
        "comp.sys.mac.hardware": "mac",
        "comp.windows.x": "motif",
        "misc.forsale": "sale",
        "rec.autos": "car",
        "rec.motorcycles": "bike",
        "rec.sport.baseball": "baseball",
        "rec.sport.hockey": "hockey",
        "sci.crypt": "encryption",
        "sci.electronics": "circuit",
        "sci.med": "disease",
        "sci.space": "orbit",
        "soc.religion.christian": "christ",
        "talk.politics.guns": "gun",
        "talk.politics.mideast": "israel",
    },
    "bbc": {
        "business": "economy",
        "entertainment": "film",
        "politics": "election",
        "sport": "match",
        "tech": "software",
    },
    "reuters": {
        "earn": "profit",
        "acq": "merger",
        "money-fx": "currency",
        "grain": "grain",
        "crude": "crude",
        "trade": "trade",
        "interest": "rate",
        "ship": "ship",
        "wheat": "wheat",
        "sugar": "sugar",
        "coffee": "coffee",
        "gold": "gold",
        "cocoa": "cocoa",
        "rubber": "rubber",
        "jobs": "unemployment",
        "cpi": "inflation",
        "livestock": "cattle",
        "copper": "copper",
    },
    "dbpedia": {
        "Company": "company",
        "EducationalInstitution": "school",
        "Artist": "singer",
        "Athlete": "footballer",
        "OfficeHolder": "politician",
        "MeanOfTransportation": "ship",
        "Building": "building",
        "NaturalPlace": "river",
        "Village": "village",
        "Animal": "species",
        "Plant": "plant",
        "Album": "album",
        "Film": "film",
        "WrittenWork": "novel",
    },
}
# Further words for labels, chosen before any result was seen.
MORE_WORDS = {
    "newsgroups": (
        ("alt.atheism", "atheists"),
        ("comp.graphics", "polygon"),
        ("comp.os.ms-windows.misc", "drivers"),
        ("comp.sys.ibm.pc.hardware", "motherboard"),
        ("comp.sys.mac.hardware", "apple"),
        ("comp.windows.x", "xterm"),
        ("misc.forsale", "shipping"),
        ("rec.autos", "ford"),
        ("rec.motorcycles", "motorcycle"),
        ("rec.sport.baseball", "pitcher"),
        ("rec.sport.hockey", "nhl"),
        ("sci.crypt", "clipper"),
        ("sci.electronics", "voltage"),
        ("sci.med", "patients"),
        ("sci.space", "shuttle"),
        ("soc.religion.christian", "church"),
        ("talk.politics.guns", "firearms"),
        ("talk.politics.mideast", "turkish"),
    ),
    "bbc": (
        ("business", "growth"),
        ("business", "profits"),
        ("business", "shares"),
        ("entertainment", "actor"),
        ("entertainment", "album"),
        ("entertainment", "oscar"),
        ("politics", "labour"),
        ("politics", "minister"),
        ("politics", "voters"),
        ("sport", "rugby"),
        ("sport", "champion"),
        ("sport", "injury"),
        ("tech", "users"),
        ("tech", "mobile"),
        ("tech", "broadband"),
    ),
    "debian": (
        ("games", "puzzle"),
        ("sound", "audio"),
        ("database", "sql"),
        ("fonts", "truetype"),
        ("mail", "smtp"),
        ("science", "physics"),
        ("math", "algebra"),
        ("graphics", "image"),
        ("video", "video"),
        ("web", "html"),
        ("perl", "perl"),
        ("ruby", "ruby"),
        ("haskell", "haskell"),
        ("java", "java"),
        ("editors", "editor"),
        ("electronics", "circuit"),
        ("hamradio", "radio"),
        ("vcs", "git"),
        ("rust", "rust"),
        ("php", "php"),
    ),
    "imdb": (
        ("pos", "excellent"),
        ("pos", "superb"),
        ("pos", "perfect"),
        ("pos", "amazing"),
        ("pos", "brilliant"),
        ("neg", "worst"),
        ("neg", "boring"),
        ("neg", "terrible"),
        ("neg", "waste"),
        ("neg", "stupid"),
        ("neg", "horrible"),
        ("neg", "crap"),
    ),
    "reuters": (
        ("earn", "dividend"),
        ("acq", "takeover"),
        ("money-fx", "dollar"),
        ("crude", "opec"),
        ("trade", "tariffs"),
        ("interest", "discount"),
        ("ship", "port"),
        ("oilseed", "soybeans"),
        ("corn", "corn"),
        ("nat-gas", "gas"),
        ("money-supply", "supply"),
        ("gnp", "gnp"),
        ("iron-steel", "steel"),
        ("alum", "aluminium"),
        ("cotton", "cotton"),
        ("rice", "rice"),
        ("bop", "deficit"),
        ("veg-oil", "palm"),
    ),
    "dbpedia": (
        ("Company", "manufacturer"),
        ("EducationalInstitution", "university"),
        ("Artist", "painter"),
        ("Athlete", "basketball"),
        ("OfficeHolder", "senate"),
        ("MeanOfTransportation", "aircraft"),
        ("Building", "church"),
        ("NaturalPlace", "mountain"),
        ("Village", "district"),
        ("Animal", "moth"),
        ("Plant", "flowering"),
        ("Album", "songs"),
        ("Film", "directed"),
        ("WrittenWork", "journal"),
    ),
}
# Three words for each disease class, and for each tag.
OHSUMED = {
    "C01": "bacterial infection fungal",
    "C02": "viral virus hepatitis",
    "C03": "malaria parasites parasitic",
    "C04": "cancer tumor carcinoma",
    "C05": "bone arthritis musculoskeletal",
    "C06": "gastrointestinal liver colitis",
    "C07": "oral dental jaw",
    "C08": "respiratory lung asthma",
    "C09": "ear hearing nasal",
    "C10": "brain neurologic seizures",
    "C11": "eye visual retinal",
    "C12": "urinary renal prostate",
    "C13": "pregnancy ovarian pregnant",
    "C14": "heart cardiac coronary",
    "C15": "anemia thrombocytopenia sickle",
    "C16": "congenital neonates anomalies",
    "C17": "skin cutaneous dermatitis",
    "C18": "metabolic diabetes obesity",
    "C19": "endocrine thyroid adrenal",
    "C20": "immune autoimmune aids",
    "C21": "injury trauma poisoning",
    "C23": "pain symptoms syndrome",
}
STACKOVERFLOW = {
    "1": "wordpress blog plugin",
    "2": "oracle plsql database",
    "3": "svn subversion repository",
    "4": "apache htaccess rewrite",
    "5": "excel vba spreadsheet",
    "6": "matlab matrix plot",
    "7": "studio debugger solution",
    "8": "cocoa nsstring objective",
    "9": "osx mac leopard",
    "10": "bash shell script",
    "11": "spring bean mvc",
    "12": "hibernate mapping hql",
    "13": "scala traits actors",
    "14": "sharepoint moss webpart",
    "15": "ajax javascript jquery",
    "16": "qt widget qwidget",
    "17": "drupal node cck",
    "18": "linq lambda query",
    "19": "haskell monad ghc",
    "20": "magento product cart",
}
SOURCES = {
    "newsgroups": Source(
        "text/20news_bydate.jsonl.gz",
        # Headers give away the group; some files have tabs where the post had new lines.
        lambda row: row["text"].replace("\t", "\n").partition("\n\n")[2],
        lambda row: (row["label"],),
        FIRST_WORDS["newsgroups"],
        more=MORE_WORDS["newsgroups"],
    ),
    "bbc": Source(
        "text/bbc.jsonl.gz",
        lambda row: row["text"],
        lambda row: (row["label"],),
        FIRST_WORDS["bbc"],
        more=MORE_WORDS["bbc"],
    ),
    "debian": Source(
        "text/debian_packages.jsonl.gz",
        lambda row: row["text"],
        lambda row: (row["section"].rpartition("/")[2],),
        {
            "games": "game",
            "python": "python",
            "kernel": "kernel",
            "sound": "music",
            "database": "database",
            "fonts": "font",
            "mail": "email",
        },
        more=MORE_WORDS["debian"],
        once="source",  # the packages of one source repeat each other's text
    ),
    "imdb": Source(
        "text/imdb_50k.jsonl.gz",
        lambda row: row["text"].replace("<br />", " "),
        lambda row: (row["label"],),
        {"pos": "wonderful", "neg": "awful"},
        more=MORE_WORDS["imdb"],
        unlabelled="unsup",
    ),
    "reuters": Source(
        "text/reuters_21578.jsonl.gz",
        lambda row: row["text"],
        lambda row: row["labels"],
        FIRST_WORDS["reuters"],
        more=MORE_WORDS["reuters"],
    ),
    "ohsumed": Source(
        "text/ohsumed_7k.jsonl.gz",
        lambda row: row["text"],
        lambda row: (row["label"],),
        {label: words.split()[0] for label, words in OHSUMED.items()},
        more=[(label, word) for label, words in OHSUMED.items() for word in words.split()[1:]],
    ),
    "stackoverflow": Source(
        "text/stackoverflow_16k.jsonl.gz",
        lambda row: row["text"],
        lambda row: (row["label"],),
        {label: words.split()[0] for label, words in STACKOVERFLOW.items()},
        more=[(label, word) for label, words in STACKOVERFLOW.items() for word in words.split()[1:]],
    ),
    "dbpedia": Source(
        "text/dbpedia_14k.jsonl.gz",
        lambda row: row["text"].replace("\t", "\n"),
        lambda row: (row["label"],),
        FIRST_WORDS["dbpedia"],
        more=MORE_WORDS["dbpedia"],
    ),
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Counts of labelled documents, and the words to search them for."""

    name: str
    counts: sp.csr_array  # (n, d), whole
    words: list[str]  # (d,)
    labels: Array  # (n,): of each document, separated by spaces

    @property
    def groups(self) -> Mapping[str, str]:
        """The word that should rank first the documents of a label."""
        return SOURCES[self.name].groups

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Labels, each with a word that should rank its documents first; a label may have several."""
        known = set(self.words)
        return [each for each in [*self.groups.items(), *SOURCES[self.name].more] if each[1] in known]

    def has_label(self, label: str) -> Array:
        """Return which documents have a label, (n,)."""
        return np.char.find(np.char.add(np.char.add(" ", self.labels), " "), f" {label} ") >= 0

    @property
    def ranked(self) -> Array:
        """Return which documents have a label, (n,)."""
        return np.asarray(self.labels != SOURCES[self.name].unlabelled)


def data_folder() -> Path:
    """Return the folder of real data, from MIXSEARCH_DATA or next to the project."""
    return Path(os.environ.get("MIXSEARCH_DATA", Path(__file__).parents[2] / "shared" / "data"))


def available() -> list[str]:
    """The corpora whose files are here."""
    return [name for name, source in SOURCES.items() if (data_folder() / source.file).exists()]


def load_corpus(name: str, *, function_words: bool = False) -> Corpus:
    """Count a corpus, optionally with function words, or load the counts of an earlier run on the same file."""
    source = SOURCES[name]
    stop_words = None if function_words else "english"
    arrays = _cached(data_folder() / source.file, lambda: _count(source, stop_words), str(stop_words))
    return Corpus(name, _unpacked(arrays), arrays["words"].tolist(), arrays["labels"])


def _count(source: Source, stop_words: str | None) -> dict[str, Array]:
    rows = list(read_rows(source))
    vectorizer = CountVectorizer(stop_words=stop_words, min_df=10, max_df=0.3, token_pattern=TOKEN)
    counts = vectorizer.fit_transform(map(source.text, rows))
    words, labels = vectorizer.get_feature_names_out(), np.array([" ".join(source.labels(row)) for row in rows])
    return _packed(counts) | {"words": words.astype(str), "labels": labels}


def read_rows(source: Source) -> Iterator[Row]:
    """Yield the rows of the documents of a corpus."""
    seen = set()
    for row in _rows(data_folder() / source.file):
        if source.once is None or row[source.once] not in seen:
            yield row
        if source.once is not None:
            seen.add(row[source.once])


def _rows(path: Path) -> Iterator[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _packed(counts: Any) -> dict[str, Array]:
    return {name: getattr(counts, name) for name in ("data", "indices", "indptr")} | {"shape": np.array(counts.shape)}


def _unpacked(arrays: Mapping[str, Array]) -> sp.csr_array:
    return sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))


def _cached(path: Path, make: Callable[[], dict[str, Array]], more: str = "") -> dict[str, Array]:
    """Return the result of `make`, cached for each content of the data file and of this one."""
    key = hashlib.sha256(more.encode())
    for file in (path, Path(__file__)):
        with file.open("rb") as content:
            key.update(hashlib.file_digest(content, "sha256").digest())
    kept = CACHE / f"{path.name.partition('.')[0]}-{key.hexdigest()[:16]}.npz"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}.npz")
        made: dict[str, Any] = make()
        np.savez(unfinished, **made)
        unfinished.replace(kept)
    with np.load(kept) as arrays:
        return dict(arrays)
