"""Blocks of the report on arcs of tracked points."""
