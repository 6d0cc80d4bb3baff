"""Blocks of the report on the weight of an arm."""
