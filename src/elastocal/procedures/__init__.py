"""Whole procedures, one folder each, from what was logged to a result: equations, outliers, estimates, verdict."""
