"""One file = one step from a version of the tables to the next."""
