"""Eight labelled corpora, with words that should find the documents of a label."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
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
    """Where a corpus is, and how to read it."""

    file: str
    text: Callable[[Row], str] = lambda row: row["text"]
    labels: Callable[[Row], Sequence[str]] = lambda row: (row["label"],)
    once: str | None = None  # of rows that share this field, only the first is a document
    unlabelled: str | None = None  # the label of documents that are not ranked


SOURCES = {
    # Headers give away the group; some files have tabs where the post had new lines.
    "newsgroups": Source(
        "text/20news_bydate.jsonl.gz", lambda row: row["text"].replace("\t", "\n").partition("\n\n")[2]
    ),
    "bbc": Source("text/bbc.jsonl.gz"),
    # The packages of one source repeat each other's text.
    "debian": Source(
        "text/debian_packages.jsonl.gz", labels=lambda row: (row["section"].rpartition("/")[2],), once="source"
    ),
    "imdb": Source("text/imdb_50k.jsonl.gz", lambda row: row["text"].replace("<br />", " "), unlabelled="unsup"),
    "reuters": Source("text/reuters_21578.jsonl.gz", labels=lambda row: row["labels"]),
    "ohsumed": Source("text/ohsumed_7k.jsonl.gz"),
    "stackoverflow": Source("text/stackoverflow_16k.jsonl.gz"),
    "dbpedia": Source("text/dbpedia_14k.jsonl.gz", lambda row: row["text"].replace("\t", "\n")),
}
# The words that should rank first the documents of a label. All were chosen before any result was seen.
WORDS = {
    "newsgroups": {
        "alt.atheism": "atheism atheists",
        "comp.graphics": "graphics polygon",
        "comp.os.ms-windows.misc": "windows drivers",
        "comp.sys.ibm.pc.hardware": "ide motherboard",
        "comp.sys.mac.hardware": "mac apple",
        "comp.windows.x": "motif xterm",
        "misc.forsale": "sale shipping",
        "rec.autos": "car ford",
        "rec.motorcycles": "bike motorcycle",
        "rec.sport.baseball": "baseball pitcher",
        "rec.sport.hockey": "hockey nhl",
        "sci.crypt": "encryption clipper",
        "sci.electronics": "circuit voltage",
        "sci.med": "disease patients",
        "sci.space": "orbit shuttle",
        "soc.religion.christian": "christ church",
        "talk.politics.guns": "gun firearms",
        "talk.politics.mideast": "israel turkish",
    },
    "bbc": {
        "business": "economy growth profits shares",
        "entertainment": "film actor album oscar",
        "politics": "election labour minister voters",
        "sport": "match rugby champion injury",
        "tech": "software users mobile broadband",
    },
    "debian": {
        "games": "game puzzle",
        "python": "python",
        "kernel": "kernel",
        "sound": "music audio",
        "database": "database sql",
        "fonts": "font truetype",
        "mail": "email smtp",
        "science": "physics",
        "math": "algebra",
        "graphics": "image",
        "video": "video",
        "web": "html",
        "perl": "perl",
        "ruby": "ruby",
        "haskell": "haskell",
        "java": "java",
        "editors": "editor",
        "electronics": "circuit",
        "hamradio": "radio",
        "vcs": "git",
        "rust": "rust",
        "php": "php",
    },
    "imdb": {
        "pos": "wonderful excellent superb perfect amazing brilliant",
        "neg": "awful worst boring terrible waste stupid horrible crap",
    },
    "reuters": {
        "earn": "profit dividend",
        "acq": "merger takeover",
        "money-fx": "currency dollar",
        "grain": "grain",
        "crude": "crude opec",
        "trade": "trade tariffs",
        "interest": "rate discount",
        "ship": "ship port",
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
        "oilseed": "soybeans",
        "corn": "corn",
        "nat-gas": "gas",
        "money-supply": "supply",
        "gnp": "gnp",
        "iron-steel": "steel",
        "alum": "aluminium",
        "cotton": "cotton",
        "rice": "rice",
        "bop": "deficit",
        "veg-oil": "palm",
    },
    "ohsumed": {
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
    },
    "stackoverflow": {
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
    },
    "dbpedia": {
        "Company": "company manufacturer",
        "EducationalInstitution": "school university",
        "Artist": "singer painter",
        "Athlete": "footballer basketball",
        "OfficeHolder": "politician senate",
        "MeanOfTransportation": "ship aircraft",
        "Building": "building church",
        "NaturalPlace": "river mountain",
        "Village": "village district",
        "Animal": "species moth",
        "Plant": "plant flowering",
        "Album": "album songs",
        "Film": "film directed",
        "WrittenWork": "novel journal",
    },
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Counts of labelled documents, and the words to search them for."""

    name: str
    counts: sp.csr_array  # (n, d), whole
    words: list[str]  # (d,)
    labels: Array  # (n,): of each document, separated by spaces

    @property
    def questions(self) -> list[tuple[str, str]]:
        """Labels, each with a word that should rank its documents first; a label may have several."""
        pairs = [(label, word) for label, words in WORDS[self.name].items() for word in words.split()]
        vocabulary = set(self.words)
        return [(label, word) for label, word in pairs if word in vocabulary]

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


def load_corpus(name: str) -> Corpus:
    """Count a corpus, or load the counts of an earlier run on the same file."""
    arrays = _cached(data_folder() / SOURCES[name].file, lambda: _count(SOURCES[name]))
    counts = sp.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
    return Corpus(name, counts, arrays["words"].tolist(), arrays["labels"])


def _count(source: Source) -> dict[str, Array]:
    rows = list(read_rows(source))
    vectorizer = CountVectorizer(stop_words="english", min_df=10, max_df=0.3, token_pattern=TOKEN)
    counts = vectorizer.fit_transform(map(source.text, rows))
    words, labels = vectorizer.get_feature_names_out(), np.array([" ".join(source.labels(row)) for row in rows])
    arrays = {name: getattr(counts, name) for name in ("data", "indices", "indptr")}
    return arrays | {"shape": np.array(counts.shape), "words": words.astype(str), "labels": labels}


def read_rows(source: Source) -> Iterator[Row]:
    """Yield the rows of the documents of a corpus."""
    seen = set()
    with gzip.open(data_folder() / source.file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if source.once is None or row[source.once] not in seen:
                yield row
            if source.once is not None:
                seen.add(row[source.once])


def _cached(path: Path, make: Callable[[], dict[str, Array]]) -> dict[str, Array]:
    """Return the result of `make`, cached for each content of the data file and of this one."""
    key = hashlib.sha256()
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
