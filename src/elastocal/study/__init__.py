"""A campaign from readings to verdict in one call: points against the robot file, slips of tables, starts, doubts."""
