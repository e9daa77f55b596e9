"""The physical memory of this machine."""

from __future__ import annotations

import os
import sys

# If the operating system does not report it: what small machines have today.
ASSUMED_BYTES = 4 << 30


def physical_memory() -> int:
    """Return the bytes of physical memory, or 4 GiB if the system does not report them."""
    return _query_system() or ASSUMED_BYTES


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
