"""Blocks of the report on a plan."""
