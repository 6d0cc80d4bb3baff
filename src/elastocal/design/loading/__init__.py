"""How a load can be put on a robot in a cell: one file = one way."""
