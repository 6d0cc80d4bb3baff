"""What instruments read of a robot, and what is wrong with the readings.  One file is one kind of measurement."""
