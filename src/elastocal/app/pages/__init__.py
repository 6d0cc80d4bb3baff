"""One file per command: its result as a report."""
