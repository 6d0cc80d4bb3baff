"""One file = one compliant coordinate."""
