"""Batched rigid-body algebra; no robot words here.

Layout: configurations run along the LAST axis, so that every matrix entry is one contiguous vector
(structure of arrays).  Six-vectors are translation first: twist ``[v; w]``, wrench ``[f; m]``.
"""
