"""Reports on the topics of an index: one HTML file that opens offline, or an Excel workbook."""

from mixsearch.report._contents import Report, ReportedTopic, make_report
from mixsearch.report._page import make_page
from mixsearch.report._write import ShownReport, show_topics, write_report

__all__ = ["Report", "ReportedTopic", "ShownReport", "make_page", "make_report", "show_topics", "write_report"]
