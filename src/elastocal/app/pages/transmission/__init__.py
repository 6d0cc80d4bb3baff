"""Blocks of the report on couplings of motors and joints."""
