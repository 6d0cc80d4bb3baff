"""What a set of measurements can tell apart: rank, groups G1 G2 G3, accuracy to expect."""
