"""Circular arcs from tracked points: centre, axis and radius with and without known joint angles (000)."""
