"""Blocks of the report on the demonstration."""
