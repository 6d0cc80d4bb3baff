"""Criteria of plans, found by walking this folder."""
