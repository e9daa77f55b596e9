from .page import Report, make_report

__all__ = ["Report", "make_report"]
