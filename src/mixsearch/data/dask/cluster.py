"""The cluster that work goes to: whether it is there, whether it has what the work needs, and waiting for it."""

from __future__ import annotations

import logging
import platform
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any

import dask
from dask.base import get_scheduler
from distributed import CancelledError, Client, KilledWorker, LocalCluster, wait
from distributed.scheduler import NoValidWorkerError

from mixsearch.errors import ClusterError

# Where a cluster of this machine alone is asked for.
LOCAL = "local"


# Seconds that work waits for a cluster without any worker: as long as a worker takes to come back.
WORKER_TIMEOUT = 30.0


_LOOK = 1.0


# By default workers give arrays of a megabyte back to the system at once, and pay for the next one in page faults.
KEEP_MEMORY = {
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}


# A worker must have the same of the first, and of the others what agrees up to so many places.
_PLACES = {"mixsearch": None, "numpy": 2, "scipy": 2}


# Errors of the cluster itself, not of the work.
_LOST = (CancelledError, KilledWorker, NoValidWorkerError, OSError)


def current_client() -> Client | None:
    """The client of the cluster that Dask would work on now; None where that is this process."""
    owner = getattr(get_scheduler(), "__self__", None)
    if not isinstance(owner, Client):
        return None
    if owner.scheduler is None:
        raise ClusterError("The connection to the cluster is closed. Connect again, and fit again there.")
    return owner


@contextmanager
def connected(address: str, *, timeout: float = 10.0) -> Iterator[Client]:
    """A client of the cluster at an address, or of a new one with all cores of this machine for "local"."""
    if address == LOCAL:
        with _local_cluster() as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(address, timeout=timeout)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address!r} within {timeout:g} seconds ({type(error).__name__}: {error}). "
            "Check the address, such as tcp://host:8786, and that `dask scheduler` runs there; 'local' starts a "
            "cluster on this machine."
        ) from error
    with client:
        yield client


def _local_cluster() -> LocalCluster:
    """A worker for each core of this machine."""
    with _interrupts_blocked(), dask.config.set(KEEP_MEMORY):
        return LocalCluster(
            threads_per_worker=1,
            # Any free port: the usual one may be in use, which is nobody's concern here.
            dashboard_address=":0",
            # What its workers cannot do is raised here: nothing is to be logged beside.
            silence_logs=logging.CRITICAL,
        )


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep Ctrl-C until later; processes that are started meanwhile never get it, and are ended by who started them."""
    if sys.platform == "win32":
        yield  # no masks there
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_workers(client: Client, *, timeout: float = WORKER_TIMEOUT) -> None:
    """Every worker must have the package in this version, and Python and arrays that go with it."""
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        raise ClusterError(_no_workers(client, timeout)) from error
    own = {"Python": platform.python_version(), **{name: version(name) for name in _PLACES}}
    found = {"Python": client.run(platform.python_version, on_error="return")}
    found |= {name: client.run(version, name, on_error="return") for name in _PLACES}
    for name, by_worker in found.items():
        places = _PLACES.get(name, 2)
        wrong = {worker: other for worker, other in by_worker.items() if not _agree(own[name], other, places)}
        if wrong:
            raise ClusterError(_mismatch(name, own[name], wrong, len(by_worker)))


def _agree(one: str, other: Any, places: int | None) -> bool:
    return isinstance(other, str) and one.split(".")[:places] == other.split(".")[:places]


def _mismatch(name: str, own: str, wrong: dict[str, Any], n_workers: int) -> str:
    worker, other = next(iter(wrong.items()))
    which = f"{len(wrong)} of {n_workers} workers of the cluster" if n_workers > 1 else "The worker of the cluster"
    if isinstance(other, PackageNotFoundError):
        state = "lacks the package" if len(wrong) == 1 else "lack the package"
        return (
            f"{which} {state} {name}, which the work needs there too; one is {worker}. Install {name}=={own} in the "
            "environment of the workers, and start them again."
        )
    return (
        f"{which} {'has' if len(wrong) == 1 else 'have'} another version of {name}: found {other} at {worker}, needed "
        f"{own} as here. Use one environment for the client, the scheduler and the workers."
    )


def count_threads(client: Client, *, timeout: float = WORKER_TIMEOUT) -> dict[str, int]:
    """The threads of every worker, by its address."""
    try:
        return dict(client.nthreads(callback_timeout=timeout))
    except (OSError, TimeoutError, AttributeError) as error:  # the last, where the client is closed meanwhile
        raise ClusterError(_failure(error)) from error


def wait_for(client: Client, futures: Sequence[Any], on_look: Callable[[], None] | None = None) -> None:
    """Wait until all are done; an error where no worker is left to do them, or the cluster is gone.

    `on_look` is called every second meanwhile; what it raises ends the waiting.
    """
    alone_since: float | None = None
    patience = float(dask.config.get("mixsearch.patience", WORKER_TIMEOUT))
    while True:
        try:
            wait(futures, timeout=_LOOK)
        except TimeoutError:
            alone_since = _alone(client, alone_since, patience)
            if on_look is not None:
                on_look()
            continue
        except _LOST as error:
            raise ClusterError(_failure(error)) from error
        return


def _alone(client: Client, since: float | None, patience: float) -> float | None:
    """Since when the cluster has no workers."""
    if count_threads(client, timeout=patience):
        return None
    if since is not None and monotonic() - since > patience:
        raise ClusterError(_no_workers(client, patience))
    return monotonic() if since is None else since


def _no_workers(client: Client, seconds: float) -> str:
    return (
        f"The cluster at {client.scheduler.address!r} has had no workers for {seconds:g} seconds, and the work is not "
        "done. Start workers with `dask worker`, with more memory or smaller blocks if they were killed, and run it "
        "again."
    )


def failure(error: Exception) -> ClusterError | None:
    """What an error of the cluster itself means; None for one of the work."""
    return (
        ClusterError(_failure(error))
        if isinstance(error, CancelledError | KilledWorker | NoValidWorkerError | OSError)
        else None
    )


def _failure(error: BaseException) -> str:
    if isinstance(error, KilledWorker):
        return (
            "Workers died again and again over the same block of samples, most likely for lack of memory: "
            f"{error}. Cut the samples into smaller blocks (X.rechunk, or smaller files), or give workers more memory."
        )
    return (
        f"The cluster went away, or lost samples that nobody can compute again ({type(error).__name__}: {error}). "
        "Samples that were sent to workers by hand are gone with their worker: load them with Dask instead."
    )
