"""Calibration files, in and out."""
