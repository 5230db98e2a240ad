"""The report: one HTML file that needs nothing but a browser."""

from amiss.output.report.page import write_report
from amiss.output.report.pictures import Picture

__all__ = ["Picture", "write_report"]
