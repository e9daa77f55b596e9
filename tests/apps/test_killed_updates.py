"""Writers killed at random moments: `benchmarks/kill_update.py` does it fifty times for each."""

import random
import shutil
import time

import pytest
from tests.unit.index.update.grown_index import build_reviews, list_subjects, make_reviews, write_reviews
from tests.unit.storage.writers import processes

from mixsearch.index import add_documents, open_index, refresh_index, remove_documents

pytestmark = pytest.mark.slow

N_KILLS = 3


def add(path, more):
    add_documents(path, more)


def remove(path, _):
    remove_documents(path, where="stars <= 2")


def refresh(path, _):
    refresh_index(path)


@pytest.mark.parametrize("change", [add, remove, refresh])
def test_a_killed_writer_leaves_the_index_from_before_or_from_after(tmp_path, change):
    base = build_reviews(tmp_path, make_reviews(list_subjects(300), 0))
    more = write_reviews(tmp_path / "more.parquet", make_reviews(list_subjects(40), 1000))
    dice = random.Random(0)
    begun = time.monotonic()
    run(change, shutil.copytree(base, tmp_path / "whole"), more).join()
    usual, after = time.monotonic() - begun, open_index(tmp_path / "whole").n_documents
    for i in range(N_KILLS):
        path = tmp_path / f"copy-{i}"
        shutil.copytree(base, path)
        before = open_index(path)
        writer = run(change, path, more)
        time.sleep(dice.uniform(0.3, 1.0) * usual)
        writer.kill()
        writer.join()
        left = open_index(path)
        left.verify()
        is_old = left.generation == before.generation
        assert left.n_documents == (before.n_documents if is_old else after)
        if is_old:
            change(path, more)
            assert open_index(path).n_documents == after


def run(change, path, more):
    writer = processes.Process(target=change, args=(path, more))
    writer.start()
    return writer
