"""Blocks of the report on what a plan will tell."""
