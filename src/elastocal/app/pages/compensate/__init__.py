"""Blocks of the report on a corrected program."""
