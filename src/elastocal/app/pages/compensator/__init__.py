"""Blocks of the report on a compensator."""
