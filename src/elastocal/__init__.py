"""Elastocal: calibration of serial robots that must be accurate under load."""

__version__ = "0.1.0"
