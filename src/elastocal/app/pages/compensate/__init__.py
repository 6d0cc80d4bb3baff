"""The report on a compensated program."""
