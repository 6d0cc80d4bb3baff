"""One file = one controller language."""
