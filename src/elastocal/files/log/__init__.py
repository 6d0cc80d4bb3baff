"""Logs of controllers."""
