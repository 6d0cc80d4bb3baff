"""Versions of the tables, run forward by Alembic from whatever version a database has."""
