"""What a cell forbids: one file = one filter of candidates."""
