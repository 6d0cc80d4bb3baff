"""Blocks of the report on predictions."""
