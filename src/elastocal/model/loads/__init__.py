"""One file = one load."""
