"""Blocks of the report on deflections."""
