"""A corpus of plain subjects, with some texts and names that a careless page would execute or garble."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mixsearch.topics import IndexOptions, TopicIndex, build_index, open_index
from tests.every_word import every_word

# The likeliest words come first. Mate is a word of chess and of sailing alike.
SUBJECTS = {
    "cooking": """recipe oven butter flour sauce garlic onion simmer roast bake spoon dough pepper salt kitchen boil
        pastry tomato cheese stew grill basil vinegar whisk broth skillet""",
    "sailing": """sail harbour anchor mast wind tide rudder keel mate deck sailor captain hull voyage rigging port
        starboard compass knot shore wave buoy jib ballast lighthouse gale""",
    "astronomy": """star galaxy planet orbit telescope comet nebula moon eclipse asteroid light gravity cosmic supernova
        observatory spectrum lunar solar meteor crater constellation quasar redshift dwarf pulsar parallax""",
    "gardening": """garden soil seed plant compost flower rose prune weed shovel mulch tulip greenhouse hedge lawn bulb
        root leaf water spade pot trellis fern orchard shrub fertilizer""",
    "chess": """chess pawn knight bishop queen rook king mate opening gambit endgame castle check board tournament
        grandmaster tactics sacrifice stalemate clock fork defence blunder rating sicilian zugzwang""",
}
COMMON = """day good time people small early year often little long begin work hand keep make today always together
    first another"""
PLACES = ("Rome", 'the "old" town')
N_DOCUMENTS = 400
MEAN_LENGTH = 45

SCRIPT = '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
ODD_NAME = 'Log <img src=x onerror="window.pwned=1"> & "quotes" <b>bold</b>'
ODD_TEXT = f"anchor {SCRIPT} harbour & tide < wind > \"keel\" 'mast' 🚢 ⚓ סירה شراع sail sail sail captain rudder hull"
LONG_TEXT = " ".join(["telescope galaxy planet orbit comet nebula eclipse asteroid"] * 4000)

TINY_SUBJECTS = {
    "music": "violin piano melody orchestra chord drum cello concert rhythm flute",
    "football": "goal striker referee penalty stadium coach league keeper offside corner",
}


def build_library(folder: Path) -> dict[str, TopicIndex]:
    """The indexes that the server of the tests has: a real one, and a tiny one."""
    hobbies = write_documents(folder / "hobbies.jsonl", make_documents(SUBJECTS, N_DOCUMENTS) + odd_documents())
    tiny = write_documents(folder / "tiny.jsonl", make_documents(TINY_SUBJECTS, 60))
    reading = every_word(text="text", id="name", min_df=2)
    build_index(hobbies, folder / "hobbies.index", IndexOptions(n_components=12), reading)
    build_index(tiny, folder / "tiny.index", IndexOptions(n_components=3), every_word(text="text", id="name"))
    return {name: open_index(folder / f"{name}.index") for name in ("hobbies", "tiny")}


def make_documents(subjects: dict[str, str], n: int, seed: int = 0) -> list[dict[str, str]]:
    """Texts of one subject each, with a little of another and words that all subjects use."""
    rng = np.random.default_rng(seed)
    vocabularies = [words.split() for words in subjects.values()]
    documents = []
    for number in range(n):
        subject = number % len(subjects)
        other = rng.integers(len(subjects))
        words = [
            *_draw(rng, vocabularies[subject], int(rng.poisson(0.7 * MEAN_LENGTH)) + 1),
            *_draw(rng, vocabularies[other], int(rng.poisson(0.1 * MEAN_LENGTH))),
            *_draw(rng, COMMON.split(), int(rng.poisson(0.2 * MEAN_LENGTH))),
        ]
        rng.shuffle(words)
        # Chess becomes more frequent: it is left out of most of the early years.
        year = 2023 if subject == 4 and number % 4 else 2004 + number // len(subjects) % 20
        facts = {"date": f"{year}-05-0{1 + number % 9}", "place": PLACES[int(subject > 1)]}
        name = f"{list(subjects)[subject]} {number}"
        documents.append({"name": name, "text": " ".join(words).capitalize() + ".", **facts})
    return documents


def odd_documents() -> list[dict[str, str]]:
    """Texts that are markup, or very long."""
    facts = {"date": "2021-05-01", "place": "Rome"}
    return [
        {"name": ODD_NAME, "text": ODD_TEXT, **facts},
        {
            "name": "אוניה ⚓",
            "text": ODD_TEXT.replace("captain", "captain sailor"),
            "date": "2021-05-01",
            "place": "Rome",
        },
        {"name": "A long night", "text": LONG_TEXT, **facts},
    ]


def _draw(rng: np.random.Generator, words: list[str], n: int) -> list[str]:
    """Draw some of the words, the first ones more often."""
    share = 1 / np.sqrt(np.arange(1, len(words) + 1))
    return [str(word) for word in rng.choice(words, n, p=share / share.sum())]


def write_documents(path: Path, documents: list[dict[str, str]]) -> Path:
    """Write documents as lines of JSON."""
    path.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
    return path
