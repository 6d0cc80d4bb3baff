"""Blocks of the report on an identification."""
