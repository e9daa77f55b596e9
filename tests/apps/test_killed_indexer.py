"""The indexer killed at random moments: `benchmarks/kill_writer.py` does it fifty times."""

import itertools
import random
import subprocess
import sys
import time

import pytest

from mixsearch.datasets import make_topics
from mixsearch.errors import MissingFolderError, UnfinishedFolderError
from mixsearch.index import open_index
from mixsearch.storage import open_folder

pytestmark = pytest.mark.slow

N_KILLS = 4


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    data = make_topics(800, 120, 4, mean_length=40, random_state=0)
    rows = data.counts.tocsr()
    lines = [" ".join(data.vocabulary[j] for j in rows.indices[a:b]) for a, b in itertools.pairwise(rows.indptr)]
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def start_indexer(texts, folder):
    command = [sys.executable, "-m", "mixsearch", "index", str(texts), "-o", str(folder), "-k", "4", "--overwrite"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def generation(folder):
    """Return the generation of a complete index, or None if there is no index."""
    try:
        index = open_index(folder)
    except (MissingFolderError, UnfinishedFolderError):
        return None
    index.verify()
    return open_folder(index.path, kind="topic index", version=2).generation


def test_a_killed_indexer_leaves_the_old_index_or_none(texts, tmp_path):
    folder, dice = tmp_path / "texts.index", random.Random(0)
    before = generation(folder)
    assert before is None
    begun = time.monotonic()
    assert start_indexer(texts, folder).wait() == 0
    usual = time.monotonic() - begun
    for _ in range(N_KILLS):
        before = generation(folder)
        assert before is not None
        process = start_indexer(texts, folder)
        time.sleep(dice.uniform(0.5, 1.0) * usual)
        process.kill()
        process.wait()
        assert generation(folder) is not None  # the old one, or the new one where it was done
    assert start_indexer(texts, folder).wait() == 0
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1
