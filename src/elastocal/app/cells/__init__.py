"""Commands on a cell: what they take from it, what they leave there, and whether that is still true."""
