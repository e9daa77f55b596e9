"""Memory and cores that this process may use: those of the machine, or of its container if that allows less."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

# If the operating system does not report it: what small machines have today.
ASSUMED_BYTES = 4 << 30


# Where Linux says in which control groups a process is, and what these allow.
OWN_GROUPS, GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


def available_memory() -> int:
    """Return the bytes of memory that this process may use."""
    return int(min(_query_system() or ASSUMED_BYTES, *_read_limits("memory", _read_memory_limit), math.inf))


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(bound, read_quota())))


@cache
def read_quota() -> float:
    """Return the cores that control groups allow, read once: a search asks several times, at a millisecond each."""
    return min(_read_limits("cpu", _read_cpu_limit), default=math.inf)


def _read_limits(controller: str, read: Callable[[Path], float]) -> Iterator[float]:
    """Yield the limits of the control group of this process and of those around it; none outside of Linux."""
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, names, path = line.split(":", 2)
        if names and controller not in names.split(","):
            continue
        # Version 2 has one tree without a name, version 1 one for each controller.
        root = GROUPS if not names else GROUPS / controller
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            with suppress(OSError, ValueError):  # no limit, or not shown inside a container
                yield read(folder)
            if folder == root:
                break


def _read_memory_limit(group: Path) -> float:
    for name in ("memory.max", "memory.limit_in_bytes"):
        if (group / name).exists():
            return float((group / name).read_text())  # "max" is no number
    return math.inf


def _read_cpu_limit(group: Path) -> float:
    if (group / "cpu.max").exists():
        quota, period = map(float, (group / "cpu.max").read_text().split())
    else:
        quota, period = (float((group / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
    return quota / period if quota > 0 else math.inf


if sys.platform == "win32":
    import ctypes

    class _MemoryStatus(ctypes.Structure):
        """MEMORYSTATUSEX of the Windows API."""

        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("physical", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 6),
        )

    def _query_system() -> int:
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        found = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.physical) if found else 0

else:

    def _query_system() -> int:
        try:
            size, n_pages = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, ValueError, OSError):
            return 0  # a system without this call, or without one of the names
        return size * n_pages if size > 0 and n_pages > 0 else 0
