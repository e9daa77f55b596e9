from .contents import Report, make_report
from .write import write_report

__all__ = [
    "Report",
    "make_report",
    "write_report",
]
