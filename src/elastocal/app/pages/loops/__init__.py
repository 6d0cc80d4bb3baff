"""Blocks of the report on force-deflection loops."""
