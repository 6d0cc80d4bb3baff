"""Calibration by touching: plans of contacts, their repair, virtual contacts, and what a fit of contacts is worth."""
