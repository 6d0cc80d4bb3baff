"""What instruments read of a robot, and what is wrong with the readings."""
