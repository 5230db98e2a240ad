"""What people get to see: ranked lists, summaries in words, the report, plots."""
