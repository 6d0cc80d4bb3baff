"""One file = one object that a robot touches."""
