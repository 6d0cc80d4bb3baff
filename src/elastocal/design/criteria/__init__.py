"""One file = one criterion."""
