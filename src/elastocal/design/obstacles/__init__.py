"""Things that stand in the cell: one file = one shape."""
