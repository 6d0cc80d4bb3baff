"""The report on a plan."""
