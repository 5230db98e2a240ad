"""The report: one HTML file that needs nothing but a browser."""

from amiss.output.report.page import refuse_other_rows, write_report
from amiss.output.report.pictures import Picture

__all__ = ["Picture", "refuse_other_rows", "write_report"]
