"""The current Dask cluster: its workers, and waiting for results."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any

import dask
from dask.base import get_scheduler
from distributed import CancelledError, Client, KilledWorker, wait
from distributed.scheduler import NoValidWorkerError

from mixsearch.errors import ClusterError

# Seconds to wait while a cluster has no workers: as long as a worker takes to restart.
WORKER_TIMEOUT = 30.0
_POLL_SECONDS = 1.0
# Components of the version number in which a worker must agree with the client; None for all.
_VERSION_LEVELS = {"mixsearch": None, "numpy": 2, "scipy": 2}
# Errors of the cluster itself, not of the work.
_CLUSTER_ERRORS = (CancelledError, KilledWorker, NoValidWorkerError, OSError)


def current_client() -> Client | None:
    """Return the client of the cluster that Dask works on now."""
    owner = getattr(get_scheduler(), "__self__", None)
    if not isinstance(owner, Client):
        return None
    if owner.scheduler is None:
        raise ClusterError(
            "The connection to the cluster is closed. Connect again, and fit again there.", code="cluster_closed"
        )
    return owner


def check_workers(client: Client, *, timeout: float = WORKER_TIMEOUT) -> None:
    """Check that every worker has compatible versions of Python and of the packages that the work needs."""
    try:
        client.wait_for_workers(1, timeout=timeout)
        found = {"Python": client.run(platform.python_version, on_error="return")}
        found |= {name: client.run(version, name, on_error="return") for name in _VERSION_LEVELS}
    except TimeoutError as error:
        raise _no_workers(client, timeout) from error
    except (*_CLUSTER_ERRORS, AttributeError) as error:  # AttributeError if the client is closed meanwhile
        raise _cluster_failure(error) from error
    own = {"Python": platform.python_version(), **{name: version(name) for name in _VERSION_LEVELS}}
    for name, by_worker in found.items():
        levels = _VERSION_LEVELS.get(name, 2)
        wrong = {worker: other for worker, other in by_worker.items() if not _agree(own[name], other, levels)}
        lost = next((worker for worker, other in wrong.items() if isinstance(other, OSError)), None)
        if lost is not None:
            raise ClusterError(
                "The worker {worker} ended while its versions were checked ({reason}). Read its log, and try again.",
                code="worker_lost",
                worker=lost,
                reason=_describe(wrong[lost]),
            )
        if wrong:
            raise _mismatch(name, own[name], wrong, len(by_worker))


def _agree(one: str, other: Any, levels: int | None) -> bool:
    return isinstance(other, str) and one.split(".")[:levels] == other.split(".")[:levels]


def _mismatch(name: str, own: str, wrong: dict[str, Any], n_workers: int) -> ClusterError:
    worker, other = next(iter(wrong.items()))
    fields = {"n_wrong": len(wrong), "n_workers": n_workers, "package": name, "version": own, "worker": worker}
    is_one = len(wrong) == 1
    subject = "{n_wrong} of {n_workers} workers of the cluster" if n_workers > 1 else "The worker of the cluster"
    if isinstance(other, PackageNotFoundError):
        return ClusterError(
            f"{subject} {'lacks' if is_one else 'lack'} the package {{package}}, for example {{worker}}. Install "
            "{package}=={version} in the environment of the workers, and restart them.",
            code="worker_lacks_package",
            **fields,
        )
    return ClusterError(
        f"{subject} {'has' if is_one else 'have'} another version of {{package}}: {{found}} at {{worker}}, but "
        "{version} here. Use one environment for the client, the scheduler and the workers.",
        code="worker_version",
        found=str(other),
        **fields,
    )


def count_threads(client: Client, *, timeout: float = WORKER_TIMEOUT) -> dict[str, int]:
    """Return the number of threads of every worker."""
    try:
        return dict(client.nthreads(callback_timeout=timeout))
    except (OSError, TimeoutError, AttributeError) as error:  # AttributeError if the client is closed meanwhile
        raise _cluster_failure(error) from error


def wait_for(client: Client, futures: Sequence[Any], on_poll: Callable[[], None] | None = None) -> None:
    """Wait until all futures are done."""
    empty_since: float | None = None
    timeout = float(dask.config.get("mixsearch.worker-timeout", WORKER_TIMEOUT))
    while True:
        try:
            wait(futures, timeout=_POLL_SECONDS)
        except TimeoutError:
            empty_since = _check_not_empty(client, empty_since, timeout)
            if on_poll is not None:
                on_poll()
            continue
        except _CLUSTER_ERRORS as error:
            raise _cluster_failure(error) from error
        return


def _check_not_empty(client: Client, since: float | None, timeout: float) -> float | None:
    """Return the time since when the cluster has no workers; None if it has some."""
    if count_threads(client, timeout=timeout):
        return None
    if since is not None and monotonic() - since > timeout:
        raise _no_workers(client, timeout)
    return monotonic() if since is None else since


def _no_workers(client: Client, seconds: float) -> ClusterError:
    return ClusterError(
        "The cluster at {address!r} has had no workers for {seconds:g} seconds, and the work is not done. Start "
        "workers with `dask worker`, with more memory or smaller blocks if they were killed, and try again.",
        code="no_workers",
        address=client.scheduler.address,
        seconds=seconds,
    )


def explain_failure(error: Exception) -> ClusterError | None:
    """Translate an error of the cluster itself."""
    return _cluster_failure(error) if isinstance(error, _CLUSTER_ERRORS) else None


def _cluster_failure(error: BaseException) -> ClusterError:
    if isinstance(error, KilledWorker):
        return ClusterError(
            "Several workers died while they worked on the same samples, most likely for lack of memory: {reason}. "
            "Use smaller blocks (X.rechunk, or smaller files), or give workers more memory.",
            code="worker_killed",
            reason=str(error),
        )
    return ClusterError(
        "The cluster is gone, or lost samples that cannot be computed again ({reason}). Samples sent with "
        "client.scatter are lost with their worker: load them with Dask instead.",
        code="cluster_lost",
        reason=_describe(error),
    )


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
