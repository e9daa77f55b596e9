"""Work that threads share."""

import os
import subprocess
import sys
import threading

import pytest

from mixsearch.data.threads import map_in_order


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("n_values", [0, 1, 40])
def test_results_come_in_the_order_of_the_values(n_threads, n_values):
    assert list(map_in_order(lambda x: 2 * x, iter(range(n_values)), n_threads)) == list(range(0, 2 * n_values, 2))


def test_several_threads_work_at_once():
    both = threading.Barrier(2, timeout=60)
    threads = set(map_in_order(lambda _: (both.wait(), threading.get_ident())[1], range(2), 2))
    assert len(threads) == 2
    assert threading.get_ident() in threads


def test_calls_within_tasks_do_not_block_each_other():
    def count(depth):
        return 1 if depth == 0 else sum(map_in_order(count, [depth - 1] * 4, 2))

    assert count(4) == 4**4


def test_an_error_ends_the_work_of_all_threads_first():
    begun, ended = [], []
    is_running, may_go_on = threading.Event(), threading.Event()

    def work(value):
        if value == 0:
            is_running.wait(60)
            may_go_on.set()
            raise ValueError("the first one")
        begun.append(value)
        is_running.set()
        may_go_on.wait(60)
        ended.append(value)

    # Two tasks of which the second runs in another thread until the first one has failed.
    with pytest.raises(ValueError, match="the first one"):
        list(map_in_order(work, [0, 1], 3))
    assert ended == begun == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_process_that_was_forked_has_threads_of_its_own():
    code = """
import os
from mixsearch.data.threads import map_in_order
total = lambda: sum(map_in_order(abs, range(100), 3))
first = total()
child = os.fork()
if child == 0:
    os._exit(0 if total() == first else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
